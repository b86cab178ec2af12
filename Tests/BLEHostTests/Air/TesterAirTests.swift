import BLEController
import BLEWire
import Testing

@testable import BLEHost

/// Tests its host: does what it was told to, and then whatever its test asks for.
private final class Tester: App {
    private let first: [TesterRequest]
    var connects = false

    init(_ number: Int, _ first: [TesterRequest]) {
        self.first = first
        super.init(ClientID(rawValue: number), .tester)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): first.map { .tester($0) }
        case .tester(.found(let peer, _)): connects ? [.connect(peer, ConnectRequest())] : []
        default: []
        }
    }

    private func all<Value>(_ pick: (TesterEvent) -> Value?) -> [Value] {
        events.compactMap { event in if case .tester(let event) = event { pick(event) } else { nil } }
    }

    var heard: [ReceivedPacket] { all { if case .received(let packet) = $0 { packet } else { nil } } }
    var links: [RadioLink] { all { if case .linkMade(let link) = $0 { link } else { nil } } }

    /// What the first request for a set came to, and how often it has ended.
    func outcome(of set: AdvertisingSetID) -> (started: [Failure?], ended: Int) {
        let started = all { if case .setStarted(set, let failure) = $0 { Optional(failure) } else { nil } }
        return (started, all { $0 == .setEnded(set) ? true : nil }.count)
    }
}

@Suite("Radio requests of test suites")
struct TesterAirTests {
    private static let sets = (1...4).map { AdvertisingSetID(rawValue: $0) }
    private static let target = DeviceAddress(0x0000_AABB_CC01, .public)

    private static let requests: [AdvertisingSetRequest] = {
        var beacon = AdvertisingParameters()
        (beacon.isConnectable, beacon.isScannable, beacon.ownAddress) = (false, false, .random)
        var long = beacon
        long.isLegacy = false
        var open = AdvertisingParameters()
        open.ownAddress = .public
        var directed = AdvertisingParameters()
        (directed.isScannable, directed.target) = (false, DeviceAddress(0x0000_AABB_CC07, .public))
        return [
            .init(open, data: [2, 1, 6], scanResponse: [2, 10, 4]),
            .init(beacon, data: [3, 0xFF, 1, 2]),
            .init(long, data: [200, 0xFF] + [UInt8](repeating: 7, count: 199)),
            .init(directed),
        ]
    }()

    private func meet(seed: UInt64, listening parameters: ScanParameters) -> (Town, Tester, Tester) {
        let town = Town(seed: seed, loss: 0.1)
        let starts = zip(Self.sets, Self.requests).map { TesterRequest.startSet($0, $1) }
        let advertiser = Tester(1, starts), listener = Tester(2, [.listen(parameters)])
        _ = town.add(advertiser)
        _ = town.add(listener)
        return (town, advertiser, listener)
    }

    @Test(
        "Several sets advertise at the same time, each with its own address, packet type and data",
        arguments: UInt64(0)..<16
    )
    func sets(seed: UInt64) {
        let (town, advertiser, listener) = meet(seed: seed, listening: ScanParameters())
        town.run(for: .seconds(10)) { Set(listener.heard.map(\.data)).count == 4 }
        for (set, request) in zip(Self.sets, Self.requests) {
            #expect(advertiser.outcome(of: set).started == [nil])
            guard request.parameters.target == nil else { continue }
            let packet = listener.heard.first { $0.data == request.data && !$0.isScanResponse }
            #expect(packet?.packet.isLegacy == request.parameters.isLegacy)
            #expect(packet?.isConnectable == request.parameters.isConnectable)
            #expect(packet?.address.kind == (request.parameters.ownAddress == .random ? .random : .public))
        }
        #expect(listener.heard.contains { $0.isScanResponse && $0.data == [2, 10, 4] })
        // What is for another one alone is not for this host.
        #expect(!listener.heard.contains { $0.packet.isDirected })
    }

    @Test("A passive scan sends no scan requests", arguments: UInt64(0)..<16)
    func passive(seed: UInt64) {
        var parameters = ScanParameters()
        parameters.isActive = false
        let (town, _, listener) = meet(seed: seed, listening: parameters)
        town.run(for: .seconds(3))
        #expect(listener.heard.count > 10)
        #expect(!listener.heard.contains { $0.isScanResponse })
    }

