import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Discovery filters")
struct DiscoveryFilterTests {
    private static func report(rssi: Int8, name: String?, octets: [UInt8] = []) -> AdvertisementReport {
        AdvertisementReport(
            peer: PeerIdentifier(rawValue: 1),
            address: DeviceAddress(0xC0FF_EE00_0001, .random),
            isConnectable: true,
            rssi: RSSI(dBm: rssi),
            octets: AdvertisementOctets(advertisement: octets),
            name: name
        )
    }

    /// The heart rate service, and a transmit power of 0 dBm.
    private static let octets: [UInt8] = [3, 3, 0x0D, 0x18, 2, 0x0A, 0]

    private static let cases: [(filter: [(String, BusValue)], rssi: Int8, isAdmitted: Bool)] = [
        ([], -90, true),
        ([("Transport", .string("le"))], -90, true),
        ([("RSSI", .int16(-60))], -60, true),
        ([("RSSI", .int16(-60))], -61, false),
        ([("Pathloss", .uint16(60))], -60, true),
        ([("Pathloss", .uint16(60))], -61, false),
        ([("UUIDs", .strings(["180d"]))], -50, true),
        ([("UUIDs", .strings(["0000180d-0000-1000-8000-00805f9b34fb"]))], -50, true),
        ([("UUIDs", .strings(["180f"]))], -50, false),
        ([("UUIDs", .strings(["180f", "180d"])), ("RSSI", .int16(-60))], -70, false),
        ([("Pattern", .string("Lam"))], -50, true),
        ([("Pattern", .string("C0:FF"))], -50, true),
        ([("Pattern", .string("amp"))], -50, false),
    ]

    @Test("A device passes a filter if it meets every condition", arguments: cases)
    func admits(filter: [(String, BusValue)], rssi: Int8, isAdmitted: Bool) throws {
        let filter = try DiscoveryFilter(.properties(filter))
        let report = Self.report(rssi: rssi, name: "Lamp", octets: Self.octets)
        #expect(filter.admits(report) == isAdmitted)
    }

    private static let everyMistake: [([(String, BusValue)], BlueZError)] = [
        ([("Transport", .string("bredr"))], .notSupported),
        ([("Transport", .string("x"))], .invalidArguments),
        ([("RSSI", .string("x"))], .invalidArguments),
        ([("RSSI", .int16(-60)), ("Pathloss", .uint16(1))], .invalidArguments),
        ([("UUIDs", .strings(["x"]))], .invalidArguments),
        ([("UUIDs", .strings(Array(repeating: "180d", count: DiscoveryFilter.serviceLimit + 1)))], .invalidArguments),
        ([("Unknown", .boolean(true))], .invalidArguments),
    ]

    @Test("A filter that cannot be evaluated is refused", arguments: everyMistake)
    func mistakes(filter: [(String, BusValue)], error: BlueZError) {
        #expect(throws: error) { try DiscoveryFilter(.properties(filter)) }
    }

    @Test("A filter that is not a dictionary is refused")
    func noDictionary() {
        #expect(throws: BlueZError.invalidArguments) { try DiscoveryFilter(nil) }
        #expect(throws: BlueZError.invalidArguments) { try DiscoveryFilter(.string("x")) }
    }
}
