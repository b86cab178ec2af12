import BLERuntime
import CoreBluetooth

/// One end of a channel, that sends so many octets and checks those that come in, as its streams tell it to.
final class BulkEnd: NSObject, StreamDelegate {
    private struct State {
        var sent = 0
        var received = 0
        var isIntact = true
        var hasEnded = false
    }

    let channel: CBL2CAPChannel
    private let length: Int
    private let salt: Int
    private let state = Locked(State())

    var sent: Int { state.withLock { $0.sent } }
    var received: Int { state.withLock { $0.received } }
    /// Whether everything that came in is what the other end sends, in order.
    var isIntact: Bool { state.withLock { $0.isIntact } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Starts at once.
    ///
    /// - Parameters:
    ///   - channel: The channel, which nobody else uses.
    ///   - length: How many octets to send.
    ///   - salt: 0 at one end, 1 at the other, so that they send different octets.
    ///   - loop: Where to be told.
    init(_ channel: CBL2CAPChannel, length: Int, salt: Int, on loop: RunLoop = .main) {
        self.channel = channel
        self.length = length
        self.salt = salt
        super.init()
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: loop, forMode: .default)
            stream.open()
        }
    }

    /// The octet at `index` of what the end with `salt` sends.
    static func octet(_ index: Int, _ salt: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index &* 167 &+ index >> 8) ^ salt)
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasSpaceAvailable: sendOn()
        case .hasBytesAvailable: receive(channel.inputStream.readAll())
        case .endEncountered, .errorOccurred: state.withLock { $0.hasEnded = true }
        default: break
        }
    }

    private func sendOn() {
        let first = sent, last = min(length, first + 4096)
        guard first < last else { return }
        let count = channel.outputStream.write((first..<last).map { Self.octet($0, salt) })
        state.withLock { $0.sent += count }
    }

    private func receive(_ octets: [UInt8]) {
        state.withLock { state in
            for (offset, octet) in octets.enumerated() where octet != Self.octet(state.received + offset, 1 - salt) {
                state.isIntact = false
            }
            state.received += octets.count
        }
    }
}
