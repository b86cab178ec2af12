import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part G, 2.5.2.1.
@Suite("A peer that reports its database as out of sync")
struct OutOfSyncTests {
    static let hash = [UInt8]("08 0100 ffff 2a2b")
    static let noHash = [UInt8]("01 08 0100 0a")
    let handle = AttributeHandle(wire: 5)

    /// A request that is refused, the packets that it takes, and what its app hears when they are answered so.
    struct Errand: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: AttributeRequest
        let exchanges: [(request: String, answer: String)]
        let event: PeerEvent
        /// What the app hears if what it asked about is gone.
        let gone: PeerEvent

        static let handle = AttributeHandle(wire: 5)
        static let long = [UInt8](repeating: 7, count: 21)

        static let all = [
            Self(
                testDescription: "read",
                request: .read(handle),
                exchanges: [("0a0500", "0b 07")],
                event: .valueRead(handle, .success([7])),
                gone: .valueRead(handle, .failure(.notFound))
            ),
            Self(
                testDescription: "write",
                request: .write(handle, [1]),
                exchanges: [("12050001", "13")],
                event: .valueWritten(handle, nil),
                gone: .valueWritten(handle, .notFound)
            ),
            Self(
                testDescription: "write in parts",
                request: .write(handle, long),
                exchanges: [
                    (
                        "1605000000" + String(repeating: "07", count: 18),
                        "17 05000000" + String(repeating: "07", count: 18)
                    ),
                    ("1605001200" + "070707", "17 05001200 070707"), ("1801", "19"),
                ],
                event: .valueWritten(handle, nil),
                gone: .valueWritten(handle, .notFound)
            ),
            Self(
                testDescription: "subscribe",
                request: .subscribe(.notifications, to: handle, in: range(6, 6)),
                exchanges: [("0406000600", "05 01 0600 0229"), ("1206000100", "13")],
                event: .subscriptionChanged(handle, .notifications, nil),
                gone: .subscriptionChanged(handle, .none, .notFound)
            ),
        ]
    }

    /// A link on which an app has found services at 1 to 4 and 5 to 9.
    private func makeLayer() -> LoneLayer {
        var lone = LoneLayer(role: .central)
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 0400 0f18 0500 0900 0a18"))
        _ = lone.answers(to: [UInt8]("01 10 0a00 0a"))
        _ = lone.peerEvents()
        return lone
    }

    /// Answers what the layer sends as long as that is what is expected; the rest is what it sends then.
    private func play(
        _ lone: inout LoneLayer,
        _ packets: [[UInt8]],
        _ exchanges: [(request: String, answer: String)]
    ) -> [[UInt8]] {
        var packets = packets
        for (request, answer) in exchanges {
            #expect(packets.map(\.hexadecimal) == [request])
            packets = lone.answers(to: [UInt8](answer))
        }
        return packets
    }

    /// The last request is refused; of a value in parts, those that the peer has are taken back.
    private func refuse(_ lone: inout LoneLayer, _ packets: [[UInt8]]) -> [[UInt8]] {
        guard let request = packets.first else { return [] }
        let packets = lone.answers(to: [0x01, request[0], request.count > 1 ? request[1] : 0, 0, 0x12])
        return packets == [[0x18, 0]] ? lone.answers(to: [0x19]) : packets
    }

    static let unchanged = [
        ("080100ffff2a2b", "01 08 0100 0a"), ("100100ffff0028", "11 06 0100 0400 0f18 0500 0900 0a18"),
        ("100a00ffff0028", "01 10 0a00 0a"),
    ]

    @Test("A request is repeated if nothing has changed, at whichever step it was refused", arguments: Errand.all)
    func again(errand: Errand) {
        for place in errand.exchanges.indices {
            var lone = makeLayer()
            let asked = play(&lone, lone.perform(errand.request), Array(errand.exchanges[..<place]))
            let hash = refuse(&lone, asked)
            // What an app asks meanwhile waits, so that nothing is about handles of something else.
            #expect(lone.perform(.writeCommand(handle, [9])) == [])
            #expect(lone.perform(.read(.init(wire: 2)), for: LoneLayer.app) == [])
            let rest = play(&lone, hash, Self.unchanged)
            // A configuration that has been found is not looked for again.
            let begin = errand.testDescription == "subscribe" ? place : 0
            var packets = rest, others: [[UInt8]] = []
            for (request, answer) in errand.exchanges[begin...] {
                #expect(packets.first?.hexadecimal == request)
                others += packets.dropFirst()
                packets = lone.answers(to: [UInt8](answer))
            }
            // Write commands follow the last request, but for values in parts.
            #expect(others + packets == [[UInt8]("52 0500 09"), [UInt8]("0a 0200")])
            #expect(lone.peerEvents() == [errand.event])
        }
    }

    @Test("A request about a removed service fails before the app learns of the removal", arguments: Errand.all)
    func gone(errand: Errand) {
        for place in errand.exchanges.indices {
            var lone = makeLayer()
            let packets = play(&lone, lone.perform(errand.request), Array(errand.exchanges[..<place]))
            let rest = play(
                &lone,
                refuse(&lone, packets),
                [
                    ("080100ffff2a2b", "01 08 0100 0a"), ("100100ffff0028", "11 06 0100 0400 0f18 0500 0900 0b18"),
                    ("100a00ffff0028", "01 10 0a00 0a"),
                ]
            )
            #expect(rest == [])
            #expect(lone.peerEvents() == [errand.gone, .servicesModified(range(5, 9))])
        }
    }

    @Test(
        "If another service changed, the app learns of the change first, and then the request is repeated",
        arguments: Errand.all
    )
    func elsewhere(errand: Errand) {
        var lone = makeLayer()
        let rest = play(
            &lone,
            refuse(&lone, lone.perform(errand.request)),
            [
                ("080100ffff2a2b", "01 08 0100 0a"), ("100100ffff0028", "11 06 0100 0300 0f18 0500 0900 0a18"),
                ("100a00ffff0028", "01 10 0a00 0a"),
            ]
        )
        #expect(play(&lone, rest, errand.exchanges) == [])
        #expect(lone.peerEvents() == [.servicesModified(range(1, 4)), errand.event])
    }

    @Test("A request refused twice is not sent a third time, and all services become invalid", arguments: Errand.all)
    func twice(errand: Errand) {
        var lone = makeLayer()
        let rest = play(&lone, refuse(&lone, lone.perform(errand.request)), Self.unchanged)
        #expect(refuse(&lone, rest) == [])
        let events = lone.peerEvents()
        #expect(events.contains(errand.gone) && events.contains(.servicesModified(.all)) && events.count == 2)
    }

    @Test("If the hash was known, reading it again is enough")
    func hashKnown() {
        var pair = BondedPair()
        for _ in 0..<2 {
            pair.connect()
            pair.walk()
            pair.rest()
            pair.disconnect()
        }
        pair.connect()
        pair.walk()
        var lone = pair.pair.central
        let link = AttributePair.link, now = pair.pair.now
        func exchange(_ answer: String) -> [String] {
            let pdu = [UInt8](answer)
            lone.layer.receive(pdu.span, on: link, at: now)
            lone.drain(at: now)
            defer { lone.sent = [] }
            return lone.sent.map(\.hexadecimal)
        }
        lone.layer.perform(.read(BondedPair.Server.value(of: 1)), on: link, for: Requester(AttributePair.app), at: now)
        lone.drain(at: now)
        lone.sent = []
        #expect(exchange("01 0a 2200 12") == ["080100ffff2a2b"])
        #expect(exchange("09 12 0800" + String(repeating: "01", count: 16)) == ["0a2200"])
        #expect(exchange("0b 07") == [])
        #expect(lone.events.last?.event.peerEvent == .valueRead(BondedPair.Server.value(of: 1), .success([7])))
    }

    @Test("All services become invalid if finding out what changed would take too long")
    func tooMuch() {
        var lone = LoneLayer(role: .central)
        func service(_ start: UInt16) -> [UInt8] {
            [0x11, 6] + (start..<start + 3).flatMap { $0.littleEndianOctets + $0.littleEndianOctets + [0x0F, 0x18] }
        }
        func answer(_ request: [UInt8]) -> [UInt8] {
            let start = UInt16(request[1]) | UInt16(request[2]) << 8
            return start < 100 && request[0] == 0x10 ? service(start) : [0x01, request[0], 0, 0, 0x0A]
        }
        var packets = lone.perform(.discoverServices(only: []))
        while let packet = packets.first { packets = lone.answers(to: answer(packet)) }
        _ = lone.peerEvents()
        packets = refuse(&lone, lone.perform(.read(handle)))
        var count = 0
        while let packet = packets.first, count < 100 {
            count += 1
            packets = lone.answers(to: answer(packet))
        }
        #expect(count == 1 + DatabaseRecovery.mostRequests)
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.notFound)), .servicesModified(.all)])
    }

    /// A link on which the peer has been asked to tell of changes; the GATT service lies at 1 to 4.
    private func makeWatched() -> LoneLayer {
        var lone = LoneLayer(role: .central, mtu: 64)
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 0400 0118 0500 ffff 0f18"))
        var packets = lone.advance(by: .milliseconds(250)), isWatched = false
        while let request = packets.first {
            let answer: [UInt8] =
                switch request.first {
                case 0x10: [UInt8]("11 06 0100 0400 0118 0500 ffff 0f18")
                case 0x08 where request.last == 0x28: [UInt8]("09 07 0200 20 0300 052a")
                case 0x04: [UInt8]("05 01 0400 0229")
                case 0x12: [0x13]
                default: [0x01, request[0], 0, 0, 0x0A]
                }
            if request == [UInt8]("12 0400 0200") { isWatched = true }
            packets = lone.answers(to: answer)
        }
        #expect(isWatched)
        _ = lone.peerEvents()
        return lone
    }

    @Test("A change indicated before the request is refused is reported once")
    func told() {
        var lone = makeWatched()
        _ = lone.perform(.read(handle))
        #expect(lone.answers(to: [UInt8]("1d 0300 0500 0800")) == [[0x1E]])
        #expect(lone.answers(to: [UInt8]("01 0a 0500 12")) == [Self.hash])
        #expect(lone.peerEvents() == [.servicesModified(range(5, 8)), .valueRead(handle, .failure(.notFound))])
        #expect(lone.answers(to: Self.noHash) == [])
    }

    @Test("If another change was indicated before the refusal, the request is repeated without further checks")
    func toldOfAnother() {
        var lone = makeWatched()
        _ = lone.perform(.read(handle))
        _ = lone.answers(to: [UInt8]("1d 0300 0600 0800"))
        #expect(lone.peerEvents() == [.servicesModified(range(6, 8))])
        #expect(lone.answers(to: [UInt8]("01 0a 0500 12")) == [Self.hash])
        #expect(lone.answers(to: Self.noHash) == [[UInt8]("0a 0500")])
        _ = lone.answers(to: [UInt8]("0b 07"))
        #expect(lone.peerEvents() == [.valueRead(handle, .success([7]))])
    }

    @Test("Changes are also received between the refusal and the next discovery of Service Changed")
    func toldLater() {
        var lone = makeWatched()
        _ = lone.perform(.read(handle))
        for answer in ["01 0a 0500 12", "01 08 0100 0a", "01 10 0100 12"] { _ = lone.answers(to: [UInt8](answer)) }
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.notFound)), .servicesModified(.all)])
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 0400 0118 0500 ffff 0f18"))
        _ = lone.peerEvents()
        #expect(lone.answers(to: [UInt8]("1d 0300 0500 0800")).first == [0x1E])
        #expect(lone.peerEvents() == [.servicesModified(range(5, 8))])
    }

    @Test("Discovery of services restarts, but not indefinitely")
    func looking() {
        var lone = LoneLayer(role: .central, mtu: 64)
        var requests = lone.perform(.discoverServices(only: [])), count = 0
        while let request = requests.first, count < 100 {
            count += 1
            requests = lone.answers(to: [0x01, request[0], 1, 0, 0x12])
        }
        #expect(count < 20)
        #expect(lone.peerEvents().last == .servicesDiscovered(.failure(.att(.databaseOutOfSync))))
    }

    @Test("The host stops asking a peer that always responds out of sync")
    func forever() {
        var lone = LoneLayer(role: .central, mtu: 64), count = 0
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 ffff 0118"))
        var requests = lone.advance(by: .seconds(3))
        while let request = requests.first, count < 1000 {
            count += 1
            requests = lone.answers(to: [0x01, request[0], 0, 0, 0x12]) + lone.advance(by: .seconds(3))
        }
        #expect(count < 50)
        #expect(lone.layer.deadline == nil)
    }
}
