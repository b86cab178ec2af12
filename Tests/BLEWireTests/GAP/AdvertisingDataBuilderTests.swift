import BLEWire
import Testing

@Suite("Building advertising data")
struct AdvertisingDataBuilderTests {
    private let long = BluetoothUUID.full(0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)

    @Test("Fields that fit are encoded in the order in which they were added")
    func order() {
        var builder = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength)
        let flags = builder.append(flags: [.generalDiscoverable, .classicNotSupported])
        #expect(flags)
        let left = builder.append(services: [.short(0x180D)])
        #expect(left == [])
        let name = builder.append(localName: "AB")
        #expect(name == .complete)
        let maker = builder.append(manufacturerData: [0x59, 0x00, 0x01])
        #expect(maker)
        let item = builder.append(serviceData: .init(service: .short(0x180F), data: [0x64]))
        #expect(item)
        #expect(
            builder.data.encoded == [UInt8](hex: "02 01 06 03 03 0D18 03 09 4142 04 FF 590001 04 16 0F18 64")
        )
        #expect(builder.room == 31 - builder.data.encodedLength)
    }

    @Test("A UUID is sent in the form it has, even if there is a shorter one")
    func forms() {
        var builder = AdvertisingDataBuilder(capacity: 31)
        let spelled = BluetoothUUID.full(BluetoothUUID.short(0x180D).expanded)
        let left = builder.append(services: [spelled, .medium(0x180F), .short(0x180A)])
        #expect(left == [])
        #expect(
            builder.data.structures.map(\.type) == [
                .completeServiceUUIDs16, .completeServiceUUIDs32, .completeServiceUUIDs128,
            ]
        )
        #expect(builder.data.structures.map(\.data.count) == [2, 4, 16])
    }

    @Test("Services that do not fit are returned in order, and their lists are marked incomplete")
    func overflow() {
        var builder = AdvertisingDataBuilder(capacity: 28)
        let other = BluetoothUUID.full(1)
        let left = builder.append(services: [long, .short(0x180D), other, .short(0x180F)])
        #expect(left == [other])
        #expect(builder.data.structures.map(\.type) == [.completeServiceUUIDs16, .incompleteServiceUUIDs128])
        #expect(builder.data.serviceUUIDs == [.short(0x180D), .short(0x180F), long])
    }

    @Test("The capacity is never exceeded, and no service is lost or duplicated", arguments: 0...40)
    func capacity(_ capacity: Int) {
        let services = [.short(0x180D), long, .short(0x180F), .full(1), .medium(0x1234_5678)] as [BluetoothUUID]
        var builder = AdvertisingDataBuilder(capacity: capacity)
        let left = builder.append(services: services)
        _ = builder.append(localName: "A name")
        #expect(builder.data.encoded.count <= capacity)
        #expect(Set(builder.data.serviceUUIDs).union(left) == Set(services))
        #expect(builder.data.serviceUUIDs.count + left.count == services.count)
    }

    @Test(
        "A name is cut between characters, and omitted if not even one fits",
        arguments: [
            (8, "Naïve", AdvertisingDataBuilder.OnName.complete, "Naïve"),
            (7, "Naïve", .shortened, "Naïv"), (6, "Naïve", .shortened, "Naï"), (5, "Naïve", .shortened, "Na"),
            (2, "Naïve", .omitted, nil), (0, "Naïve", .omitted, nil),
            (10, "👩‍👩‍👧!", .omitted, nil), (21, "👩‍👩‍👧!", .complete, "👩‍👩‍👧!"), (20, "👩‍👩‍👧!", .shortened, "👩‍👩‍👧"),
        ] as [(Int, String, AdvertisingDataBuilder.OnName, String?)]
    )
    func names(capacity: Int, name: String, outcome: AdvertisingDataBuilder.OnName, sent: String?) {
        var builder = AdvertisingDataBuilder(capacity: capacity)
        let name = builder.append(localName: name)
        #expect(name == outcome)
        #expect(builder.data.localName == sent)
        #expect(builder.data.isLocalNameShortened == (outcome == .shortened))
    }

    @Test("A field that does not fit whole is refused and changes nothing")
    func refusal() {
        var builder = AdvertisingDataBuilder(capacity: 6)
        let maker = builder.append(manufacturerData: [0x59, 0x00, 1, 2, 3])
        #expect(!maker)
        let item = builder.append(serviceData: .init(service: .short(0x180F), data: [1, 2, 3]))
        #expect(!item)
        #expect(builder.data == AdvertisingData())
        let secondMaker = builder.append(manufacturerData: [0x59, 0x00, 1, 2])
        #expect(secondMaker)
        let flags = builder.append(flags: [])
        #expect(!flags)
    }

    @Test("A structure never exceeds what its length octet can express")
    func longestStructure() {
        var builder = AdvertisingDataBuilder(capacity: AdvertisingData.maximumExtendedLength)
        let maker = builder.append(manufacturerData: [UInt8](repeating: 0, count: 255))
        #expect(!maker)
        let item = builder.append(serviceData: .init(service: long, data: [UInt8](repeating: 0, count: 239)))
        #expect(!item)
        let services = (UInt16(0)..<200).map(BluetoothUUID.short)
        let left = builder.append(services: services)
        #expect(left == Array(services.dropFirst(127)))
        let name = builder.append(localName: String(repeating: "n", count: 300))
        #expect(name == .shortened)
        #expect(builder.data.localName?.count == 254)
    }
}
