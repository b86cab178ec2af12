import CoreBluetooth

/// One end of a channel, which sends a number of octets and checks the received ones.
@MainActor
final class TransferEnd: NSObject {
    private let length: Int
    private let salt: Int
    private var channel: CBL2CAPChannel?
    private var reads = false
    private var piece = [UInt8](repeating: 0, count: 1 << 14)
    private(set) var sent = 0
    private(set) var received = 0
    /// True if all received octets are those that the other end sends, in order.
    private(set) var isIntact = true

    var isOpen: Bool { channel != nil }
    /// The device at the other end; `nil` if the channel is not open, or the other end is a central.
    var peripheral: CBPeripheral? { channel?.peer as? CBPeripheral }
    var isDone: Bool { sent == length && received == length }

    /// Creates an end that sends `length` octets, and that is done when it has received as many.
    ///
    /// One end has the salt 0, the other has 1, so that they send different octets.
    init(sending length: Int, salt: Int) {
        self.length = length
        self.salt = salt
    }

    /// Opens the streams of `channel`, and starts sending.
    func use(_ channel: CBL2CAPChannel) {
        self.channel = channel
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    /// Starts reading: the octets that have arrived, and all later ones.
    func startReading() {
        reads = true
        readOn()
    }

    private func readOn() {
        guard reads, let input = channel?.inputStream else { return }
        while input.hasBytesAvailable {
            let count = input.read(&piece, maxLength: piece.count)
            guard count > 0 else { return }
            for offset in 0..<count where piece[offset] != Self.octet(received + offset, 1 - salt) { isIntact = false }
            received += count
        }
    }

    private func writeOn() {
        guard let output = channel?.outputStream else { return }
        while output.hasSpaceAvailable, sent < length {
            let octets = (sent..<min(length, sent + 1 << 14)).map { Self.octet($0, salt) }
            let count = output.write(octets, maxLength: octets.count)
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Returns the octet at `index` that the end with `salt` sends.
    ///
    /// The sequence does not repeat after a power of two.
    private static func octet(_ index: Int, _ salt: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index &* 167 &+ index >> 8 &+ index >> 16) ^ salt)
    }
}

extension TransferEnd: @MainActor StreamDelegate {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: readOn()
        case .hasSpaceAvailable: writeOn()
        default: break
        }
    }
}
