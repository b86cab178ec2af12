import BLEHost
import BLEWire
import Testing

@Suite("A server that lies")
struct LiarTests {
    /// A lie, and what the client makes of it.
    struct Lie: Sendable, CustomTestStringConvertible {
        let request: AttributeRequest
        /// The answers, one for each request of the client; behind the last, nothing is found any more.
        let answers: [String]
        let events: [PeerEvent]
        var testDescription: String { "\(answers)" }

        init(_ request: AttributeRequest, _ answers: [String], _ events: [PeerEvent]) {
            self.request = request
            self.answers = answers
            self.events = events
        }
    }

    static let all = AttributeRequest.discoverServices(only: [])
    static let one = AttributeRequest.discoverServices(only: [.short(0x180F)])
    static let inside = AttributeRequest.discoverCharacteristics(in: range(0x10, 0x20), only: [])
    static let behind = AttributeRequest.discoverDescriptors(of: .init(wire: 0x10), in: range(0x11, 0x15))
    static let included = AttributeRequest.discoverIncludedServices(in: range(0x10, 0x20), only: [])
    static let value = AttributeHandle(wire: 0x10)
    static let contradiction = Failure.invalidResponse

    static func characteristic(_ declaration: UInt16, _ end: UInt16) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            uuid: .short(0x2A00),
            properties: 2,
            declaration: .init(wire: declaration),
            value: .init(wire: declaration + 1),
            end: .init(wire: end)
        )
    }

    static func found(_ characteristics: DiscoveredCharacteristic...) -> [PeerEvent] {
        [.characteristicsDiscovered(in: range(0x10, 0x20), .success(characteristics))]
    }

    static func found(_ services: AttributeHandleRange...) -> [PeerEvent] {
        let services = services.map { DiscoveredService(uuid: .short(0x1800), range: $0, isPrimary: true) }
        return [.servicesDiscovered(.success(services))]
    }

    static let services: [Lie] =
        ["11 06 0500 0100 0018", "11 06 0000 0100 0018", "11 05 0100 0500 00"]
        .map { Lie(all, [$0], [.servicesDiscovered(.failure(contradiction))]) }
        + [
            // One that is not behind the one before is passed over.
            Lie(all, ["11 06 0600 0900 0018 0100 0500 0018"], found(range(6, 9))),
            Lie(all, ["11 06 0100 0500 0018 0100 0500 0018"], found(range(1, 5))),
            Lie(all, ["11 06 0900 0600 0018 0a00 0b00 0018"], found(range(10, 11))),
            // One that reaches beyond the beginning of the next ends there.
            Lie(all, ["11 06 0100 0500 0018 0500 0900 0018"], found(range(1, 4), range(5, 9))),
            Lie(all, ["11 06 0100 0900 0018 0200 0300 0018"], found(range(1, 1), range(2, 3))),
            Lie(all, ["11 06 0100 ffff 0018 0200 0300 0018"], found(range(1, 1), range(2, 3))),
            // A group that goes on behind the next, and one that was listed before.
            Lie(all, ["11 06 0100 0500 0018", "11 06 0300 0900 0018"], [.servicesDiscovered(.failure(contradiction))]),
            Lie(one, ["07 0600 0500"], [.servicesDiscovered(.failure(contradiction))]),
            Lie(one, ["07 0600 0900", "07 0600 0900"], [.servicesDiscovered(.failure(contradiction))]),
            // A refusal of something else is taken for a refusal, since one request is under way.
            Lie(all, ["01 10 3412 05"], [.servicesDiscovered(.failure(.att(.insufficientAuthentication)))]),
            Lie(all, ["11 06 0100"], [.servicesDiscovered(.failure(contradiction))]),
        ]

    static let characteristics: [Lie] =
        [
            "09 07 0f00 02 1200 002a", "09 07 1100 02 1100 002a", "09 07 1100 02 1000 002a", "09 07 1100 02 0000 002a",
            "09 06 1100 02 1200 00", "09 04 1100 02 12",
        ].flatMap { lie in
            // What looks further than the service is asked for again without that.
            [
                Lie(inside, [lie, lie], [.characteristicsDiscovered(in: range(0x10, 0x20), .failure(contradiction))]),
                Lie(inside, [lie], [.characteristicsDiscovered(in: range(0x10, 0x20), .success([]))]),
            ]
        }
        + [
            // One that is not behind the one before, or whose value is not before the next, is passed over.
            Lie(inside, ["09 07 1300 02 1400 002a 1100 02 1200 002a"], found(characteristic(0x13, 0x20))),
            Lie(inside, ["09 07 1100 02 1200 002a 1100 02 1200 002a"], found(characteristic(0x11, 0x20))),
            Lie(inside, ["09 07 1100 02 1500 002a 1300 02 1400 002a"], found(characteristic(0x13, 0x20))),
            Lie(inside, ["09 07 1100 02 0900 002a 1300 02 1400 002a"], found(characteristic(0x13, 0x20))),
            Lie(inside, ["09 07 1100 02 2100 002a"], [.characteristicsDiscovered(in: range(0x10, 0x20), .success([]))]),
            // What lies behind the service spoils nothing in it.
            Lie(
                inside,
                ["09 07 1100 02 1200 002a 1f00 02 2000 002a 2100 02 0100 002a"],
                [
                    .characteristicsDiscovered(
                        in: range(0x10, 0x20),
                        .success([characteristic(0x11, 0x1E), characteristic(0x1F, 0x20)])
                    )
                ]
            ),
            // A server that refuses to look that far is asked for less.
            Lie(
                inside,
                ["01 08 1100 05", "09 07 1100 02 1200 002a"],
                [.characteristicsDiscovered(in: range(0x10, 0x20), .success([characteristic(0x11, 0x20)]))]
            ),
            Lie(
                inside,
                ["01 08 1100 05", "01 08 1100 05"],
                [.characteristicsDiscovered(in: range(0x10, 0x20), .failure(.att(.insufficientAuthentication)))]
            ),
        ]

    static let others: [Lie] =
        ["05 01 1000 0229", "05 01 0000 0229", "05 03 1100"]
        .flatMap { lie in
            [
                Lie(behind, [lie, lie], [.descriptorsDiscovered(of: value, .failure(contradiction))]),
                Lie(behind, [lie], [.descriptorsDiscovered(of: value, .success([]))]),
            ]
        }
        + ["05 01 1200 0229 1200 0129", "05 01 1200 0229 1100 0129", "05 01 1000 0029 1200 0229"].map { list in
            let descriptor = DiscoveredDescriptor(uuid: .short(0x2902), handle: .init(wire: 0x12))
            return Lie(behind, [list], [.descriptorsDiscovered(of: value, .success([descriptor]))])
        }
        + [
            "09 07 1100 0100 0300 0f", "09 06 1100 0300 0100", "09 06 1100 0000 0100", "09 08 0f00 0100 0300 0f18",
        ].flatMap { lie in
            [
                Lie(
                    included,
                    [lie, lie],
                    [.includedServicesDiscovered(in: range(0x10, 0x20), .failure(contradiction))]
                ), Lie(included, [lie], [.includedServicesDiscovered(in: range(0x10, 0x20), .success([]))]),
            ]
        }
        + [
            // One that is not behind the one before, or takes no handles, is passed over.
            ["09 08 1200 0100 0300 0f18 1100 0400 0600 0f18"], ["09 08 1100 0600 0400 0f18 1200 0100 0300 0f18"],
            // So is one that does not tell of which type it is.
            ["09 06 1100 0400 0600", "09 08 1200 0100 0300 0f18", "01 08 1300 0a", "0b 00"],
            ["09 06 1100 0400 0600", "09 08 1200 0100 0300 0f18", "01 08 1300 0a", "01 0a 0400 02"],
        ].map { answers in
            let service = DiscoveredService(uuid: .short(0x180F), range: range(1, 3), isPrimary: false)
            return Lie(included, answers, [.includedServicesDiscovered(in: range(0x10, 0x20), .success([service]))])
        }
        + [
            // A value that shrinks while it is read is as long as it is then.
            Lie(
                .read(value),
                ["0b" + String(repeating: "01", count: 22), "01 0c 1000 07"],
                [.valueRead(value, .success([UInt8](repeating: 1, count: 22)))]
            ),
            Lie(.write(value, [1]), ["01 12 9999 03"], [.valueWritten(value, .att(.writeNotPermitted))]),
            Lie(
                .write(value, [UInt8](repeating: 1, count: 21)),
                ["171000000002", "19"],
                [.valueWritten(value, contradiction)]
            ),
        ]

    @Test("A lie is detected, and costs at most one request", arguments: services + characteristics + others)
    func table(lie: Lie) throws {
        var lone = LoneLayer(role: .central)
        var answers = lie.answers[...], requests = lone.perform(lie.request)
        while let request = requests.last {
            requests = lone.answers(to: answers.popFirst().map { [UInt8]($0) } ?? [0x01, request[0], 0, 0, 0x0A])
        }
        #expect(answers.isEmpty)
        #expect(lone.peerEvents().filter { LinkDownTests.key($0) != nil } == lie.events)
        // The next one is honest.
        _ = lone.perform(.read(.init(wire: 7)))
        _ = lone.answers(to: [0x0B, 5])
        #expect(lone.peerEvents() == [.valueRead(.init(wire: 7), .success([5]))])
    }

    /// Two services, one in the range of the other, as a peer has them that counts handles before it is done.
    static let nested = [
        DiscoveredService(uuid: .short(0x1853), range: range(0x0E, 0x0E), isPrimary: true),
        DiscoveredService(uuid: .short(0x1846), range: range(0x0F, 0x1B), isPrimary: true),
    ]

    @Test("A server that lies about the end of a service is believed about everything else")
    func nestedServices() {
        var lone = LoneLayer(role: .central, mtu: 64)
        _ = lone.perform(Self.all)
        #expect(lone.answers(to: [UInt8]("11 06 0e00 1c00 5318 0f00 1b00 4618")) == [[UInt8]("10 1c00 ffff 0028")])
        _ = lone.answers(to: [UInt8]("01 10 1c00 0a"))
        #expect(lone.peerEvents() == [.servicesDiscovered(.success(Self.nested))])
        #expect(lone.notes == [.implausibleAttribute(.init(wire: 0x0E), LoneLayer.link)])
    }

    @Test("A lie about the end of a service does not look like a change when searching by UUID")
    func nestedSearch() {
        var lone = LoneLayer(role: .central, mtu: 64)
        for (type, list) in [(UInt16(0x1853), "07 0e00 1c00"), (0x1846, "07 0f00 1b00")] {
            _ = lone.perform(.discoverServices(only: [.short(type)]))
            _ = lone.answers(to: [UInt8](list))
            _ = lone.answers(to: [UInt8]("01 06 1d00 0a"))
        }
        #expect(lone.others.last == .servicesKnown(LoneLayer.peer, [.short(0x1853), .short(0x1846)]))
        #expect(lone.peerEvents().count == 2)
    }

    @Test("An endless list of attributes ends at the last handle, or at the storage limit")
    func endless() {
        var limits = Limits()
        limits.discoveredAttributes = 500
        var lone = LoneLayer(role: .central, limits: limits), handle: UInt16 = 0, count = 0
        var requests = lone.perform(Self.behindAll)
        while !requests.isEmpty, count < 70_000 {
            count += 1
            handle += 1
            requests = lone.answers(to: [0x05, 1] + handle.littleEndianOctets + [2, 0x29])
        }
        #expect(count == 501)
        #expect(lone.peerEvents() == [.descriptorsDiscovered(of: .init(wire: 0), .failure(.limitReached))])
    }

    private static let behindAll = AttributeRequest.discoverDescriptors(of: .init(wire: 0), in: .all)

    @Test("Random lies are answered in bounded time, and everything is reported once", arguments: 0..<16)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed), liar = Liar(seed: seed ^ 0xA5A5)
        var limits = Limits()
        limits.discoveredAttributes = 300
        var lone = LoneLayer(role: .central, limits: limits), asked = 0, answered = 0
        lone.layer.bonded(LoneLayer.link, Bond(identity: DeviceAddress("00:00:00:00:00:07", .public)!), at: lone.now)
        for _ in 0..<300 {
            asked += 1
            let from = UInt16(1 + random.below(40))
            let place = range(from, from + UInt16(random.below(20)))
            let requests: [AttributeRequest] = [
                .discoverServices(only: []), .discoverServices(only: [.short(0x180F)]),
                .discoverIncludedServices(in: place, only: []), .discoverCharacteristics(in: place, only: []),
                .discoverDescriptors(of: .init(wire: from), in: place), .read(.init(wire: from)),
                .write(.init(wire: from), [UInt8](repeating: 9, count: Int(random.below(60)))),
                .subscribe(random.below(2) == 0 ? .none : .indications, to: .init(wire: from), in: place),
            ]
            var sent = lone.perform(requests[Int(random.below(Int64(requests.count)))]), rounds = 0
            // One that was answered with something else waits for 30 s; an honest refusal ends that here.
            while let request = sent.last(where: { ATT.Opcode(wire: $0[0]).response != nil }), rounds < 5000 {
                rounds += 1
                sent = liar.answers(to: request).flatMap { lone.answers(to: $0) }
                if !sent.contains(where: { ATT.Opcode(wire: $0[0]).response != nil }) {
                    sent = lone.answers(to: [0x01, request[0], 0, 0, 0x0E])
                }
                sent += lone.advance(by: .milliseconds(random.below(100) == 0 ? 300 : 1))
            }
            #expect(rounds < 5000)
            answered += lone.peerEvents().compactMap(LinkDownTests.key).count
        }
        #expect(answered == asked)
        #expect(!lone.others.contains(.abandon(LoneLayer.link)))
    }
}
