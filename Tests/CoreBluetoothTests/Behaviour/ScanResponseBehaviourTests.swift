import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of scan responses")
struct ScanResponseBehaviourTests {
    /// Two packets, and the value that an app finds under one key.
    struct Case: Sendable, CustomTestStringConvertible {
        let advertisement: [UInt8], response: [UInt8]
        let name: String?
        var services: [String] = []
        var solicited: [String] = []
        var power: Int?
        var manufacturer: [UInt8]?
        var serviceData: [String: [UInt8]] = [:]

        var testDescription: String { "\(advertisement) then \(response)" }
    }

    private static let lamp: [UInt8] = [5, 0x09, 0x4C, 0x61, 0x6D, 0x70]

    /// Checks what an app sees of a device that sends these packets.
    private func check(_ given: Case, seed: UInt64) async {
        let bench = WorldBench(seed: seed)
        await bench.wait()
        Beacon(in: bench.world).advertise(given.advertisement, response: given.response)
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait()
        #expect(bench.app.advertisements.count == 1)
        guard let found = bench.app.advertisements.last else { return }
        #expect(found[CBAdvertisementDataLocalNameKey] as? String == given.name)
        #expect(bench.app.peripherals.last?.name == given.name)
        let services = found[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        #expect(services.map(\.uuidString) == given.services)
        let solicited = found[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        #expect(solicited.map(\.uuidString) == given.solicited)
        #expect(found[CBAdvertisementDataTxPowerLevelKey] as? Int == given.power)
        #expect(found[CBAdvertisementDataManufacturerDataKey] as? Data == given.manufacturer.map { Data($0) })
        let data = found[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        #expect(Dictionary(uniqueKeysWithValues: data.map { ($0.uuidString, Array($1)) }) == given.serviceData)
    }

    @Test(
        "A zero or excessive length in one packet leaves the other packet intact",
        .behaviour("4.3.6"),
        arguments: [
            Case(advertisement: [0], response: lamp, name: "Lamp"),
            Case(advertisement: [5], response: lamp, name: "Lamp"),
            Case(advertisement: [2, 0x01, 6, 0, 0, 0], response: lamp, name: "Lamp"),
            Case(advertisement: [2, 0x01, 6, 9, 0x03, 0x0D], response: lamp, name: "Lamp"),
            Case(advertisement: [], response: lamp, name: "Lamp"),
            Case(advertisement: lamp, response: [0], name: "Lamp"),
            Case(advertisement: lamp, response: [3, 0x03], name: "Lamp"),
        ],
        UInt64(0)..<16
    )
    func ended(given: Case, seed: UInt64) async { await check(given, seed: seed) }

    @Test(
        "A complete name takes precedence over a shortened one, and any name over an empty one",
        .behaviour("4.3.7"),
        arguments: [
            Case(advertisement: [2, 0x01, 6, 1, 0x09], response: lamp, name: "Lamp"),
            Case(advertisement: [3, 0x09, 0, 0], response: [3, 0x08, 0x4C, 0x61], name: "La"),
            Case(advertisement: [1, 0x09, 3, 0x08, 0x4C, 0x61], response: [], name: "La"),
            Case(advertisement: [3, 0x08, 0x4C, 0x61], response: lamp, name: "Lamp"),
            Case(advertisement: lamp, response: [3, 0x08, 0x4C, 0x61], name: "Lamp"),
            Case(advertisement: lamp, response: [3, 0x09, 0x54, 0x56], name: "Lamp"),
            Case(advertisement: lamp, response: [1, 0x09], name: "Lamp"),
            Case(advertisement: [1, 0x09], response: [1, 0x08], name: nil),
        ],
        UInt64(0)..<16
    )
    func names(given: Case, seed: UInt64) async { await check(given, seed: seed) }

    @Test(
        "Manufacturer data of one company is joined, and of two companies the advertisement's is used",
        .behaviour("4.3.8"),
        arguments: [
            Case(
                advertisement: [5, 0xFF, 0x4C, 0, 1, 2],
                response: [5, 0xFF, 0x4C, 0, 3, 4],
                name: nil,
                manufacturer: [0x4C, 0, 1, 2, 3, 4]
            ),
            Case(
                advertisement: [5, 0xFF, 0x4C, 0, 1, 2],
                response: [5, 0xFF, 0x59, 0, 3, 4],
                name: nil,
                manufacturer: [0x4C, 0, 1, 2]
            ),
            Case(
                advertisement: [2, 0x01, 6],
                response: [4, 0xFF, 0x59, 0, 3],
                name: nil,
                manufacturer: [0x59, 0, 3]
            ),
            Case(
                advertisement: [2, 0xFF, 1],
                response: [4, 0xFF, 0x59, 0, 3],
                name: nil,
                manufacturer: [0x59, 0, 3]
            ),
            Case(advertisement: [3, 0xFF, 0x59, 0], response: [2, 0xFF, 1], name: nil, manufacturer: [0x59, 0]),
        ],
        UInt64(0)..<16
    )
    func manufacturers(given: Case, seed: UInt64) async { await check(given, seed: seed) }

    @Test(
        "Service lists are joined, and the last service data and the first power are used",
        .behaviour("4.3.9"),
        arguments: [
            Case(
                advertisement: [3, 0x02, 0x0D, 0x18, 3, 0x14, 0x12, 0x18],
                response: [5, 0x03, 0x0F, 0x18, 0x0D, 0x18, 5, 0x14, 0x12, 0x18, 0x13, 0x18],
                name: nil,
                services: ["180D", "180F"],
                solicited: ["1812", "1813"]
            ),
            Case(
                advertisement: [4, 0x16, 0x0F, 0x18, 1, 2, 0x0A, 4],
                response: [2, 0x0A, 8, 4, 0x16, 0x0F, 0x18, 2, 3, 0x16, 0x0D, 0x18],
                name: nil,
                power: 4,
                serviceData: ["180F": [2], "180D": []]
            ),
            Case(advertisement: [1, 0x0A], response: [2, 0x0A, 8], name: nil, power: 8),
        ],
        UInt64(0)..<16
    )
    func lists(given: Case, seed: UInt64) async { await check(given, seed: seed) }

    @Test(
        "A service filter matches the advertisement and the scan response, each parsed separately",
        .behaviour("4.3.10"),
        arguments: [
            ([2, 0x01, 6, 0], [3, 0x03, 0xB2, 0xB1], 1),
            ([3, 0x03, 0xB2, 0xB1], [9], 1),
            ([5], [5, 0x09, 0xB2, 0xB1, 0x6D, 0x70], 0),
            ([3], [0x03, 0xB2, 0xB1], 0),
        ] as [([UInt8], [UInt8], Int)],
        UInt64(0)..<16
    )
    func filter(packets: ([UInt8], [UInt8], Int), seed: UInt64) async {
        let bench = WorldBench(seed: seed)
        await bench.wait()
        Beacon(in: bench.world).advertise(packets.0, response: packets.1)
        bench.central.scanForPeripherals(withServices: [CBUUID(string: "B1B2")])
        await bench.wait()
        #expect(bench.app.advertisements.count == packets.2)
    }
}
