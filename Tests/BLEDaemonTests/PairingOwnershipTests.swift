import BLEHost
import BLESimulation
import BLEWire
import Testing

@testable import BLEDaemon

@Suite("Pairing with apps that share a host", .timeLimit(.minutes(30)))
struct PairingOwnershipTests {
    private static let noBonds = PairingPolicy(keepsBonds: false)
    private static let demands: [(owner: ClientOwner, everywhere: Bool, isBonded: Bool)] = [
        (OwnershipBench.stranger, false, true), (OwnershipBench.stranger, true, true),
        (OwnershipBench.neighbour, false, true),
        (OwnershipBench.neighbour, true, true), (OwnershipBench.administrator, false, true),
        (OwnershipBench.administrator, true, false),
    ]

    /// Pairs the app with the lamp; returns whether keys are kept.
    private func pair(_ bench: OwnershipBench, _ lamp: PeerIdentifier) async throws -> Bool {
        bench.own.ask(.security(.pair(lamp)))
        return try await bench.first(bench.own) {
            if case .security(.paired(lamp, _, let isBonded)) = $0 { isBonded } else { nil }
        }
    }

    @Test(
        "An app that keeps no bonds does not prevent others from bonding, unless an administrator decides so",
        arguments: demands
    )
    func bonds(owner: ClientOwner, everywhere: Bool, isBonded: Bool) async throws {
        for seed in 0..<16 as Range<UInt64> {
            let bench = OwnershipBench(seed: seed), other = bench.app(owner)
            other.ask(.security(.setPolicy(Self.noBonds, everywhere: everywhere)))
            #expect(try await pair(bench, try await bench.connectLamp(bench.own)) == isBonded, "seed \(seed)")
        }
    }

    @Test(
        "An app that keeps no bonds leaves no bond, unless another app that keeps bonds uses the link too",
        arguments: [false, true]
    )
    func ownBonds(isShared: Bool) async throws {
        let bench = OwnershipBench(seed: 2), other = bench.app(OwnershipBench.stranger)
        bench.own.ask(.security(.setPolicy(Self.noBonds)))
        let lamp = try await bench.connectLamp(bench.own)
        if isShared { _ = try await bench.connectLamp(other) }
        #expect(try await pair(bench, lamp) == isShared)
        if isShared { other.ask(.security(.listBonds)) }
        guard isShared else { return }
        let bonds = try await bench.first(other) { if case .security(.bonds(let bonds)) = $0 { bonds } else { nil } }
        #expect(bonds.map(\.peer) == [lamp])
    }

    @Test(
        "Another app's temporary key for any device is not used",
        arguments: [OwnershipBench.neighbour, OwnershipBench.stranger]
    )
    func temporaryKey(owner: ClientOwner) async throws {
        let bench = OwnershipBench(seed: 3), other = bench.app(owner)
        other.ask(.security(.takeTemporaryKey(Key128(wire: 5), with: nil)))
        other.ask(.security(.makeOutOfBandData))
        let lamp = try await bench.connectLamp(bench.own)
        #expect(try await pair(bench, lamp))
        let method = try await bench.first(bench.own) {
            if case .security(.paired(lamp, let method, _)) = $0 { method } else { nil }
        }
        #expect(method == .justWorks)
        #expect(!other.heard { if case .security(.paired) = $0 { owner == OwnershipBench.stranger } else { false } })
    }

    private static let attendants: [(owners: [ClientOwner], asked: Int?)] = [
        ([OwnershipBench.stranger], nil), ([OwnershipBench.neighbour], 0), ([OwnershipBench.administrator], 0),
        ([OwnershipBench.neighbour, OwnershipBench.stranger], 0),
        ([OwnershipBench.neighbour, OwnershipBench.administrator], 1),
        ([OwnershipBench.administrator, OwnershipBench.owner], 1),
    ]

    @Test("Agents are asked about apps of their own user, and administrators about all apps", arguments: attendants)
    func attendance(owners: [ClientOwner], asked: Int?) async throws {
        let bench = OwnershipBench(seed: 4), apps = owners.map(bench.app)
        for app in apps {
            try await bench.isOn(app)
            app.ask(.security(.setAgent(.displayYesNo)))
        }
        // The central has several apps to choose from, and shows by what it reads that it wants this one.
        let other = bench.app(OwnershipBench.stranger)
        try await bench.isOn(other)
        other.ask(.service(.addService(.init(id: OwnershipBench.serviceID, uuid: .short(0x1811)))))
        try await bench.publish(permissions: .readEncryptionRequired, value: [1])
        let server = try await bench.connect(bench.phone) { $0.name == "Hub" }
        try await bench.readFirst(server)
        func question(_ app: OwnedApp) -> PeerIdentifier? {
            app.events.lazy.compactMap { event -> PeerIdentifier? in
                if case .security(.asked(let inquiry)) = event { inquiry.peer } else { nil }
            }.first
        }
        func paired(_ app: OwnedApp) -> Bool {
            app.heard { if case .security(.paired) = $0 { true } else { false } }
        }
        await bench.world.advance(by: .seconds(3))
        for (index, app) in apps.enumerated() { #expect((question(app) != nil) == (index == asked)) }
        guard let asked, let peer = question(apps[asked]) else {
            #expect(paired(bench.own) && !apps.contains(where: paired))
            return
        }
        for (index, app) in apps.enumerated() where index != asked { app.ask(.security(.answer(peer, .confirm(true)))) }
        await bench.world.advance(by: .seconds(1))
        #expect(!paired(bench.own))
        apps[asked].ask(.security(.answer(peer, .confirm(true))))
        await bench.world.advance(by: .seconds(2))
        #expect(paired(bench.own) && paired(apps[asked]))
        #expect(apps.indices.allSatisfy { owners[$0] != OwnershipBench.stranger || !paired(apps[$0]) })
    }

    @Test("Two sessions waiting for their apps' next launch do not count as the same app")
    func waiting() async throws {
        let waiting = ClientOwner(user: 1_000, process: nil, isAdministrator: false)
        let bench = OwnershipBench(seed: 5), first = bench.app(waiting), second = bench.app(waiting)
        let lamp = try await bench.connectLamp(first)
        second.ask(.security(.pair(lamp)))
        await bench.world.advance(by: .seconds(2))
        #expect(second.heard { $0 == .security(.failed(lamp, .disconnected)) })
        #expect(!first.heard { if case .security(.paired) = $0 { true } else { false } })
    }

    @Test("Only an administrator's app may set a pairing policy for all apps", arguments: [true, false])
    func gate(isAdministrator: Bool) {
        let gate = SessionFilter(Grant(isAdministrator: isAdministrator, origin: "P"), for: .agent)
        #expect(gate.refusal(of: .security(.setPolicy(Self.noBonds))) == nil)
        let refusal = gate.refusal(of: .security(.setPolicy(Self.noBonds, everywhere: true)))
        let sentence = "only administrators may set a pairing policy for all apps; this app is not one (P)"
        #expect(refusal == (isAdministrator ? nil : sentence))
    }
}
