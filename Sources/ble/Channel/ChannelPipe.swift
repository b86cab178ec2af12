import CoreBluetooth
import CoreBluetoothExtras

/// A connection between an L2CAP channel and its user, with flow control in both directions.
@MainActor
final class ChannelPipe: NSObject {
    /// An event that a pipe reports to its owner.
    enum Event {
        case received(Data)
        /// The channel has ended. The error is `nil` if this side or the peer closed the channel.
        case ended((any Error)?)
    }

    let channel: CBL2CAPChannel
    /// The number of octets that the channel has accepted.
    private var accepted = 0
    /// The number of octets that have been sent to the peer.
    var sent: Int { accepted - channel.unsentOctets }
    /// True if the channel has accepted everything that was to be sent.
    var hasSentAll: Bool { unsent.isEmpty }
    /// The number of octets that are still to be sent.
    var pending: Int { unsent.count + channel.unsentOctets }
    /// The number of octets that have been received from the peer.
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
    ///   - channel: The channel. Nothing else may use it.
    ///   - echoes: True to send received octets back instead of reporting them.
    ///   - report: Called with each event, except with received octets that are sent back.
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

    /// Sends `data`; returns when the channel has accepted all of it or has ended.
    func send(_ data: Data) async {
        unsent += data
        writeMore()
        while !unsent.isEmpty, !isOver { await withCheckedContinuation { waiting = $0 } }
    }

    /// Closes the channel immediately.
    ///
    /// The host still tries to send the octets that it has accepted.
    func close() { end(nil) }

    private func writeMore() {
        while !unsent.isEmpty, !isOver, channel.outputStream.hasSpaceAvailable {
            let count = unsent.withUnsafeBytes { octets in
                octets.baseAddress.map {
                    channel.outputStream.write($0.assumingMemoryBound(to: UInt8.self), maxLength: octets.count)
                } ?? 0
            }
            guard count > 0 else { break }
            accepted += count
            unsent = count == unsent.count ? Data() : unsent.dropFirst(count)
        }
        guard unsent.isEmpty else { return }
        waiting?.resume()
        waiting = nil
    }

    private func readMore() {
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
            writeMore()
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
        case .hasBytesAvailable: readMore()
        case .hasSpaceAvailable:
            writeMore()
            readMore()
        case .errorOccurred, .endEncountered:
            // Octets that arrived before the end are read first. The input stream has an event of its own when it is
            // exhausted.
            readMore()
            if aStream === channel.inputStream || !channel.inputStream.hasBytesAvailable { end(aStream.streamError) }
        default: break
        }
    }
}
