import BLEHost
import BLESession
import BLEWire
import Testing

@Suite("Notified values as messages")
struct NotifiedValueTests {
    private static let values: [[UInt8]] = [
        [], [1], [UInt8](repeating: 0xA5, count: 20), [UInt8](repeating: 3, count: 512),
    ]
    private static let peers = [UInt128.min, 1, 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10, .max]

    private func frame(_ write: (inout FrameWriter) -> Bool) -> [UInt8] {
        var writer = FrameWriter(), octets: [UInt8] = []
        let isWritten = write(&writer)
        #expect(isWritten)
        writer.take { octets = [UInt8](copying: $0) }
        return octets
    }

    @Test("A notified value encodes to the octets of its event, and decodes from them", arguments: peers, values)
    func same(peer: UInt128, value: [UInt8]) throws {
        let told = NotifiedValue(
            peer: PeerIdentifier(rawValue: peer),
            handle: AttributeHandle(wire: 0x1234),
            value: value
        )
        let message = DaemonMessage.event(.peer(told.peer, .valueNotified(told.handle, value)))
        #expect(frame { $0.write(told) } == frame { $0.write(message) })
        #expect(NotifiedValue(reading: message.encoded.span) == told)
        // Octets behind the last field are of a newer version.
        #expect(NotifiedValue(reading: (message.encoded + [9, 9]).span) == told)
    }

    @Test("A truncated message does not decode", arguments: 0..<28)
    func cut(count: Int) {
        let event = ClientEvent.peer(PeerIdentifier(rawValue: 7), .valueNotified(AttributeHandle(wire: 3), [1, 2, 3]))
        let octets = Array(DaemonMessage.event(event).encoded.prefix(count))
        #expect(NotifiedValue(reading: octets.span) == nil)
        #expect(throws: PacketError.self) { try DaemonMessage(reading: octets.span) }
    }

    @Test("A notified value decodes only from messages that contain one", arguments: 0..<16 as Range<UInt64>)
    func others(seed: UInt64) throws {
        var generator = PacketGenerator(random: SeededGenerator(seed: seed), payloadLimit: 40)
        for _ in 0..<400 {
            let message: DaemonMessage = generator.next()
            let told = NotifiedValue(reading: message.encoded.span)
            if case .event(.peer(let peer, .valueNotified(let handle, let value), _)) = message {
                #expect(told == NotifiedValue(peer: peer, handle: handle, value: value))
            } else {
                #expect(told == nil)
            }
        }
    }
}
