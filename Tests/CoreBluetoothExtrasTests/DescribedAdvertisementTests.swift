import BLESimulation
import BLEWire
import CoreBluetoothExtras
import Testing

/// What a scan hears of a ``SimulatedPeripheral`` is what its description says.
@Suite("Advertisements of simulated devices", .timeLimit(.minutes(30)))
struct DescribedAdvertisementTests {
    /// The last advertisement of each kind that a phone hears in a world with this device alone.
    private func heard(
        _ device: SimulatedPeripheral,
        seed: UInt64,
        until isEnough: @escaping @Sendable (Advertisement) -> Bool
    ) async -> [Advertisement] {
        let bench = ExtrasBench(seed: seed, loss: seed.isMultiple(of: 2) ? 0 : 0.2)
        bench.world.place(device)
        return await bench.run {
            var heard: [Advertisement] = []
            guard (try? await bench.central.poweredOn()) != nil else { return [] }
            for await discovery in bench.central.discoveries(ScanFilter(allowsDuplicates: true)) {
                heard.append(discovery.advertisement)
                if isEnough(discovery.advertisement) || heard.count == 1_000 { break }
            }
            return heard
        }
    }

    /// Checks that a device is heard with these packets and no others.
    private func check(
        _ device: SimulatedPeripheral,
        sends advertisement: [UInt8],
        _ response: [UInt8],
        seed: UInt64
    ) async {
        let heard = await heard(device, seed: seed) { [UInt8]($0.scanResponse) == response }
        #expect(heard.last.map { [UInt8]($0.data) } == advertisement)
        #expect(heard.last.map { [UInt8]($0.scanResponse) } == response)
        #expect(heard.allSatisfy { [UInt8]($0.data) == advertisement && $0.isLegacy != device.isExtended })
        #expect(heard.allSatisfy { $0.scanResponse.isEmpty || [UInt8]($0.scanResponse) == response })
        #expect(heard.allSatisfy { $0.isConnectable == device.isConnectable })
    }

    /// Structures that fill a packet, or do so in part, or octets that are none.
    private static func packet(upTo limit: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let length = Bool.random(using: &random) ? limit : Int.random(in: 0...limit, using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 {
            return (0..<length).map { _ in .random(in: 0...255, using: &random) }
        }
        var octets: [UInt8] = []
        while octets.count < length {
            let left = length - octets.count
            let size =
                left <= 255 && Bool.random(using: &random) ? left : .random(in: 1...min(left, 255), using: &random)
            let types: [UInt8] = [0x01, 0x02, 0x03, 0x07, 0x08, 0x09, 0x0A, 0x16, 0x21, 0xFF]
            octets.append(UInt8(size - 1))
            guard size > 1 else { continue }
            octets.append(types.randomElement(using: &random) ?? 0xFF)
            octets += (2..<size).map { _ in .random(in: 0...255, using: &random) }
        }
        return octets
    }

    /// The device of a file with these keys.
    private static func device(_ keys: [String: Any]) throws -> SimulatedPeripheral {
        let file = try JSONSerialization.data(withJSONObject: keys)
        return try #require(try Scenario(json: file).peripherals.first)
    }

    private static func digits(_ octets: [UInt8]) -> String { octets.hexadecimal }

    @Test("Any two packets of up to 31 octets are received unchanged", arguments: 0..<16 as Range<UInt64>)
    func legacy(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<8 {
            let advertisement = Self.packet(upTo: 31, &random), response = Self.packet(upTo: 31, &random)
            let isConnectable = Bool.random(using: &random)
            let device = try Self.device([
                "name": "Sensor", "connectable": isConnectable, "advertisement": Self.digits(advertisement),
                "scanResponse": Self.digits(response),
            ])
            await check(device, sends: advertisement, response, seed: seed)
        }
    }

    @Test("Any extended advertisement is received unchanged", arguments: 0..<16 as Range<UInt64>)
    func extended(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let kinds: [(isConnectable: Bool, data: Int, response: Int)] = [
            (true, 245, 0), (false, 1_650, 0), (false, 0, 251),
        ]
        for (isConnectable, limit, responseLimit) in kinds {
            let advertisement = Self.packet(upTo: limit, &random)
            let response = Self.packet(upTo: responseLimit, &random)
            let device = try Self.device([
                "name": "Sensor", "extended": true, "connectable": isConnectable,
                "advertisement": Self.digits(advertisement), "scanResponse": Self.digits(response),
            ])
            let heard = await heard(device, seed: seed) {
                [UInt8]($0.data) == advertisement && [UInt8]($0.scanResponse) == response
            }
            #expect(heard.last.map { [UInt8]($0.data) } == advertisement)
            #expect(heard.last.map { [UInt8]($0.scanResponse) } == response)
            #expect(heard.allSatisfy { !$0.isLegacy && $0.isConnectable == isConnectable })
        }
    }

    @Test(
        "Single fields are all received, or the device is refused with a key of the file",
        arguments: 0..<16 as Range<UInt64>
    )
    func fields(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed), accepted = 0, refused = 0
        func octets(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: range, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        }
        while accepted < 6 || refused == 0 {
            let name = String("Some name of a sensor that is long".prefix(.random(in: 1...34, using: &random)))
            var keys: [String: Any] = ["name": name, "manufacturerData": Self.digits(octets(2...32))]
            if Bool.random(using: &random) { keys["flags"] = NSNull() }
            if Bool.random(using: &random) { keys["advertisesName"] = false }
            if Bool.random(using: &random) { keys["transmitPower"] = -4 }
            let data = octets(0...20)
            if Bool.random(using: &random) { keys["serviceData"] = [["uuid": "FFF0", "value": Self.digits(data)]] }
            if Bool.random(using: &random) { keys["services"] = [["uuid": "180F"]] }
            guard let device = try? Self.device(keys) else {
                let file = try JSONSerialization.data(withJSONObject: keys)
                let error = #expect(throws: DecodingError.self) { try Scenario(json: file) }
                guard case .dataCorrupted(let context)? = error else { continue }
                #expect(context.codingPath.last.map { keys[$0.stringValue] } != nil, "\(context)")
                refused += 1
                continue
            }
            guard accepted < 6 else { continue }
            accepted += 1
            let all = await heard(device, seed: seed) { heard in
                heard.scanResponse == Data(device.advertisedOctets?.scanResponse ?? [])
            }
            let types = Dictionary(all.last?.structures.map { ($0.type, Array($0.data)) } ?? []) { $1 }
            #expect(types[0x01] == device.flags.map { [$0] })
            #expect(types[0x09] == (device.advertisesName ? Array(name.utf8) : nil))
            #expect(types[0xFF] == device.manufacturerData)
            #expect(types[0x0A] == device.transmitPower.map { [UInt8(bitPattern: $0)] })
            #expect(types[0x16] == (device.serviceData.isEmpty ? nil : [0xF0, 0xFF] + data))
            #expect(types[0x03] == (device.services.isEmpty ? nil : [0x0F, 0x18]))
        }
        #expect(refused > 0)
    }

