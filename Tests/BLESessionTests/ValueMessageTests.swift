import BLEHost
import BLESession
import BLEWire
import Testing

@Suite("Messages about values")
struct ValueMessageTests {
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

    private static func requests(_ peer: UInt128, _ value: [UInt8]) -> [ClientRequest] {
        let handle = AttributeHandle(wire: 0x1234), peer = PeerIdentifier(rawValue: peer)
        return [AttributeRequest.read(handle), .write(handle, value), .writeCommand(handle, value)].flatMap { request in
            [0, 0x0102_0304].map { .peer(peer, .attribute(request), RequestNumber(rawValue: $0)) }
        }
    }

    private static func events(_ peer: UInt128, _ value: [UInt8]) -> [ClientEvent] {
        let handle = AttributeHandle(wire: 0x1234), peer = PeerIdentifier(rawValue: peer)
        let events = [
            PeerEvent.valueRead(handle, .success(value)), .valueWritten(handle, nil), .valueNotified(handle, value),
        ]
        return events.flatMap { event in
            [0, 0x0102_0304].map { .peer(peer, event, answering: RequestNumber(rawValue: $0)) }
        }
    }

    @Test("A request encodes to the octets of its general message, and decodes from them", arguments: peers, values)
    func requests(peer: UInt128, value: [UInt8]) throws {
        for request in Self.requests(peer, value) {
            let message = try #require(ValueMessage(0xA1B2_C3D4, request)),
                general = AppMessage.request(0xA1B2_C3D4, request)
            #expect(frame { $0.write(message) } == frame { $0.write(general) })
            #expect(ValueMessage(reading: general.encoded.span, isRequest: true) == message)
            #expect(message.request == request && message.event == nil)
        }
    }

    @Test("An event encodes to the octets of its general message, and decodes from them", arguments: peers, values)
    func events(peer: UInt128, value: [UInt8]) throws {
        for event in Self.events(peer, value) {
            let message = try #require(ValueMessage(event)), general = DaemonMessage.event(event)
            #expect(frame { $0.write(message) } == frame { $0.write(general) })
            #expect(ValueMessage(reading: general.encoded.span, isRequest: false) == message)
            #expect(message.event == event && message.request == nil)
        }
    }

    @Test("A truncated or longer message decodes like the general one, or not at all")
    func cut() {
        for request in Self.requests(7, [1, 2, 3]) {
            let octets = AppMessage.request(9, request).encoded
            for cut in (0...octets.count).map({ Array(octets.prefix($0)) })
                + (1...9).map({ octets + [UInt8](repeating: 9, count: $0) })
            {
                let message = ValueMessage(reading: cut.span, isRequest: true)
                if let message {
                    #expect((try? AppMessage(reading: cut.span)) == message.request.map { .request(9, $0) })
                }
            }
        }
        for event in Self.events(7, [1, 2, 3]) {
            let octets = DaemonMessage.event(event).encoded
            for cut in (0...octets.count).map({ Array(octets.prefix($0)) })
                + (1...9).map({ octets + [UInt8](repeating: 9, count: $0) })
            {
                let message = ValueMessage(reading: cut.span, isRequest: false)
                if let message { #expect((try? DaemonMessage(reading: cut.span)) == message.event.map { .event($0) }) }
            }
        }
    }

    @Test("Whatever octets decode, the general messages decode to the same", arguments: 0..<16 as Range<UInt64>)
    func others(seed: UInt64) throws {
        var generator = PacketGenerator(random: SeededGenerator(seed: seed), payloadLimit: 40)
        var dice = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let event: DaemonMessage = generator.next(), request: AppMessage = generator.next()
            for (var octets, isRequest) in [(event.encoded, false), (request.encoded, true)] {
                for isChanged in [false, true] {
                    if isChanged {
                        octets[Int(dice.next() % UInt64(octets.count))] = UInt8(truncatingIfNeeded: dice.next())
                    }
                    guard let message = ValueMessage(reading: octets.span, isRequest: isRequest) else { continue }
                    if isRequest {
                        #expect(
                            try AppMessage(reading: octets.span)
                                == message.request.map { .request(message.message, $0) }
                        )
                    } else {
                        #expect(try DaemonMessage(reading: octets.span) == message.event.map { .event($0) })
                    }
                }
            }
        }
    }
}
