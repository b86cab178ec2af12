import BLEWire
import Testing

/// Core 6.0, Vol 3, Part C, 11.
@Suite("Advertising data")
struct AdvertisingDataTests {
    @Test("Structures keep their order and types may repeat")
    func structures() {
        let data = AdvertisingData(decoding: [UInt8](hex: "02 01 06  03 03 0D18  02 01 04  01 2A"))
        #expect(data.structures.map(\.type.wire) == [0x01, 0x03, 0x01, 0x2A])
        #expect(data.structures.map(\.data) == [[0x06], [0x0D, 0x18], [0x04], []])
        #expect(data.data(of: .flags) == [[0x06], [0x04]])
        #expect(data.fault == nil)
    }

    @Test("A length of zero ends the data, whatever follows")
    func earlyEnd() {
        let data = AdvertisingData(decoding: [UInt8](hex: "02 01 06  00  02 0A 04"))
        #expect(data.structures == [.init(.flags, [0x06])])
        #expect(data.fault == nil)
    }

    @Test(
        "A structure that exceeds the data is dropped and reported, and those before it are kept",
        arguments: [
            ("02 01 06  05 09 4162", .overrun(.completeLocalName, offset: 3)),
            ("02 01 06  02 09", .overrun(.completeLocalName, offset: 3)),
            ("02 01 06  01", .overrun(nil, offset: 3)),
            ("02 01 06  FF FF", .overrun(.manufacturerData, offset: 3)),
        ] as [(String, AdvertisingData.Fault)]
    )
    func overrun(hex: String, fault: AdvertisingData.Fault) {
        let data = AdvertisingData(decoding: [UInt8](hex: hex))
        #expect(data.structures == [.init(.flags, [0x06])])
        #expect(data.fault == fault)
    }

    @Test("Empty data has no structures")
    func empty() {
        #expect(AdvertisingData(decoding: []) == AdvertisingData())
    }

    @Test("Data of the maximum extended length decodes whole")
    func extended() {
        let structure = AdvertisingData.Structure(.manufacturerData, [UInt8](repeating: 0x5A, count: 254))
        let data = AdvertisingData(Array(repeating: structure, count: 6) + [.init(.completeLocalName, [0x41])])
        #expect(data.encodedLength == 1539)
        #expect(data.encoded.count == 1539)
        #expect(AdvertisingData(decoding: data.encoded) == data)
    }

    @Test("Every type and length decodes to what was encoded, and can be read without a crash")
    func everyTypeAndLength() {
        for type in UInt8.min...UInt8.max {
            for length in 0...40 {
                let structure = AdvertisingData.Structure(ADType(wire: type), [UInt8](repeating: type, count: length))
                let data = AdvertisingData(decoding: AdvertisingData([structure]).encoded)
                #expect(data.structures == [structure])
                readEverything(of: data)
            }
        }
    }

    @Test(
        "Random octets never crash the decoder, and what decodes encodes to their beginning",
        arguments: UInt64(0)..<16
    )
    func garbage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let octets = (0..<Int(random.next() % 64)).map { _ in
                UInt8(truncatingIfNeeded: random.next()) & (random.next() & 1 == 0 ? 0x1F : 0xFF)
            }
            let data = AdvertisingData(decoding: octets)
            readEverything(of: data)
            #expect(octets.starts(with: data.encoded))
        }
    }

    private func readEverything(of data: AdvertisingData) {
        let texts = [
            data.localName ?? "", "\(data.flags?.rawValue ?? 0)", "\(data.serviceUUIDs)", "\(data.serviceData)",
            "\(data.solicitedServiceUUIDs)", "\(String(describing: data.manufacturerData))",
            "\(String(describing: data.manufacturer))", "\(String(describing: data.appearance))",
            "\(String(describing: data.preferredConnectionIntervals))", "\(data.transmitPower ?? 0)",
        ]
        #expect(texts.allSatisfy { !$0.contains("\0") })
        #expect(data.dissection.fields.flatMap(\.range) == Array(0..<data.encodedLength))
    }

    @Test("A dissection names and explains each structure")
    func dissection() {
        let layer = AdvertisingData(decoding: [UInt8](hex: "02 01 06  05 09 41626364  03 03 0D18  04 FF 4C00 10"))
            .dissection
        #expect(layer.name == "Advertising Data")
        #expect(layer.fields.map(\.range) == [0..<3, 3..<9, 9..<13, 13..<18])
        #expect(layer.fields.map(\.text) == ["06", "Abcd", "180D", "Apple: 10"])
        #expect(
            layer.fields.map(\.name) == [
                "Flags", "Complete Local Name", "Complete List of 16-bit Service UUIDs", "Manufacturer Specific Data",
            ]
        )
    }
}
