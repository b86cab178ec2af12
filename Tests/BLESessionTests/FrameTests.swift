import BLEHost
import BLESession
import BLEWire
import Testing

@Suite("Message framing")
struct FrameTests {
    private static let messages: [DaemonMessage] = [
        .welcome(Welcome(version: 1, window: 256)), .taken(3), .event(.stateChanged(.poweredOn)),
        .event(.peer(PeerIdentifier(rawValue: 9), .valueNotified(AttributeHandle(wire: 3), longValue))),
    ]
    private static let longValue = [UInt8](repeating: 7, count: 600)

    private static var stream: [UInt8] {
        var writer = FrameWriter(), stream: [UInt8] = []
        for message in messages {
            let isWritten = writer.write(message)
            #expect(isWritten)
        }
        writer.take { stream = [UInt8](copying: $0) }
        #expect(writer.count == 0)
        return stream
    }

    @Test("Messages come out as they went in, however the stream is split", arguments: [1, 2, 3, 4, 5, 7, 64, 10_000])
    func pieces(size: Int) throws {
        var reader = FrameReader(), read: [DaemonMessage] = []
        let stream = Self.stream
        for start in stride(from: 0, to: stream.count, by: size) {
            let piece = Array(stream[start..<min(start + size, stream.count)])
            try reader.receive(piece.span) { message in
                if let message = try? DaemonMessage(reading: message) { read.append(message) }
            }
        }
        #expect(read == Self.messages)
    }

    @Test("An excessive length is refused before any memory is reserved")
    func overlong() throws {
        var reader = FrameReader()
        let octets: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        #expect(throws: FrameReader.Overlong(octets: 0xFFFF_FFFF)) { try reader.receive(octets.span) { _ in } }
        let most: [UInt8] = [0, 0, 0x10, 0]
        var other = FrameReader()
        try other.receive(most.span) { _ in }
    }

    @Test("A message that exceeds the receiver's limit is not written")
    func unwritable() {
        var writer = FrameWriter()
        let value = [UInt8](repeating: 0, count: FrameReader.mostOctets)
        let isWritten = writer.write(AppMessage.request(1, .channel(ChannelID(rawValue: 1), .send(value))))
        #expect(!isWritten && writer.count == 0)
        let isShortWritten = writer.write(AppMessage.close)
        #expect(isShortWritten)
    }
}
