import BLEWire
import Testing

@testable import BLEHost

@Suite("Advertising data budget of an app")
struct AdvertisementBudgetTests {
    private static func short(_ count: Int) -> [BluetoothUUID] {
        (0..<count).map { .short(.init(0x1800 + $0)) }
    }

    private static func long(_ count: Int) -> [BluetoothUUID] {
        (0..<count).map { .full(UInt128(0xA0 + $0) << 120 | 0xAB) }
    }

    @Test(
        "Services come first, in order, as long as they fit",
        arguments: [
            ([], [], []), (short(14), short(14), []), (short(15), short(14), Array(short(15)[14...])),
            (long(2), long(1), Array(long(2)[1...])),
            (long(2) + short(7), long(1) + short(6), [long(2)[1], short(7)[6]]),
        ] as [([BluetoothUUID], [BluetoothUUID], [BluetoothUUID])]
    )
    func services(wanted: [BluetoothUUID], within: [BluetoothUUID], excess: [BluetoothUUID]) {
        let budget = AdvertisementBudget(services: wanted, localName: nil)
        #expect(budget.services == within && budget.excess == excess && budget.name == nil)
    }

    @Test(
        "A name is complete if it fits beside the services, and otherwise shortened to 10 octets",
        arguments: [
            (0, 28, 28), (0, 29, 10), (14, 1, 1), (14, 10, 10), (14, 11, 10), (8, 12, 12), (8, 13, 10),
        ]
    )
    func names(services: Int, length: Int, shown: Int) throws {
        let name = String("1234567890123456789012345678901234567890".prefix(length))
        let field = try #require(AdvertisementBudget(services: Self.short(services), localName: name).name)
        #expect(field.data == Array(name.utf8.prefix(shown)))
        let isWhole = field.type == .completeLocalName
        #expect(isWhole == (shown == length))
    }

    @Test("An empty name is omitted, and no character is cut in two")
    func edges() throws {
        #expect(AdvertisementBudget(services: [], localName: "").name == nil)
        let field = try #require(AdvertisementBudget(services: Self.long(1), localName: "123456789€ and more").name)
        #expect(field.data == Array("123456789".utf8))
    }

    @Test("Further structures are sent unchanged, between the other contents and the name")
    func structures() throws {
        var broadcast = BroadcastRequest()
        broadcast.statedPower = 4
        broadcast.structures = [.init(.appearance, [0xC1, 0x03]), .init(ADType(wire: 0x26), [1])]
        let request = AdvertisingRequest(localName: "Zero", broadcast: broadcast)
        let octets = try #require(request.octets)
        #expect(Array(octets.advertisement) == [2, 1, 6, 2, 10, 4, 3, 0x19, 0xC1, 3, 2, 0x26, 1, 5, 9] + "Zero".utf8)
        broadcast.structures = [.init(ADType(wire: 0x26), [UInt8](repeating: 0, count: 30))]
        #expect(AdvertisingRequest(broadcast: broadcast).error?.field == .structures)
        broadcast.octets = AdvertisementOctets(advertisement: [])
        broadcast.statedPower = nil
        #expect(AdvertisingRequest(broadcast: broadcast).error?.field == .structures)
    }
}
