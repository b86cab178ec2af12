import BLEWire
import Testing

@testable import BLEHost

@Suite("Enhanced bearers of a server")
struct BearerTests {
    static let app = LoneLayer.app
    /// Values that the app is asked for, notifies and indicates.
    static let held = LocalAttributeID(rawValue: 2), notifying = LocalAttributeID(rawValue: 3)
    static let indicating = LocalAttributeID(rawValue: 4), other = LocalAttributeID(rawValue: 5)
    static let service = ServiceDefinition(
        id: LocalAttributeID(rawValue: 1),
        uuid: .short(0x1845),
        characteristics: [
            .init(id: held, uuid: .short(0x2A3D), properties: [.read, .write], permissions: [.readable, .writeable]),
            .init(id: notifying, uuid: .short(0x2A37), properties: .notify, permissions: []),
            .init(id: indicating, uuid: .short(0x2A38), properties: .indicate, permissions: []),
            .init(id: other, uuid: .short(0x2A39), properties: .indicate, permissions: []),
        ]
    )

    /// A server on a link with bearers, and an app with values.
    struct Bench {
        var lone: LoneLayer
        var channels: [ChannelID] = []

        /// Opens enhanced bearers whose packets have these sizes.
        init(role: LinkRole = .peripheral, mtu: Int = 517, _ mtus: [Int] = [517, 517], limits: Limits = Limits()) {
            let database = GATTDatabase(deviceName: "Host", appearance: 0)
            lone = LoneLayer(role: role, mtu: mtu, limits: limits, database: database)
            _ = lone.perform(.addService(BearerTests.service))
            lone.learn()
            for mtu in mtus { open(mtu) }
            _ = lone.sent()
            lone.events = []
        }

        mutating func open(_ mtu: Int) {
            let id = ChannelID(rawValue: UInt64(100 + channels.count))
            let channel = OpenedChannel(id: id, psm: .enhancedATT, outgoingMTU: mtu, incomingMTU: mtu)
            lone.layer.receive(.opened(channel), on: LoneLayer.link, at: lone.now)
            channels.append(id)
            _ = lone.sent()
        }

        /// The peer sends this on a bearer; returns what comes back on enhanced ones.
        mutating func ask(_ pdu: String, on bearer: Int) -> [[UInt8]] {
            tell(.received([UInt8](pdu)), on: bearer)
        }

        @discardableResult
        mutating func tell(_ event: ChannelEvent, on bearer: Int) -> [[UInt8]] {
            lone.onBearers = []
            lone.layer.receive(.channel(channels[bearer], event), on: LoneLayer.link, at: lone.now)
            _ = lone.sent()
            return lone.onBearers.filter { $0.channel == channels[bearer] }.map(\.pdu)
        }

        /// What the app is asked.
        mutating func asked() -> [ServerTransaction] {
            lone.serverEvents().compactMap {
                switch $0 {
                case .readRequested(let transaction, _, _, _): transaction
                case .writeRequested(let transaction, _, _): transaction
                default: nil
                }
            }
        }

        /// The app answers; returns all packets on enhanced bearers.
        mutating func answer(_ transaction: ServerTransaction, _ value: [UInt8]) -> [(channel: ChannelID, pdu: [UInt8])]
        {
            lone.onBearers = []
            _ = lone.perform(.respond(transaction, .success(value)))
            return lone.onBearers
        }

        /// The handle of a value of the app.
        func handle(of value: LocalAttributeID) -> AttributeHandle {
            lone.layer.database.attributes.first {
                if case .provided(let owner) = $0.content { owner.id == value } else { false }
            }?.handle ?? .none
        }

        /// The peer subscribes to a value.
        mutating func subscribe(to value: LocalAttributeID, _ bits: UInt8) {
            let owner = GATTDatabase.Owner(client: BearerTests.app, id: value)
            let handle = lone.layer.database.configuration(of: owner)?.handle ?? .none
            _ = lone.answers(to: [0x12] + handle.wire.littleEndianOctets + [bits, 0])
            lone.events = []
        }
    }

    @Test("A fast response overtakes a slow one on another bearer, and each returns on its request's bearer")
    func concurrent() {
        var bench = Bench()
        let handle = bench.handle(of: Self.held).wire.littleEndianOctets
        let read = [0x0A] + handle
        bench.tell(.received(read), on: 0)
        bench.tell(.received(read), on: 1)
        #expect(bench.lone.answers(to: read) == [])
        let asked = bench.asked()
        #expect(asked.count == 3)
        guard asked.count == 3 else { return }
        let second = bench.answer(asked[1], [2])
        #expect(second.map(\.channel) == [bench.channels[1]] && second.map(\.pdu) == [[0x0B, 2]])
        #expect(bench.ask("0a 0300", on: 1) != [])
        let first = bench.answer(asked[0], [1])
        #expect(first.map(\.channel) == [bench.channels[0]] && first.map(\.pdu) == [[0x0B, 1]])
        #expect(bench.lone.perform(.respond(asked[2], .success([3]))) == [[0x0B, 3]])
    }

