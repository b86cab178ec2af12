import BLEController
import BLEWire
import Testing

@testable import BLEHost

@Suite("Two bonded hosts on one simulated air")
struct BondedAirTests {
    static let key = Key128(wire: 0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF)

    /// Two hosts that were bonded before they met here, each with the key that it kept of that.
    final class Pair {
        let town: Town
        let server = BearerAirTests.SlowServer(), reader = BearerAirTests.Reader()
        let serverStation: Station, readerStation: Station

        init(
            seed: UInt64,
            loss: Double,
            keys: (server: Key128?, reader: Key128?) = (BondedAirTests.key, BondedAirTests.key),
            profile: ControllerIdentity.Profile = .core5
        ) {
            town = Town(seed: seed, loss: loss)
            serverStation = town.add(server, profile, configuration: Self.bonded(withStation: 1, keys.server))
            readerStation = town.add(reader, profile, configuration: Self.bonded(withStation: 0, keys.reader))
        }

        /// What a host is set up with that is bonded with the station of a number, or is not.
        private static func bonded(withStation number: UInt64, _ key: Key128?) -> Host.Configuration {
            guard let key else { return .init(identifierSecret: 9) }
            let address = DeviceAddress(0x0000_AABB_CC00 + number, .public)
            var table = PeerTable(secret: 9, records: [], limits: .init())
            let bond = Bond(identity: address, longTermKey: LongTermKey(key: key, random: 3, diversifier: 4))
            let record = PeerRecord(identifier: table.identifier(of: address), address: address, bond: bond)
            return .init(identifierSecret: 9, knownPeers: [record])
        }

        /// How many enhanced bearers the central has.
        var bearers: Int { readerStation.host.layers.attributes.links.first?.client.bearers.enhancedCount ?? 0 }

        func read(_ index: Int) {
            guard let peer = reader.peer, index < reader.found.count else { return }
            town.perform(.peer(peer, .read(reader.found[index].value)), at: readerStation)
        }

        /// Why the links of a station ended, as far as nobody there wanted that.
        func endings(_ station: Station) -> [HCI.Status] {
            station.notes.compactMap { if case .linkLost(_, let reason) = $0 { reason } else { nil } }
        }
    }

    @Test("Bonded hosts encrypt their link, open enhanced bearers and exchange values", arguments: UInt64(0)..<16)
    func values(seed: UInt64) {
        let pair = Pair(seed: seed, loss: 0.3)
        pair.town.run(for: .seconds(120)) { pair.reader.found.count == 4 && pair.bearers == BearerOpening.count }
        #expect(pair.bearers == BearerOpening.count)
        for index in [1, 2, 3, 0] { pair.read(index) }
        pair.town.run(for: .seconds(60)) { pair.server.held.count == 3 }
        #expect(pair.server.held.count == 3)
        for request in pair.server.answers() { pair.town.perform(request, at: pair.serverStation) }
        pair.town.run(for: .seconds(60)) { pair.reader.readings.count == 4 }
        #expect(pair.reader.readings.map(\.handle) == [1, 2, 3, 0].map { pair.reader.found[$0].value })
        #expect(pair.reader.readings.map(\.isGood) == [true, true, true, true])
    }

    @Test("Bonded hosts with legacy controllers do the same", arguments: UInt64(0)..<16)
    func oldControllers(seed: UInt64) {
        let pair = Pair(seed: seed, loss: 0.3, profile: .legacyOnly)
        pair.town.run(for: .seconds(120)) { pair.reader.found.count == 4 && pair.bearers == BearerOpening.count }
        #expect(pair.bearers == BearerOpening.count)
        pair.read(0)
        pair.town.run(for: .seconds(60)) { pair.reader.readings.count == 1 }
        #expect(pair.reader.readings.map(\.isGood) == [true])
    }

    @Test("If the keys differ, the link drops and both hosts report the reason", arguments: UInt64(0)..<16)
    func wrongKey(seed: UInt64) {
        let pair = Pair(seed: seed, loss: 0.3, keys: (Self.key, Key128(wire: 1)))
        pair.town.run(for: .seconds(120)) {
            pair.endings(pair.serverStation).contains(.micFailure)
                && pair.endings(pair.readerStation).contains(.connectionTimeout)
        }
        #expect(pair.endings(pair.serverStation).contains(.micFailure))
        #expect(pair.endings(pair.readerStation).contains(.connectionTimeout))
        #expect(pair.bearers == 0)
    }

    @Test("If the peripheral lost the bond, the link ends before any request is sent", arguments: UInt64(0)..<16)
    func lostBond(seed: UInt64) {
        let pair = Pair(seed: seed, loss: 0.3, keys: (nil, Self.key))
        func failure() -> Failure? {
            pair.reader.events.lazy.compactMap { event in
                switch event {
                case .connectFailed(_, let failure), .disconnected(_, let failure?, _): failure
                default: nil
                }
            }.first
        }
        pair.town.run(for: .seconds(120)) { failure() != nil }
        #expect(failure() == .hci(.pinOrKeyMissing))
        #expect(pair.reader.found.isEmpty && pair.bearers == 0)
    }
}