    @Test("A set continues after a connection, and each ends once when it is stopped", arguments: UInt64(0)..<16)
    func connections(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.1), advertiser = Tester(1, [.startSet(Self.sets[0], Self.requests[0])])
        let station = town.add(advertiser)
        for number in 2...3 {
            let central = Tester(number, [.find(town.identity(of: station))])
            central.connects = true
            _ = town.add(central)
        }
        town.run(for: .seconds(20)) { advertiser.links.count == 2 }
        #expect(advertiser.links.map(\.role) == [.peripheral, .peripheral])
        town.perform(.tester(.stopSet(Self.sets[0])), at: station)
        town.perform(.tester(.stopSet(Self.sets[1])), at: station)
        town.run(for: .seconds(2))
        #expect(advertiser.outcome(of: Self.sets[0]).ended == 1)
        #expect(advertiser.outcome(of: Self.sets[1]).ended == 1)
    }

    @Test("A directed set ends with its connection")
    func directed() {
        var parameters = AdvertisingParameters()
        (parameters.isScannable, parameters.target) = (false, Self.target)
        let town = Town(seed: 1), advertiser = Tester(1, [.startSet(Self.sets[0], .init(parameters))])
        let station = town.add(advertiser), central = Tester(2, [.find(town.identity(of: station))])
        central.connects = true
        _ = town.add(central)
        town.run(for: .seconds(10)) { advertiser.links.count == 1 }
        town.run(for: .seconds(1))
        #expect(advertiser.outcome(of: Self.sets[0]).ended == 1)
    }

    @Test(
        "A connectable legacy set starts although its parameters exclude scan requests",
        arguments: [ControllerIdentity.Profile.core5, .legacyOnly]
    )
    func connectableLegacy(profile: ControllerIdentity.Profile) {
        var parameters = AdvertisingParameters()
        parameters.isScannable = false
        let town = Town(seed: 1), advertiser = Tester(1, [.startSet(Self.sets[0], .init(parameters))])
        _ = town.add(advertiser, profile)
        town.run(for: .seconds(1))
        #expect(advertiser.outcome(of: Self.sets[0]).started == [nil])
    }

    @Test("Sets end when the radio is lost, and a start that is pending then is answered")
    func powerCycle() {
        let (town, advertiser, _) = meet(seed: 1, listening: ScanParameters())
        town.run(for: .seconds(1))
        town.perform(.tester(.startSet(AdvertisingSetID(rawValue: 9), Self.requests[0])), at: town.stations[0])
        town.closeTransport(of: town.stations[0])
        for set in Self.sets { #expect(advertiser.outcome(of: set).ended == 1) }
        town.openTransport(of: town.stations[0])
        town.run(for: .seconds(1))
        #expect(advertiser.outcome(of: AdvertisingSetID(rawValue: 9)).started.count == 1)
        // The same numbers may be used again.
        #expect(advertiser.outcome(of: Self.sets[0]).started == [nil, nil])
    }

    @Test("A set that exceeds a limit is refused, and so is one that does not exist")
    func impossible() {
        let town = Town(seed: 1), tester = Tester(1, []), station = town.add(tester)
        var wrong = AdvertisingParameters()
        (wrong.isLegacy, wrong.isConnectable, wrong.isScannable) = (false, true, true)
        var hidden = AdvertisingParameters()
        hidden.ownAddress = .resolvable
        let cases: [(AdvertisingSetRequest, Failure)] = [
            (.init(AdvertisingParameters(), data: [UInt8](repeating: 0, count: 32)), .invalidParameters),
            (.init(AdvertisingParameters(), scanResponse: [UInt8](repeating: 0, count: 32)), .invalidParameters),
            (.init(wrong), .invalidParameters), (.init(hidden), .notSupported),
        ]
        for (number, (request, failure)) in cases.enumerated() {
            let set = AdvertisingSetID(rawValue: UInt32(number))
            town.perform(.tester(.startSet(set, request)), at: station)
            #expect(tester.outcome(of: set).started == [failure])
        }
        for number in 10..<30 {
            let set = AdvertisingSetID(rawValue: UInt32(number))
            town.perform(.tester(.startSet(set, Self.requests[0])), at: station)
        }
        town.run(for: .seconds(1))
        let started = (10..<30).map { tester.outcome(of: AdvertisingSetID(rawValue: $0)).started }
        #expect(started.filter { $0 == [nil] }.count > 1)
        #expect(started.allSatisfy { $0.count == 1 })
    }

    @Test("With legacy commands there is one advertisement, which apps can use once the tester stops its set")
    func single() {
        let town = Town(seed: 1), tester = Tester(1, [])
        let station = town.add(tester, .legacyOnly), app = ClientID(rawValue: 5)
        station.host.open(app, role: .peripheral, at: town.now)
        town.perform(.tester(.startSet(Self.sets[0], Self.requests[0])), at: station)
        town.run(for: .seconds(1))
        town.perform(.tester(.startSet(Self.sets[1], Self.requests[1])), at: station)
        town.perform(.tester(.startSet(Self.sets[2], Self.requests[2])), at: station)
        #expect(tester.outcome(of: Self.sets[0]).started == [nil])
        #expect(tester.outcome(of: Self.sets[1]).started == [.notSupported])
        #expect(tester.outcome(of: Self.sets[2]).started == [.notSupported])
        let starts = { tester.events.filter { $0 == .server(.advertisingStarted(nil)) }.count }
        station.host.perform(.server(.startAdvertising(.init(localName: "App"))), for: app, at: town.now)
        town.run(for: .seconds(1))
        #expect(starts() == 0)
        town.perform(.tester(.stopSet(Self.sets[0])), at: station)
        town.run(for: .seconds(1))
        #expect(tester.outcome(of: Self.sets[0]).ended == 1)
        #expect(starts() == 1)
    }
}
