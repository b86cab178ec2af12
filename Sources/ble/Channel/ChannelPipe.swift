import CoreBluetooth
import CoreBluetoothExtras

/// Carries octets between a channel and whoever gives and takes them, and no faster than both sides go.
@MainActor
final class ChannelPipe: NSObject {
    /// What a pipe tells of.
    enum Event {
        case received(Data)
        /// Nothing more will be sent or received: `nil` if one of the ends closed the channel.
        case ended((any Error)?)
    }

    let channel: CBL2CAPChannel
    /// How many octets were handed to the channel.
    private var handed = 0
    /// How many octets have gone out.
    var sent: Int { handed - channel.unsentOctets }
    /// Whether the channel has taken all that was to be sent.
    var hasHandedOverAll: Bool { unsent.isEmpty }
    /// How many octets were to be sent and have not gone out.
    var pending: Int { unsent.count + channel.unsentOctets }
    /// How many octets came out of it.
    private(set) var received = 0

    private let echoes: Bool
    private let report: (Event) -> Void
    private var unsent = Data()
    private var waiting: CheckedContinuation<Void, Never>?
    private var isOver = false
    private var piece = [UInt8](repeating: 0, count: 1 << 14)

    /// Opens both streams of a channel.
    ///
    /// - Parameters:
    ///   - channel: The channel, which nobody else uses.
    ///   - echoes: Whether to send back what comes in, instead of telling of it.
    ///   - report: Hears of everything else.
    init(_ channel: CBL2CAPChannel, echoes: Bool, report: @escaping (Event) -> Void) {
        self.channel = channel
        self.echoes = echoes
        self.report = report
        super.init()
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    /// Sends `data`, and returns when the channel has taken all of it or is no more.
    func send(_ data: Data) async {
        unsent += data
        writeOn()
        while !unsent.isEmpty, !isOver { await withCheckedContinuation { waiting = $0 } }
    }

    /// Closes the channel at once; the host still sends what has been handed to it, if it can.
    func close() { end(nil) }

    private func writeOn() {
        while !unsent.isEmpty, !isOver, channel.outputStream.hasSpaceAvailable {
            let count = unsent.withUnsafeBytes { octets in
                octets.baseAddress.map {
                    channel.outputStream.write($0.assumingMemoryBound(to: UInt8.self), maxLength: octets.count)
                } ?? 0
            }
            guard count > 0 else { break }
            handed += count
            unsent = count == unsent.count ? Data() : unsent.dropFirst(count)
        }
        guard unsent.isEmpty else { return }
        waiting?.resume()
        waiting = nil
    }

    private func readOn() {
        while !isOver, unsent.isEmpty || !echoes, channel.inputStream.hasBytesAvailable {
            let count = channel.inputStream.read(&piece, maxLength: piece.count)
            guard count > 0 else { return }
            received += count
            let data = Data(piece[..<count])
            guard echoes else {
                report(.received(data))
                continue
            }
            unsent += data
            writeOn()
        }
    }

    private func end(_ error: (any Error)?) {
        guard !isOver else { return }
        isOver = true
        channel.inputStream.close()
        channel.outputStream.close()
        waiting?.resume()
        waiting = nil
        report(.ended(error))
    }
}

extension ChannelPipe: @MainActor StreamDelegate {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: readOn()
        case .hasSpaceAvailable:
            writeOn()
            readOn()
        case .errorOccurred, .endEncountered:
            // What came before is read first: the input stream says so itself when there is nothing more.
            readOn()
            if aStream === channel.inputStream || !channel.inputStream.hasBytesAvailable { end(aStream.streamError) }
        default: break
        }
    }
}
