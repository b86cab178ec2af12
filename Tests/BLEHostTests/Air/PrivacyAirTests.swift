import BLEController
import BLEWire
import Testing

@testable import BLEHost

@Suite("Private hosts on a simulated air")
struct PrivacyAirTests {
    /// Controllers that resolve addresses and that do not, with extended advertising and without.
    static let profiles: [ControllerIdentity.Profile] = [
        .core5, .core5.without(.privacy), .core5.without(.extendedAdvertising),
        .core5.without([.privacy, .extendedAdvertising]), .legacyOnly,
        // Its controller resolves addresses, but cannot be told whose identity is to be heard as well.
        .init(version: 8, features: [.encryption, .privacy]),
    ]
    static let scenes = profiles.indices.flatMap { profile in
        [(true, true), (true, false), (false, true)].map { (profile, $0) }
    }

    private static func configuration(isPrivate: Bool) -> Host.Configuration {
        .init(identifierSecret: 9, isPrivate: isPrivate, addressLifetime: .init(wire: 20) ?? .standard)
    }

    private func makeBench(
        seed: UInt64,
        _ profile: ControllerIdentity.Profile,
        loss: Double = 0,
        arePrivate: (keeper: Bool, caller: Bool) = (true, true)
    ) -> PairingBench {
        let bench = PairingBench(
            seed: seed,
            loss: loss,
            (.displayYesNo, .displayYesNo),
            profile: profile,
            keeper: Self.configuration(isPrivate: arePrivate.keeper),
            caller: Self.configuration(isPrivate: arePrivate.caller)
        )
        bench.town.recordsAir = true
        return bench
    }

    @Test("Private hosts pair once and recognize each other under all later addresses", arguments: scenes)
    func variety(profile: Int, arePrivate: (keeper: Bool, caller: Bool)) throws {
        try meet(makeBench(seed: 1, Self.profiles[profile], arePrivate: arePrivate), arePrivate)
    }

    @Test("Private hosts recognize each other whatever packets are lost", arguments: UInt64(0)..<16)
    func seeds(seed: UInt64) throws {
        let profile = Self.profiles[Int(seed) % Self.profiles.count]
        try meet(makeBench(seed: seed, profile, loss: 0.1), (true, true))
    }

    private func meet(_ bench: PairingBench, _ arePrivate: (keeper: Bool, caller: Bool)) throws {
        bench.run()
        let peer = try #require(bench.caller.peer)
        for _ in 0..<3 {
            bench.town.run(for: .seconds(21))
            bench.reconnect()
        }
        #expect(bench.caller.readings == Array(repeating: .success(Keeper.secret), count: 4))
        #expect(bench.keeper.questions.count == 1 && bench.caller.questions.count == 1)
        let before = bench.caller.events.count
        bench.town.perform(.scan(ScanRequest(services: [Keeper.service])), at: bench.callerStation)
        bench.town.run(for: .seconds(21))
        let heard = bench.caller.events.dropFirst(before).compactMap { event in
            if case .discovered(let report) = event { report.peer } else { nil }
        }
        #expect(!heard.isEmpty && heard.allSatisfy { $0 == peer })
        expectAddresses(of: bench.keeperStation, arePrivate.keeper, [.advertisement], in: bench)
        expectAddresses(of: bench.callerStation, arePrivate.caller, [.scanRequest, .connectRequest], in: bench)
    }

    /// Which packets tell who sends them: Core 6.0, Vol 6, Part B, 2.3.
    private enum Kind: UInt8, CaseIterable { case advertisement = 0, scanRequest = 3, connectRequest = 5 }

    /// A private host is never heard under its identity and changes its address; another one is heard under no other.
    private func expectAddresses(of station: Station, _ isPrivate: Bool, _ kinds: [Kind], in bench: PairingBench) {
        let identity = bench.town.identity(of: station)
        let octets = (0..<6).map { UInt8(truncatingIfNeeded: identity.value >> UInt64(8 * $0)) }
        for kind in kinds {
            let senders = bench.town.records.filter { record in
                record.sender == station.id && record.channel >= 37
                    && record.pdu.first.map { $0 & 0xF } == kind.rawValue
            }.map { Array($0.pdu[2..<8]) }
            #expect(isPrivate ? Set(senders).count >= 2 : Set(senders) == [octets], "\(kind)")
        }
        guard isPrivate else { return }
        let shown = bench.town.records.count { record in
            record.pdu.indices.contains { record.pdu[$0...].starts(with: octets) }
        }
        #expect(shown == 0)
    }

    @Test("An address past its lifetime is no longer used", arguments: profiles.indices)
    func lifetime(profile: Int) {
        let bench = makeBench(seed: 3, Self.profiles[profile])
        bench.town.run(for: .seconds(70))
        var first: [[UInt8]: Instant] = [:]
        for record in bench.town.records where record.sender == bench.keeperStation.id && record.channel >= 37 {
            guard record.pdu.first.map({ $0 & 0xF }) == 0 else { continue }
            let address = Array(record.pdu[2..<8]), since = first[address] ?? record.instant
            first[address] = since
            #expect(record.instant - since <= .seconds(20) + .milliseconds(50))
        }
        #expect(first.count >= 4)
    }
}

extension ControllerIdentity.Profile {
    fileprivate func without(_ features: LEFeatures) -> Self {
        Self(version: version, features: self.features.subtracting(features))
    }
}
