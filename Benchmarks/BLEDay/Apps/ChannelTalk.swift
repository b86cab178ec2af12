import CoreBluetooth

/// One end of an L2CAP channel, which sends octets that the other end can check.
final class ChannelTalk {
    private let channel: CBL2CAPChannel
    private var sent: UInt8 = 0
    private var received: UInt8 = 0

    init(_ channel: CBL2CAPChannel) {
        self.channel = channel
        channel.inputStream.open()
        channel.outputStream.open()
    }

    /// True if the channel is still open.
    var isOpen: Bool { channel.inputStream.streamStatus == .open && channel.outputStream.streamStatus == .open }

    /// Sends up to `count` octets, as many as the stream accepts.
    func send(_ count: Int) {
        guard channel.outputStream.hasSpaceAvailable else { return }
        let octets = (0..<count).map { sent &+ UInt8(truncatingIfNeeded: $0) }
        let taken = channel.outputStream.write(octets, maxLength: octets.count)
        sent &+= UInt8(truncatingIfNeeded: max(0, taken))
    }

    /// Reads and checks all octets that have arrived.
    ///
    /// - Returns: A complaint if an octet is wrong; otherwise `nil`.
    func receive() -> String? {
        var buffer: [UInt8] = Array(repeating: 0, count: 512)
        while channel.inputStream.hasBytesAvailable {
            let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return nil }
            for octet in buffer.prefix(count) {
                if octet != received { return "the octet \(octet) instead of \(received) from a channel" }
                received &+= 1
            }
        }
        return nil
    }
}
