import BLEHost
import BLESimulation
import BLEWire
import Testing

@Suite("Isolation of apps that share a host", .timeLimit(.minutes(30)))
struct OwnershipTests {
    private static let otherOwners = [OwnershipBench.neighbour, OwnershipBench.stranger]

    /// Whether an app is told of something that belongs to another.
    private func isForeign(_ event: ClientEvent) -> Bool {
        switch event {
        case .server(.readRequested), .server(.writeRequested), .server(.subscribed), .server(.unsubscribed),
            .server(.channelOpened), .server(.centralChanged), .channel, .security(.asked), .security(.paired),
            .security(.secured):
            true
        case .server(.centralsConnected(let centrals)): !centrals.isEmpty
        default: false
        }
    }

    /// Whether an app, or its central, has lost something.
    private func isLoss(_ event: ClientEvent) -> Bool {
        switch event {
        case .disconnected, .server(.unsubscribed), .server(.channelUnpublished), .channel(_, .closed),
            .channel(_, .received), .security(.failed), .security(.withdrawn), .peer(_, .valueRead, _),
            .peer(_, .valueNotified, _):
            true
        default: false
        }
    }

    @Test(
        "No request of another app, of the same user or of another, affects an app",
        arguments: otherOwners,
        0..<16 as Range<UInt64>
    )
    func others(owner: ClientOwner, seed: UInt64) async throws {
        let bench = OwnershipBench(seed: seed), other = bench.app(owner)
        try await bench.begin()
        other.forget()
        for request in EveryRequest.all.map(bench.aimed) {
            // A user may remove the bonds that the apps of that user have made.
            if owner.user == OwnershipBench.owner.user, case .security(.removeBond) = request { continue }
            other.ask(request)
            await bench.world.advance(by: .seconds(1))
            #expect(!bench.own.heard(isLoss), "\(request)")
            #expect(!bench.phone.heard(isLoss), "\(request)")
            try await expectAll(of: bench, after: request)
            #expect(!other.heard(isForeign), "\(request)")
        }
    }

    /// Expects that the app still has all that it had, and uses it.
    private func expectAll(of bench: OwnershipBench, after request: ClientRequest) async throws {
        let own = bench.own, phone = bench.phone, lamp = bench.lamp
        own.ask(.service(.respond(bench.transaction, .success([7]))))
        own.ask(.service(.update(OwnershipBench.value, [5], to: nil)))
        own.ask(.channel(bench.channel, .send([3])))
        own.ask(.peer(lamp, .readRSSI))
        own.ask(.security(.listBonds))
        await bench.world.advance(by: .seconds(1))
        #expect(phone.heard { if case .peer(_, .valueRead(_, .success([7])), _) = $0 { true } else { false } })
        #expect(phone.heard { if case .peer(_, .valueNotified(_, [5]), _) = $0 { true } else { false } })
        #expect(phone.heard { if case .channel(_, .received([3])) = $0 { true } else { false } })
        #expect(own.heard { if case .peer(lamp, .rssiRead(.success), _) = $0 { true } else { false } }, "\(request)")
        #expect(own.heard { if case .security(.bonds(let bonds)) = $0 { bonds.map(\.peer) == [lamp] } else { false } })
        try await bench.read()
    }

    private typealias Deed = (
        request: @Sendable (OwnershipBench) -> ClientRequest, isDone: @Sendable (ClientEvent) -> Bool
    )

    /// Requests of the owner, and what comes of each.
    private static let deeds: [Deed] = [
        ({ .cancelConnection($0.lamp) }, { if case .disconnected(_, nil, _) = $0 { true } else { false } }),
        ({ .server(.disconnect($0.central)) }, { if case .disconnected(_, .some, _) = $0 { true } else { false } }),
        (
            { .service(.respond($0.transaction, .success([7]))) },
            { if case .peer(_, .valueRead(_, .success([7])), _) = $0 { true } else { false } }
        ),
        (
            { _ in .service(.update(OwnershipBench.value, [5], to: nil)) },
            { if case .peer(_, .valueNotified(_, [5]), _) = $0 { true } else { false } }
        ),
        ({ .channel($0.channel, .close) }, { if case .channel(_, .closed) = $0 { true } else { false } }),
        (
            { .server(.unpublishChannel($0.psm)) },
            { if case .server(.channelUnpublished(_, nil)) = $0 { true } else { false } }
        ),
        (
            { _ in .service(.removeService(OwnershipBench.serviceID)) },
            { if case .server(.unsubscribed) = $0 { true } else { false } }
        ),
        (
            { .security(.removeBond($0.lamp)) },
            { if case .security(.bonds([])) = $0 { true } else { false } }
        ),
        (
            { .peer($0.lamp, .tune(.dataLength(octets: 100))) },
            { if case .peer(_, .tuned(_, nil), _) = $0 { true } else { false } }
        ),
    ]

    @Test("An app can use all of its own objects", arguments: deeds.indices)
    func own(index: Int) async throws {
        let bench = OwnershipBench(seed: 3)
        try await bench.begin()
        bench.own.ask(Self.deeds[index].request(bench))
        await bench.world.advance(by: .seconds(2))
        #expect(bench.own.heard(Self.deeds[index].isDone) || bench.phone.heard(Self.deeds[index].isDone))
    }

    @Test("A link that two apps use ends when both have left it, and neither can change its parameters")
    func sharedLink() async throws {
        let bench = OwnershipBench(seed: 4), other = bench.app(OwnershipBench.stranger)
        try await bench.begin()
        let lamp = try await bench.connectLamp(other), tuning = LinkTuning.dataLength(octets: 27)
        #expect(lamp == bench.lamp)
        other.ask(.peer(lamp, .tune(tuning)))
        await bench.world.advance(by: .seconds(1))
        #expect(other.heard { $0 == .peer(lamp, .tuned(tuning, .notSupported)) })
        other.ask(.cancelConnection(lamp))
        await bench.world.advance(by: .seconds(1))
        #expect(!bench.own.heard(isLoss))
        bench.own.ask(.cancelConnection(lamp))
        _ = try await bench.first(bench.own) { if case .disconnected(lamp, nil, _) = $0 { true } else { nil } }
    }

    @Test("An app is notified of a central once it is known to be its own, immediately if no other app has services")
    func centrals() async throws {
        let bench = OwnershipBench(seed: 5)
        try await bench.publish()
        let server = try await bench.connect(bench.phone) { $0.name == "Hub" }
        func told(_ app: OwnedApp) -> Int {
            app.events.reduce(0) { count, event in
                if case .server(.centralsConnected(let centrals)) = event { centrals.count } else { count }
            }
        }
        await bench.world.advance(by: .seconds(1))
        #expect(told(bench.own) == 1)
        bench.phone.ask(.cancelConnection(server))
        await bench.world.advance(by: .seconds(2))
        #expect(told(bench.own) == 0)
        let other = bench.app(OwnershipBench.stranger)
        try await bench.isOn(other)
        other.ask(.service(.addService(.init(id: OwnershipBench.serviceID, uuid: .short(0x1811)))))
        await bench.world.advance(by: .seconds(1))
        bench.phone.ask(.connect(server, ConnectRequest()))
        await bench.world.advance(by: .seconds(2))
        #expect(told(bench.own) == 0 && told(other) == 0)
        try await bench.connectPhone()
        await bench.world.advance(by: .seconds(1))
        #expect(other.heard { _ in true } && told(other) == 0)
        bench.own.ask(.server(.disconnect(bench.central)))
        _ = try await bench.first(bench.phone) { if case .disconnected = $0 { true } else { nil } }
    }
}
