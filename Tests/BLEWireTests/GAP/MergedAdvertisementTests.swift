import BLEWire
import Testing

/// Core 6.0, Vol 3, Part C, 11.
@Suite("Advertisements merged with scan responses")
struct MergedAdvertisementTests {
    private func octets(_ advertisement: String, _ response: String = "") -> AdvertisementOctets {
        AdvertisementOctets(advertisement: [UInt8](hex: advertisement), scanResponse: [UInt8](hex: response))
    }

    private func merged(_ advertisement: String, _ response: String) -> MergedAdvertisement {
        MergedAdvertisement(octets(advertisement, response))
    }

    @Test(
        "Names and manufacturer data read in place equal the decoded ones",
        arguments: [
            "", "00", "04 09 414243", "03 08 4142 04 09 414243", "04 09 414243 03 08 4142", "02 01 06 03 08 4142",
            "05 09 4142", "02 01 06 00 03 09 4142", "01 09 03 09 4142", "02 FF 01 04 FF 4C0001", "03 FF 4C00",
            "02 FF 01", "05 09 41420000", "04 09 E2829F", "09", "02 09 00", "03 09 0041 02 08 42",
            "03 FF 4C00 03 FF 5900", "04 FF 4C0002 04 FF 4C0001",
        ]
    )
    func inPlace(text: String) {
        for (advertisement, response) in [(text, ""), ("", text), (text, "04 FF 590033"), ("03 09 5858", text)] {
            let octets = octets(advertisement, response), merged = MergedAdvertisement(octets)
            #expect(octets.localName == merged.localName)
            let makers = merged.structures.data(of: .manufacturerData).filter { $0.count >= 2 }
            #expect(octets.manufacturerRange.map { Array(octets.all[$0]) } == (makers.count == 1 ? makers[0] : nil))
            if makers.count == 1 { #expect(merged.manufacturerData == makers[0]) }
        }
    }

    @Test("Each packet ends on its own, wherever the other one begins", arguments: 0..<16 as Range<UInt64>)
    func apart(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func packet() -> [UInt8] {
            (0..<Int.random(in: 0...31, using: &random)).map { _ in
                UInt8.random(in: 0...(Bool.random(using: &random) ? 9 : 255), using: &random)
            }
        }
        for _ in 0..<500 {
            let advertisement = packet(), response = packet()
            let octets = AdvertisementOctets(advertisement: advertisement, scanResponse: response)
            #expect(Array(octets.advertisement) == advertisement && Array(octets.scanResponse) == response)
            #expect(AdvertisementOctets(all: octets.all, advertisementLength: advertisement.count) == octets)
            let merged = MergedAdvertisement(octets)
            let structures = [advertisement, response].flatMap { AdvertisingData(decoding: $0).structures }
            #expect(merged.structures.structures == structures)
            #expect(octets.localName == merged.localName)
        }
    }

    @Test("An advertisement length greater than both packets is refused")
    func impossible() {
        #expect(AdvertisementOctets(all: [1, 2], advertisementLength: 3) == nil)
        #expect(AdvertisementOctets(all: [1, 2], advertisementLength: -1) == nil)
    }

    @Test(
        "Manufacturer data of one company is joined, and of two companies the advertisement's is used",
        arguments: [
            ("04 FF 4C0001", "04 FF 4C0002", "4C00 01 02"), ("04 FF 4C0001", "04 FF 4C0101", "4C00 01"),
            ("03 FF 4C00", "03 FF 4C00", "4C00"), ("02 FF 4C", "04 FF 590003", "5900 03"),
            ("04 FF 4C0001", "02 FF 4C", "4C00 01"), ("04 FF 4C0001 04 FF 590002", "04 FF 590003", "4C00 01"),
        ]
    )
    func manufacturers(advertisement: String, response: String, expected: String) {
        #expect(merged(advertisement, response).manufacturerData == [UInt8](hex: expected))
    }

    @Test("Services are listed once, and the last service data and the first power are used")
    func lists() {
        let both = merged(
            "03 03 0D18 03 14 1218 04 16 0F18 01 01 0A",
            "09 02 0F18 0D18 0A18 0F18 05 14 1218 1318 02 0A 04 03 16 0A18 04 16 0F18 02 02 0A 08"
        )
        #expect(both.serviceUUIDs == [.short(0x180D), .short(0x180F), .short(0x180A)])
        #expect(both.solicitedServiceUUIDs == [.short(0x1812), .short(0x1813)])
        #expect(
            both.serviceData == [
                .init(service: .short(0x180F), data: [2]), .init(service: .short(0x180A), data: []),
            ]
        )
        #expect(both.transmitPower == 4)
    }
}