    @Test("Manufacturer data that fills a packet is sent in the scan response, with flags and name beside it")
    func wide() async throws {
        let maker = (0..<29).map { UInt8(6 + $0) }
        let device = try Self.device(["name": "Wide", "manufacturerData": Self.digits(maker)])
        let front: [UInt8] = [2, 0x01, 6, 5, 0x09] + Array("Wide".utf8)
        await check(device, sends: front, [30, 0xFF] + maker, seed: 0)
        let bare = try Self.device([
            "name": "Wide", "flags": NSNull(), "advertisesName": false, "manufacturerData": Self.digits(maker),
        ])
        await check(bare, sends: [30, 0xFF] + maker, [], seed: 0)
    }

    /// Descriptions of what cannot be sent, and the keys that are at fault.
    private static let refused: [(keys: String, key: String)] = [
        (#""advertisement": "\#(String(repeating: "00", count: 32))""#, "advertisement"),
        (#""scanResponse": "\#(String(repeating: "00", count: 32))""#, "scanResponse"),
        (#""extended": true, "advertisement": "\#(String(repeating: "00", count: 246))""#, "advertisement"),
        (#""extended": true, "scanResponse": "00""#, "scanResponse"),
        (#""extended": true, "connectable": false, "advertisement": "00", "scanResponse": "00""#, "advertisement"),
        (#""advertisement": "00", "manufacturerData": "060001""#, "manufacturerData"),
        (#""scanResponse": "00", "transmitPower": 4"#, "transmitPower"),
        (#""scanResponse": "00", "flags": null"#, "flags"),
        (#""advertisement": "00", "advertisesName": false"#, "advertisesName"),
        (#""advertisement": "00", "serviceData": [{"uuid": "180F"}]"#, "serviceData"),
        (#""manufacturerData": "06""#, "manufacturerData"),
        (#""manufacturerData": "\#(String(repeating: "00", count: 30))""#, "manufacturerData"),
        (
            #""manufacturerData": "\#(String(repeating: "00", count: 29))", "flags": null, "#
                + #""serviceData": [{"uuid": "180F", "value": "\#(String(repeating: "00", count: 28))"}]"#,
            "serviceData"
        ),
        (#""transmitPower": 4, "services": [{"uuid": "\#(UUID())"}, {"uuid": "\#(UUID())"}]"#, "services"),
    ]

    @Test("Data that cannot be sent is refused by its key", arguments: refused.indices)
    func refusals(index: Int) throws {
        let (keys, key) = Self.refused[index]
        let error = #expect(throws: DecodingError.self) {
            try Scenario(json: Data(#"{"machines": [{"name": "Sensor", \#(keys)}]}"#.utf8))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue).last == key, "\(context.debugDescription)")
    }

    @Test("A description made in code is validated too")
    func inCode() throws {
        var device = SimulatedPeripheral(name: String(repeating: "n", count: 249), services: [])
        #expect((#expect(throws: SimulatedPeripheral.DescriptionError.self) { try device.validate() })?.key == "name")
        device.name = "Sensor"
        try device.validate()
        device.serviceData = [.init("no UUID", [])]
        #expect(
            (#expect(throws: SimulatedPeripheral.DescriptionError.self) { try device.validate() })?.key == "serviceData"
        )
    }
}
