import BLERuntime
import Testing

@Suite("H4 framer")
struct H4FramerTests {
    static let event: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    static let emptyEvent: [UInt8] = [0x04, 0x10, 0x00]
    static let data: [UInt8] = [0x02, 0x40, 0x20, 0x05, 0x00, 1, 2, 3, 4, 5]
    static let longData: [UInt8] = [0x02, 0x40, 0x20, 0x2C, 0x01] + [UInt8](repeating: 7, count: 300)
    static let synchronous: [UInt8] = [0x03, 0x41, 0x00, 0x02, 8, 9]
    static let isochronous: [UInt8] = [0x05, 0x42, 0x00, 0x03, 0x40, 1, 2, 3]
    static let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]

    static let packets = [event, emptyEvent, data, longData, synchronous, isochronous, event]

    /// Feeds `chunks` to a framer and returns what it made of them.
    static func frame(_ chunks: [[UInt8]], from sender: H4Framer.Sender = .controller) -> (
        packets: [[UInt8]], error: TransportError?
    ) {
        var framer = H4Framer(from: sender), packets: [[UInt8]] = []
        for chunk in chunks {
            do throws(TransportError) {
                try framer.receive(chunk.span) { packet in packets.append(packet.withUnsafeBufferPointer { Array($0) })
                }
            } catch {
                return (packets, error)
            }
        }
        return (packets, nil)
    }

    @Test("Packets come out whole, however the stream is split", arguments: [1, 2, 3, 4, 5, 7, 64, 10_000])
    func cut(size: Int) {
        let stream = Self.packets.flatMap { $0 }
        let chunks = stride(from: 0, to: stream.count, by: size).map {
            Array(stream[$0..<min($0 + size, stream.count)])
        }
        let result = Self.frame(chunks)
        #expect(result.packets == Self.packets)
        #expect(result.error == nil)
    }

    @Test("A stream split in two at any octet gives the same packets")
    func cutAnywhere() {
        let stream = Self.packets.flatMap { $0 }
        for index in stream.indices {
            #expect(Self.frame([Array(stream[..<index]), Array(stream[index...])]).packets == Self.packets)
        }
    }

    @Test("An incomplete packet is held back")
    func incomplete() {
        for count in 1..<Self.data.count {
            #expect(Self.frame([Array(Self.data[..<count])]).packets.isEmpty)
        }
    }

    @Test(
        "Octets that begin no packet are refused after the packets before them",
        arguments: [0x00, 0x01, 0x06, 0x7F, 0xFF] as [UInt8]
    )
    func garbage(indicator: UInt8) {
        let result = Self.frame([Self.event + [indicator] + Self.event])
        #expect(result.packets == [Self.event])
        #expect(result.error?.code == .garbage)
    }

    @Test("A host may send commands, but not events")
    func host() {
        #expect(Self.frame([Self.command + Self.data], from: .host).packets == [Self.command, Self.data])
        #expect(Self.frame([Self.event], from: .host).error?.code == .garbage)
    }

    @Test("The longest packet is taken and a longer one is refused before it has arrived")
    func tooLong() {
        let most = H4Framer.longestPacket - 5
        let header: (Int) -> [UInt8] = { [0x02, 0x40, 0x00, UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let packet = header(most) + [UInt8](repeating: 1, count: most)
        #expect(Self.frame([packet]).packets == [packet])
        #expect(Self.frame([header(most + 1)]).error?.code == .garbage)
    }

    @Test("A reset discards a partial packet")
    func reset() throws {
        var framer = H4Framer(from: .controller), packets: [[UInt8]] = []
        try framer.receive(Array(Self.data[..<6]).span) { _ in }
        framer.reset()
        try framer.receive(Self.event.span) { packet in packets.append(packet.withUnsafeBufferPointer { Array($0) }) }
        #expect(packets == [Self.event])
    }
}
