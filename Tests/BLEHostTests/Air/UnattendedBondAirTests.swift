import BLEController
import BLEWire
import Testing

@testable import BLEHost

/// Strangers in range of a peripheral whose user is not asked.
@Suite("Bonds from unattended pairing")
struct UnattendedBondAirTests {
    @Test(
        "A peripheral whose app published no protected values does not pair with a stranger",
        arguments: UInt64(0)..<16
    )
    func open(seed: UInt64) throws {
        let bench = PairingBench(seed: seed, loss: 0.1, (nil, nil), .readable)
        bench.run()
        let peer = try #require(bench.caller.peer)
        bench.town.perform(.security(.pair(peer)), at: bench.callerStation)
        bench.town.run(for: .seconds(20)) { bench.keeperStation.remembered.contains { $0.bond != nil } }
        #expect(bench.keeperStation.remembered.allSatisfy { $0.bond == nil })
        #expect(bench.callerStation.remembered.allSatisfy { $0.bond == nil })
        #expect(bench.caller.readings == [.success(Keeper.secret)])
    }

    /// Which of the callers of a keeper are bonded with it, in the order in which they called.
    private func run(seed: UInt64, count: Int, places: Int, _ attend: (Int, PairingBench) -> Void) -> [Bool] {
        var configuration = Host.Configuration(identifierSecret: 9)
        configuration.limits.knownPeers = places
        let bench = PairingBench(seed: seed, (nil, nil), keeper: configuration)
        var callers: [(Caller, Station?)] = [(bench.caller, bench.callerStation)]
        for _ in 1..<count { callers.append((Caller(bench.user, nil), nil)) }
        for index in callers.indices {
            attend(index, bench)
            if callers[index].1 == nil { callers[index].1 = bench.town.add(callers[index].0) }
            bench.town.run(for: .seconds(60)) { !callers[index].0.readings.isEmpty }
            #expect(callers[index].0.readings == [.success(Keeper.secret)])
            guard let peer = callers[index].0.peer, let station = callers[index].1 else { continue }
            bench.town.perform(.cancelConnection(peer), at: station)
            bench.town.run(for: .seconds(10)) { !callers[index].0.endings.isEmpty }
        }
        let bonds = bench.keeperStation.host.peers.bonds(of: .program).map(\.identity)
        return callers.map { caller in caller.1.map { bonds.contains(bench.town.identity(of: $0)) } ?? false }
    }

    @Test(
        "However many strangers pair, bonds that the user made before and makes later are kept",
        arguments: UInt64(0)..<16
    )
    func flood(seed: UInt64) {
        let places = 4, last = places + 2
        let isBonded = run(seed: seed, count: last + 1, places: places) { index, bench in
            let isAttended = index == 0 || index == last
            bench.town.perform(.security(.setAgent(isAttended ? .displayYesNo : nil)), at: bench.keeperStation)
        }
        #expect(isBonded.first == true && isBonded.last == true)
        #expect(isBonded.count(where: { $0 }) < places + 1)
        #expect(isBonded[last - 1], "the stranger that paired last is kept in place of one before")
    }
}