    @Test("On one bearer, a request waits for the response to the previous one")
    func sequential() {
        var bench = Bench()
        let handle = bench.handle(of: Self.held).wire.littleEndianOctets
        bench.tell(.received([0x0A] + handle), on: 0)
        bench.tell(.received([0x0A] + handle), on: 0)
        let asked = bench.asked()
        #expect(asked.count == 1)
        #expect(bench.answer(asked[0], [1]).map(\.pdu) == [[0x0B, 1]])
        #expect(bench.asked().count == 1)
    }

    @Test("Each bearer has its own fixed MTU", arguments: [64, 100, 517])
    func sizes(mtu: Int) {
        var bench = Bench(mtu: 23, [mtu])
        #expect(bench.ask("02 1700", on: 0) == [[UInt8]("01 02 0000 06")])
        let handle = bench.handle(of: Self.held).wire.littleEndianOctets
        bench.tell(.received([0x0A] + handle), on: 0)
        let asked = bench.asked()
        let answers = bench.answer(asked[0], [UInt8](repeating: 7, count: 512))
        #expect(answers.map(\.pdu.count) == [min(513, mtu)])
        bench.lone.layer.receive(.mtuChanged(bench.channels[0], 300), on: LoneLayer.link, at: bench.lone.now)
        bench.tell(.received([0x0A] + handle), on: 0)
        let longer = bench.answer(bench.asked()[0], [UInt8](repeating: 7, count: 512))
        #expect(longer.map(\.pdu.count) == [300])
    }

    @Test("Prepared writes on several bearers share one queue, which survives the loss of a bearer")
    func prepared() {
        var bench = Bench()
        let handle = bench.handle(of: Self.held).wire.littleEndianOctets
        bench.tell(.received([0x16] + handle + [0, 0, 1, 2]), on: 0)
        bench.tell(.received([0x16] + handle + [2, 0, 3]), on: 1)
        bench.tell(.closed(nil), on: 0)
        bench.tell(.received([0x18, 1]), on: 1)
        let parts = bench.lone.serverEvents().compactMap { event -> [[UInt8]]? in
            if case .writeRequested(_, _, let parts) = event { parts.map(\.value) } else { nil }
        }
        #expect(parts == [[[1, 2], [3]]])
    }

    @Test("A response for a bearer that was lost has no effect")
    func gone() {
        var bench = Bench()
        let handle = bench.handle(of: Self.held).wire.littleEndianOctets
        bench.tell(.received([0x0A] + handle), on: 0)
        bench.tell(.received([0x0A] + handle), on: 1)
        let asked = bench.asked()
        bench.tell(.closed(nil), on: 0)
        #expect(bench.answer(asked[0], [1]).isEmpty)
        #expect(bench.lone.notes.contains(.answerWithoutRequest(BearerTests.app)))
        #expect(bench.answer(asked[1], [2]).map(\.pdu) == [[0x0B, 2]])
    }

    @Test("Values of one characteristic stay on one bearer, and two characteristics are indicated at the same time")
    func indications() {
        var bench = Bench()
        bench.subscribe(to: Self.indicating, 2)
        bench.subscribe(to: Self.notifying, 1)
        var sent: [[UInt8]] = []
        for number in UInt8(1)...2 {
            sent += bench.lone.perform(.update(Self.indicating, [number], to: nil))
            _ = bench.lone.perform(.update(Self.notifying, [number], to: nil))
        }
        // The first characteristic has the unenhanced bearer, the second the first of the others.
        #expect(sent.map(\.last) == [1])
        #expect(bench.lone.onBearers.map(\.channel) == [bench.channels[0], bench.channels[0]])
        #expect(bench.lone.onBearers.map(\.pdu.last) == [1, 2])
        #expect(bench.lone.answers(to: [0x1E]).map(\.last) == [2])
        bench.subscribe(to: Self.other, 2)
        #expect(bench.lone.perform(.update(Self.other, [9], to: nil)) == [])
        #expect(bench.lone.onBearers.last?.channel == bench.channels[1])
    }

    @Test("A value that no enhanced bearer can carry whole is sent on the unenhanced one")
    func short() {
        var bench = Bench(mtu: 517, [64, 64])
        bench.subscribe(to: Self.notifying, 1)
        let sent = bench.lone.perform(.update(Self.notifying, [UInt8](repeating: 1, count: 200), to: nil))
        #expect(sent.map(\.count) == [203])
        #expect(bench.lone.onBearers.isEmpty)
    }

    @Test("An indication that is not confirmed within 30 s closes its bearer but not the link")
    func unconfirmed() {
        var bench = Bench(mtu: 23, [64])
        // The values of the first characteristic go over the unenhanced bearer, those of the second do not.
        bench.subscribe(to: Self.notifying, 1)
        bench.subscribe(to: Self.indicating, 2)
        _ = bench.lone.perform(.update(Self.notifying, [1], to: nil))
        _ = bench.lone.perform(.update(Self.indicating, [1], to: nil))
        #expect(bench.lone.onBearers.map(\.pdu.first) == [0x1D])
        _ = bench.lone.advance(by: ATT.transactionTimeout)
        #expect(bench.lone.bearerRequests == [.channel(bench.channels[0], .close)])
        bench.tell(.closed(nil), on: 0)
        #expect(!bench.lone.others.contains(.abandon(LoneLayer.link)))
        #expect(bench.lone.notes.contains(.transactionTimedOut(LoneLayer.link)))
        #expect(bench.lone.perform(.update(Self.indicating, [2], to: nil)).first?.first == 0x1D)
    }

