import BLEHost
import BLEWire
import Testing

@Suite("Round trips of discovery")
struct RoundTripTests {
    /// What a database of 1 000 attributes is like.
    struct Kind: Sendable, CustomTestStringConvertible {
        let longTypes: Int64
        let gaps: Int64
        var testDescription: String { "\(longTypes) % long types, \(gaps) % gaps" }

        static let all = [(0, 0), (100, 0), (30, 0), (0, 20), (30, 20)].map { Kind(longTypes: $0, gaps: $1) }
    }

    /// A link to a server with these attributes, and what the app has found there.
    struct Walk {
        var pair: AttributePair
        var services: [DiscoveredService] = []
        var characteristics: [DiscoveredCharacteristic] = []
        var descriptors: [DiscoveredDescriptor] = []
        /// How many requests have gone out since the size of packets was agreed on.
        var roundTrips: Int { pair.central.trace.count - 1 }

        init(_ layout: SampleLayout, mtu: Int) {
            pair = AttributePair(centralMTU: mtu)
            pair.peripheral.layer = AttributeLayer(configuration: .init(preferredMTU: 517), database: layout.database)
            pair.connect()
        }

        mutating func findServices() {
            if case .servicesDiscovered(.success(let found))? = pair.ask(.discoverServices(only: [])).first {
                services = found
            }
        }

        mutating func findCharacteristics(of service: DiscoveredService) -> [DiscoveredCharacteristic] {
            let events = pair.ask(.discoverCharacteristics(in: service.range, only: []))
            guard case .characteristicsDiscovered(_, .success(let found))? = events.first else { return [] }
            characteristics += found
            return found
        }

        mutating func findDescriptors(of characteristic: DiscoveredCharacteristic) {
            let events = pair.ask(.discoverDescriptors(of: characteristic.value, in: characteristic.descriptorRange))
            guard case .descriptorsDiscovered(_, .success(let found))? = events.first else { return }
            descriptors += found
        }

        func check(against layout: SampleLayout) {
            #expect(services.map(\.range) == layout.services.map(\.range))
            #expect(services.map(\.uuid) == layout.services.map(\.uuid))
            #expect(characteristics.map(\.declaration.wire) == layout.characteristics.map(\.declaration))
            #expect(characteristics.map(\.value.wire) == layout.characteristics.map(\.value))
            #expect(characteristics.map(\.end.wire) == layout.characteristics.map(\.end))
            let described = Set(layout.characteristics.flatMap { [$0.declaration, $0.value] })
                .union(layout.services.map(\.range.start.wire))
            #expect(descriptors.map(\.handle.wire) == layout.types.map(\.handle).filter { !described.contains($0) })
        }
    }

    @Test(
        "1 000 attributes are discovered in at most 5 % more than the least number of round trips",
        arguments: Kind.all,
        [23, 517]
    )
    func thousand(kind: Kind, mtu: Int) {
        for seed in 0..<16 as Range<UInt64> {
            let layout = SampleLayout(count: 1000, longTypes: kind.longTypes, gaps: kind.gaps, seed: seed)
            #expect(layout.types.count == 1000)
            let least = DiscoveryOracle(layout: layout, mtu: mtu).leastRoundTrips
            var walk = Walk(layout, mtu: mtu)
            walk.findServices()
            for service in walk.services { _ = walk.findCharacteristics(of: service) }
            for characteristic in walk.characteristics { walk.findDescriptors(of: characteristic) }
            walk.check(against: layout)
            #expect(least <= walk.roundTrips)
            #expect(walk.roundTrips * 100 <= least * 105, "\(walk.roundTrips) round trips instead of \(least)")
        }
    }

    @Test("The numbers of round trips match the table", arguments: Kind.all.indices)
    func numbers(index: Int) {
        // For 23 and for 517 octets: what it takes, and the least that it could.
        let expected = [
            [267, 267, 14, 14], [716, 716, 214, 214], [458, 458, 357, 357], [275, 274, 14, 14], [491, 490, 373, 373],
        ]
        let kind = Kind.all[index]
        let layout = SampleLayout(count: 1000, longTypes: kind.longTypes, gaps: kind.gaps, seed: 0)
        var numbers: [Int] = []
        for mtu in [23, 517] {
            var walk = Walk(layout, mtu: mtu)
            walk.findServices()
            for service in walk.services { _ = walk.findCharacteristics(of: service) }
            for characteristic in walk.characteristics { walk.findDescriptors(of: characteristic) }
            numbers += [walk.roundTrips, DiscoveryOracle(layout: layout, mtu: mtu).leastRoundTrips]
        }
        #expect(numbers == expected[index], "\(kind)")
    }

    @Test(
        "Discovering one service after the other takes the same number of round trips",
        arguments: Kind.all,
        [23, 517]
    )
    func serviceByService(kind: Kind, mtu: Int) {
        let layout = SampleLayout(count: 1000, longTypes: kind.longTypes, gaps: kind.gaps, seed: 7)
        let least = DiscoveryOracle(layout: layout, mtu: mtu).leastRoundTrips
        var walk = Walk(layout, mtu: mtu)
        walk.findServices()
        for service in walk.services {
            for characteristic in walk.findCharacteristics(of: service) { walk.findDescriptors(of: characteristic) }
        }
        walk.check(against: layout)
        #expect(least <= walk.roundTrips)
        #expect(walk.roundTrips * 100 <= least * 105, "\(walk.roundTrips) round trips instead of \(least)")
    }

    @Test("A second discovery asks the peer again")
    func again() {
        let layout = SampleLayout(count: 60, longTypes: 30, gaps: 20, seed: 3)
        var walk = Walk(layout, mtu: 23)
        for _ in 0..<2 {
            let before = walk.roundTrips
            (walk.characteristics, walk.descriptors) = ([], [])
            walk.findServices()
            for service in walk.services { _ = walk.findCharacteristics(of: service) }
            for characteristic in walk.characteristics { walk.findDescriptors(of: characteristic) }
            walk.check(against: layout)
            #expect(walk.roundTrips - before == DiscoveryOracle(layout: layout, mtu: 23).leastRoundTrips)
        }
    }

    @Test(
        "Looking for included services takes one round trip for all services if there are none",
        arguments: [23, 517]
    )
    func includes(mtu: Int) {
        var walk = Walk(SampleLayout(count: 300, longTypes: 0, gaps: 0, seed: 1), mtu: mtu)
        walk.findServices()
        let before = walk.roundTrips
        for service in walk.services {
            let found = walk.pair.ask(.discoverIncludedServices(in: service.range, only: []))
            #expect(found == [.includedServicesDiscovered(in: service.range, .success([]))])
        }
        #expect(walk.roundTrips == before + 1)
    }
}
