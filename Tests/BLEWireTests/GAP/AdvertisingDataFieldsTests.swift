import BLEWire
import Testing

/// Core Specification Supplement 11, Part A.
@Suite("Fields of advertising data")
struct AdvertisingDataFieldsTests {
    private func data(_ hex: String) -> AdvertisingData { AdvertisingData(decoding: [UInt8](hex: hex)) }

    @Test("Fields that were not sent are absent")
    func absent() {
        let none = data("")
        #expect(none.flags == nil)
        #expect(none.localName == nil)
        #expect(!none.isLocalNameShortened)
        #expect(none.serviceUUIDs.isEmpty)
        #expect(none.solicitedServiceUUIDs.isEmpty)
        #expect(none.serviceData.isEmpty)
        #expect(none.manufacturerData == nil)
        #expect(none.manufacturer == nil)
        #expect(none.transmitPower == nil)
        #expect(none.appearance == nil)
        #expect(none.preferredConnectionIntervals == nil)
    }

    @Test("Flags are the first octet's bits, and absent without one")
    func flags() {
        #expect(data("02 01 06").flags == [.generalDiscoverable, .classicNotSupported])
        #expect(data("03 01 01FF").flags == .limitedDiscoverable)
        #expect(data("01 01").flags == nil)
    }

    @Test("All service lists form one list, in order, with each service once")
    func services() {
        let lists = data(
            """
            05 02 0D180F18 03 03 0A18 03 02 0D18 05 05 78563412 05 04 0D180000 \
            11 07 0F0E0D0C0B0A09080706050403020100
            """
        )
        let long = BluetoothUUID.full(0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)
        #expect(
            lists.serviceUUIDs == [.short(0x180D), .short(0x180F), .short(0x180A), .medium(0x1234_5678), long]
        )
        #expect(lists.solicitedServiceUUIDs.isEmpty)
    }

    @Test("A list whose last UUID is truncated keeps those before it")
    func cutService() {
        #expect(data("04 03 0D180F").serviceUUIDs == [.short(0x180D)])
        #expect(data("02 03 0D").serviceUUIDs.isEmpty)
        #expect(data("10 07 0F0E0D0C0B0A090807060504030201").serviceUUIDs.isEmpty)
    }

    @Test("Solicited services form their own list, in all three lengths")
    func solicitation() {
        let solicited = data("03 14 0D18 05 1F 78563412 11 15 0F0E0D0C0B0A09080706050403020100 03 03 0A18")
        let long = BluetoothUUID.full(0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)
        #expect(solicited.solicitedServiceUUIDs == [.short(0x180D), .medium(0x1234_5678), long])
        #expect(solicited.serviceUUIDs == [.short(0x180A)])
    }

    @Test("A complete name takes precedence over a shortened one in either order, unless it is empty")
    func names() {
        for empty in ["01 09", "02 09 00", "03 09 0041"] {
            let name = data(empty + "03 08 4142")
            #expect(name.localName == "AB" && name.isLocalNameShortened)
        }
        let both = data("03 08 4142 04 09 414243")
        #expect(both.localName == "ABC")
        #expect(!both.isLocalNameShortened)
        let short = data("03 08 4142")
        #expect(short.localName == "AB")
        #expect(short.isLocalNameShortened)
    }

    @Test("Invalid UTF-8 in a name is repaired, and trailing zeros are removed")
    func brokenNames() {
        #expect(data("04 09 41FF42").localName == "A\u{FFFD}B")
        #expect(data("03 09 41C3").localName == "A\u{FFFD}")
        #expect(data("05 09 41420000").localName == "AB")
        #expect(data("01 09").localName == nil && !data("01 09").isLocalNameShortened)
        #expect(data("04 09 E2829F").localName == "₟")
    }

    @Test("The transmit power is signed")
    func transmitPower() {
        #expect(data("02 0A F4").transmitPower == -12)
        #expect(data("02 0A 7F").transmitPower == 127)
        #expect(data("01 0A").transmitPower == nil)
        #expect(data("01 0A 02 0A 04 02 0A 05").transmitPower == 4)
    }

    @Test("The first manufacturer data long enough for a company identifier is used")
    func manufacturer() {
        let several = data("02 FF 4C 04 FF 5900 AA 03 FF 4C00")
        #expect(several.manufacturerData == [0x59, 0x00, 0xAA])
        #expect(several.manufacturer == CompanyIdentifier(wire: 0x0059))
        #expect(data("02 FF 4C").manufacturerData == nil)
    }

    @Test("Service data keeps its order, and entries without a whole UUID are dropped")
    func serviceData() {
        let several = data("04 16 0F18 64 05 20 78563412 03 16 0A18 02 16 0F 04 16 0F18 63")
        #expect(
            several.serviceData == [
                .init(service: .short(0x180F), data: [0x64]), .init(service: .medium(0x1234_5678), data: []),
                .init(service: .short(0x180A), data: []), .init(service: .short(0x180F), data: [0x63]),
            ]
        )
        let long = data("12 21 0F0E0D0C0B0A09080706050403020100 AA").serviceData
        #expect(long == [.init(service: .full(0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F), data: [0xAA])])
    }

    @Test("An appearance consists of a category and a subcategory")
    func appearance() {
        let watch = data("03 19 C100").appearance
        #expect(watch?.category == 3)
        #expect(watch?.subcategory == 1)
        #expect(watch?.description == "Watch (1)")
        #expect(data("03 19 FFFF").appearance?.description == "0xFFFF")
        #expect(data("02 19 C1").appearance == nil)
        #expect(data("04 19 C10000").appearance == nil)
    }

    @Test("Preferred connection intervals may be open at either end")
    func preferredIntervals() {
        let both = data("05 12 0600 800C").preferredConnectionIntervals
        #expect(both?.minimum?.wire == 6)
        #expect(both?.maximum?.wire == 0x0C80)
        let open = data("05 12 FFFF FFFF").preferredConnectionIntervals
        #expect(open == PreferredConnectionIntervals(minimum: nil, maximum: nil))
        #expect(data("04 12 0600 80").preferredConnectionIntervals == nil)
    }
}
