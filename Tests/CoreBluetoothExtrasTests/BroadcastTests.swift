import BLESimulation
import CoreBluetoothExtras
import Testing

@Suite("Broadcasts beyond Apple's API", .timeLimit(.minutes(30)))
struct BroadcastTests {
    let bench = ExtrasBench()

    /// What a scan hears of an advertisement.
    private func heard(_ advertisement: BroadcastAdvertisement) async throws -> Advertisement {
        try await bench.run {
            try await bench.server.poweredOn()
            try await bench.server.advertise(advertisement)
            #expect(bench.server.isAdvertising)
            return try await bench.discover(ScanFilter()).advertisement
        }
    }

    @Test("Manufacturer data and service data are advertised, followed by the name")
    func legacy() async throws {
        var advertisement = BroadcastAdvertisement()
        advertisement.localName = "A rather long name"
        advertisement.manufacturerData = Data([0x4C, 0x00, 1, 2, 3])
        advertisement.serviceData = [(ExtrasBench.service, Data([9, 8]))]
        advertisement.isConnectable = false
        let heard = try await heard(advertisement)
        #expect(heard.isLegacy && !heard.isConnectable && heard.isScannable)
        #expect(heard.structures.map(\.type) == [0x01, 0x16, 0xFF, 0x09])
        #expect(heard.structures.last?.data == Data("A rather long name".utf8))
        #expect(heard.structures[2].data == Data([0x4C, 0x00, 1, 2, 3]))
    }

    @Test("Fields that do not fit the advertisement are in the scan response, and flags can be omitted")
    func overflow() async throws {
        var advertisement = BroadcastAdvertisement()
        advertisement.localName = "Lamp"
        advertisement.manufacturerData = Data([0x4C, 0x00] + [UInt8](repeating: 7, count: 27))
        let both = try await heard(advertisement)
        #expect(both.structures.map(\.type) == [0x01, 0x09, 0xFF])
        #expect(both.data.count == 9 && both.scanResponse.count == 31)
        let bench = ExtrasBench()
        advertisement.flags = nil
        let bare = try await bench.run {
            try await bench.server.poweredOn()
            try await bench.server.advertise(advertisement)
            return try await bench.discover(ScanFilter()).advertisement
        }
        #expect(bare.structures.map(\.type) == [0xFF, 0x09])
    }

    @Test("Two raw packets are sent unchanged, and cannot be combined with other fields")
    func packets() async throws {
        let bench = ExtrasBench(), packets = (Data([0, 9, 9]), Data([4, 0x09, 0x54]))
        try await bench.run {
            try await bench.server.poweredOn()
            var advertisement = BroadcastAdvertisement()
            advertisement.packets = packets
            advertisement.localName = "Lamp"
            let error = await #expect(throws: CBError.self) { try await bench.server.advertise(advertisement) }
            #expect(error?.code == .invalidParameters)
            advertisement.localName = nil
            try await bench.server.advertise(advertisement)
            let heard = try await bench.discover(ScanFilter()).advertisement
            #expect(heard.data == packets.0 && heard.scanResponse == packets.1)
        }
    }

    @Test("An extended advertisement can hold hundreds of octets", arguments: [40, 230, 254 + 400])
    func extended(length: Int) async throws {
        var advertisement = BroadcastAdvertisement()
        advertisement.isExtended = true
        advertisement.secondaryPhysicalLayer = .le2M
        // An advertisement that takes connections is one packet on the air.
        advertisement.isConnectable = length < 240
        let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        advertisement.manufacturerData = data.prefix(250)
        for start in stride(from: 250, to: length, by: 200) {
            advertisement.serviceData.append((ExtrasBench.service, data[start..<min(start + 200, length)]))
        }
        let heard = try await heard(advertisement)
        #expect(!heard.isLegacy && heard.isConnectable == advertisement.isConnectable)
        #expect(heard.secondaryPhysicalLayer == .le2M)
        #expect(heard.setIdentifier == 0)
        let makers = heard.structures.filter { $0.type == 0xFF }.map(\.data)
        let services = heard.structures.filter { $0.type == 0x16 }.map { $0.data.dropFirst(2) }
        #expect(makers == [data.prefix(250)])
        #expect(services.reduce(Data(), +) == data.dropFirst(250))
    }

    @Test("Data that does not fit is refused, and nothing is advertised")
    func tooLong() async throws {
        try await bench.run {
            try await bench.server.poweredOn()
            var advertisement = BroadcastAdvertisement()
            advertisement.manufacturerData = Data(repeating: 1, count: 40)
            let error = await #expect(throws: CBError.self) { try await bench.server.advertise(advertisement) }
            #expect(error?.code == .invalidParameters)
            #expect(!bench.server.isAdvertising)
        }
    }
}