    @Test("Values waiting on a lost bearer are sent on the unenhanced one, and every update is reported as sent")
    func moved() {
        var bench = Bench(mtu: 23, [64])
        bench.subscribe(to: Self.notifying, 1)
        bench.subscribe(to: Self.indicating, 2)
        _ = bench.lone.perform(.update(Self.notifying, [1], to: nil))
        for number in UInt8(1)...3 { _ = bench.lone.perform(.update(Self.indicating, [number], to: nil)) }
        bench.lone.layer.receive(.channel(bench.channels[0], .closed(nil)), on: LoneLayer.link, at: bench.lone.now)
        #expect(bench.lone.sent().map(\.last) == [2])
        #expect(bench.lone.answers(to: [0x1E]).map(\.last) == [3])
        bench.lone.take()
        let taken = bench.lone.serverEvents().reduce(0) {
            if case .updatesTaken(let count) = $1 { $0 + count } else { $0 }
        }
        #expect(taken == 4)
    }

    @Test("A client with several bearers is change-aware only once it has read the hash")
    func awareness() {
        var bench = Bench()
        let features = bench.lone.layer.database.attributes.first { $0.type == GATT.clientFeatures }?.handle
        _ = bench.lone.answers(to: [0x12] + (features ?? .none).wire.littleEndianOctets + [1])
        let other = ServiceDefinition(id: LocalAttributeID(rawValue: 900), uuid: .short(0x1846))
        _ = bench.lone.perform(.addService(other))
        for _ in 0..<2 {
            #expect(bench.ask("0a 0300", on: 0) == [[UInt8]("01 0a 0300 12")])
            #expect(bench.ask("0a 0300", on: 1) == [[UInt8]("01 0a 0300 12")])
        }
        #expect(bench.ask("08 0100 ffff 2a2b", on: 0).first?.first == 0x09)
        #expect(bench.ask("0a 0300", on: 1).first?.first == 0x0B)
        #expect(bench.ask("0a 0300", on: 0).first?.first == 0x0B)
    }

    static let nonsense = [
        "", "00", "01", "0b01", "1b0300", "1d", "1e", "02", "03 1700", "0a", "0a03", "52", "d2 0300", "ff",
        "23 0300 0100",
        "16 0300", "18", "18 02", "20 0300", "0e 0300", "7f 01 02",
    ]

    @Test("An invalid packet on a bearer harms no bearer", arguments: nonsense)
    func adversary(pdu: String) {
        var bench = Bench()
        bench.tell(.received([UInt8](pdu)), on: 0)
        bench.lone.layer.receive(
            .channel(ChannelID(rawValue: 7), .received([0x0A])),
            on: LoneLayer.link,
            at: bench.lone.now
        )
        #expect(bench.ask("0a 0300", on: 0).last?.first == 0x0B)
        #expect(bench.ask("0a 0300", on: 1).last?.first == 0x0B)
        #expect(bench.lone.answers(to: [UInt8]("0a 0300")).last?.first == 0x0B)
    }

    @Test("A client that does not wait for responses is limited")
    func flood() {
        var limits = Limits()
        limits.peerRequests = 4
        var bench = Bench(limits: limits)
        let handle = bench.handle(of: Self.held).wire.littleEndianOctets
        for _ in 0..<50 { bench.tell(.received([0x0A] + handle), on: 0) }
        #expect(bench.lone.notes.contains(.limitReached(.queuedRequests(LoneLayer.link))))
        #expect(bench.ask("0a 0300", on: 1).first?.first == 0x0B)
    }

    @Test("Later values do not overtake those of a lost bearer")
    func following() {
        var bench = Bench()
        let handle = bench.handle(of: Self.indicating).wire.littleEndianOctets
        bench.subscribe(to: Self.notifying, 1)
        bench.subscribe(to: Self.indicating, 2)
        _ = bench.lone.perform(.update(Self.notifying, [0], to: nil))
        bench.lone.onBearers = []
        for octet: UInt8 in [1, 2] { _ = bench.lone.perform(.update(Self.indicating, [octet], to: nil)) }
        #expect(bench.lone.onBearers.map(\.pdu) == [[0x1D] + handle + [1]])
        #expect(bench.lone.onBearers.first?.channel == bench.channels[0])
        bench.lone.layer.receive(.channel(bench.channels[0], .closed(nil)), on: LoneLayer.link, at: bench.lone.now)
        #expect(bench.lone.sent() == [[0x1D] + handle + [2]])
        bench.lone.onBearers = []
        #expect(bench.lone.perform(.update(Self.indicating, [3], to: nil)) == [])
        #expect(bench.lone.onBearers.isEmpty)
        #expect(bench.lone.answers(to: [0x1E]) == [[0x1D] + handle + [3]])
    }
}
