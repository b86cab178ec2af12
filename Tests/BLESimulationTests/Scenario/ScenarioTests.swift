import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import FoundationEssentials
import Testing

@Suite("Scenario")
struct ScenarioTests {
    static let text = """
        {
          "seed": 7, "loss": 0.1,
          "machines": [
            {
              "name": "Echo", "position": {"x": 2},
              "services": [
                {"uuid": "FFF0", "characteristics": [
                  {"uuid": "FFF1", "properties": ["read", "write"], "value": "0aFF"},
                  {"uuid": "FFF2", "properties": ["notify"], "notify": {"every": 250, "values": ["00", "0102"]}}
                ]},
                {"uuid": "6c616d70-0000-4c69-6768-740000000001", "advertised": false, "characteristics": [
                  {"uuid": "2A29", "properties": ["read"], "text": "Té"}
                ]}
              ]
            }
          ]
        }
        """

    @Test("A file describes devices and the air")
    func reads() throws {
        let scenario = try Scenario(json: Data(Self.text.utf8))
        #expect(scenario.seed == 7)
        #expect(scenario.conditions.loss == 0.1)
        let expected = SimulatedPeripheral(
            name: "Echo",
            at: .init(x: 2),
            services: [
                .init(
                    "FFF0",
                    [
                        .init("FFF1", [.read, .write], value: [0x0A, 0xFF]),
                        .init("FFF2", [.notify], notifies: .init(every: .milliseconds(250), [[0], [1, 2]])),
                    ]
                ),
                .init(
                    "6c616d70-0000-4c69-6768-740000000001",
                    [.init("2A29", [.read], value: Array("Té".utf8))],
                    isAdvertised: false
                ),
            ]
        )
        #expect(scenario.peripherals == [expected])
    }

    @Test(
        "An invalid file is refused",
        arguments: [
            "", "[]", "{}", #"{"machines": [{}]}"#, #"{"machines": [], "loss": 2}"#,
            #"{"machines": [{"name": "a"}, {"name": "a"}]}"#,
            #"{"machines": [{"name": "a", "services": [{"uuid": "xyz"}]}]}"#,
        ]
    )
    func refuses(text: String) {
        #expect(throws: DecodingError.self) { try Scenario(json: Data(text.utf8)) }
    }

    @Test(
        "An invalid characteristic is refused",
        arguments: [
            #""uuid": "1""#, #""uuid": "2A37", "properties": ["fly"]"#, #""uuid": "2A37", "value": "0""#,
            #""uuid": "2A37", "value": "0g""#, #""uuid": "2A37", "notify": {"every": 0, "values": ["00"]}"#,
            #""uuid": "2A37", "notify": {"every": 1, "values": []}"#, #""uuid": "2A37", "value": "0x0""#,
            #""uuid": "2A37", "value": "00", "text": "x""#, #""uuid": "2A37", "permissions": ["read"]"#,
            #""uuid": "2A37", "permissions": "readable""#,
        ]
    )
    func refusesCharacteristic(text: String) {
        let service = #"{"uuid": "180D", "characteristics": [{\#(text)}]}"#
        let scenario = #"{"machines": [{"name": "a", "services": [\#(service)]}]}"#
        #expect(throws: DecodingError.self) { try Scenario(json: Data(scenario.utf8)) }
    }

    @Test("Octets may be preceded by 0x, or given as text")
    func values() throws {
        func value(_ field: String) throws -> [UInt8]? {
            let scenario = try Scenario(json: Data(Self.characteristic(field).utf8))
            return scenario.peripherals.first?.services.first?.characteristics.first?.value
        }
        #expect(try value(#""value": "0aFF""#) == [0x0A, 0xFF])
        #expect(try value(#""value": "0x0aFF""#) == [0x0A, 0xFF])
        #expect(try value(#""text": "0x0a""#) == Array("0x0a".utf8))
    }

    @Test("An included service must come first, and the error gives its position")
    func parts() throws {
        let services = #"{"uuid": "180F"}, {"uuid": "180A", "includes": ["180f", "1810"]}, {"uuid": "1810"}"#
        let error = #expect(throws: DecodingError.self) {
            try Scenario(json: Data(Self.machine(#""services": [\#(services)]"#).utf8))
        }
        let expected = "the service includes 1810, which must come before it (at machines[0].services[1].includes)"
        #expect(error?.explanation == expected)
    }

    @Test(
        "A device has the address and type that the file says, static by default",
        arguments: [
            (#""address": "C0:ff:EE:00:00:01""#, "C0:FF:EE:00:00:01", .static),
            (#""address": "FF:FF:FF:FF:FF:FE", "addressType": "static""#, "FF:FF:FF:FF:FF:FE", .static),
            (#""address": "00:00:00:00:00:01", "addressType": "public""#, "00:00:00:00:00:01", .public),
        ] as [(String, String, SimulatedPeripheral.Address.Kind)]
    )
    func address(field: String, text: String, kind: SimulatedPeripheral.Address.Kind) throws {
        let address = try Scenario(json: Data(Self.machine(field).utf8)).peripherals.first?.address
        #expect(address == (try .init(text, kind)))
        #expect(address?.description == text && address?.kind == kind)
    }

    @Test(
        "An address that a device cannot have is refused with the reason",
        arguments: [
            (#""address": "C0:FF:EE:00:00""#, "“C0:FF:EE:00:00” is not six pairs"),
            (#""address": "C0FFEE000001""#, "is not six pairs"),
            (#""address": "C0:FF:EE:00:00:0G""#, "is not six pairs"),
            (#""address": "00:1A:7D:DA:71:13""#, "begin with C0 to FF; for a public address, set “addressType”"),
            (#""address": "BF:FF:FF:FF:FF:FF""#, "does not begin with C0 to FF"),
            (#""address": "C0:00:00:00:00:00""#, "is reserved"), (#""address": "FF:FF:FF:FF:FF:FF""#, "is reserved"),
            (#""address": "00:00:00:00:00:00", "addressType": "public""#, "is reserved"),
            (#""address": "C0:FF:EE:00:00:01", "addressType": "resolvable""#, "expected one of public, static"),
            (#""addressType": "public""#, "“addressType” needs an “address”"),
        ]
    )
    func wrongAddress(field: String, reason: String) {
        let error = #expect(throws: DecodingError.self) { try Scenario(json: Data(Self.machine(field).utf8)) }
        #expect(error?.explanation.contains(reason) == true, "\(error?.explanation ?? "")")
        #expect(error?.explanation.contains("at machines[0].address") == true)
    }

    @Test("Two devices with the same address are refused by name; one public and one static address may be alike")
    func sameAddress() throws {
        func world(_ type: String) -> Data {
            let machines = #"{"name": "Lamp", "address": "C0:FF:EE:00:00:01"}, {"name": "Door", "addressType": ""#
            return Data(#"{"machines": [\#(machines)\#(type)", "address": "c0:ff:ee:00:00:01"}]}"#.utf8)
        }
        let error = #expect(throws: DecodingError.self) { try Scenario(json: world("static")) }
        let expected = "“Lamp” and “Door” have the same address, C0:FF:EE:00:00:01 (at machines)"
        #expect(error?.explanation == expected)
        #expect(try Scenario(json: world("public")).peripherals.count == 2)
    }

    private static let huge = ["1e30", "1e300", "1e999", "-1e999", #""1""#, "[]", "true"]

    /// Where a scenario has a number, with what is out of its bounds besides what is huge.
    private static let numbers: [(keys: String, json: String, wrong: [String])] = [
        ("seed", #"{"seed": %, "machines": []}"#, ["-1", "0.5", "18446744073709551616"]),
        ("loss", #"{"loss": %, "machines": []}"#, ["-0.1", "1.1", "99999999999999999999"]),
        ("machines[0].position.x", machine(#""position": {"x": %}"#), ["1000001", "-1e7", "1e308"]),
        ("machines[0].position.y", machine(#""position": {"y": %}"#), ["1000001", "-1e7", "1e308"]),
        ("machines[0].position.z", machine(#""position": {"z": %}"#), ["1000001", "-1e7", "1e308"]),
        (
            "machines[0].services[0].characteristics[0].notify.every",
            characteristic(#""notify": {"every": %, "values": ["00"]}"#),
            ["0", "-1", "0.5", "86400001", "9223372036854775808", "99999999999999999999"]
        ),
    ]

    private static func machine(_ field: String) -> String { #"{"machines": [{"name": "a", \#(field)}]}"# }

    private static func characteristic(_ field: String) -> String {
        machine(#""services": [{"uuid": "180D", "characteristics": [{"uuid": "2A37", \#(field)}]}]"#)
    }

    @Test("Each number out of bounds is refused with its keys", arguments: numbers.indices)
    func bounds(index: Int) {
        let (keys, json, wrong) = Self.numbers[index]
        for number in wrong + Self.huge {
            let error = #expect(throws: DecodingError.self, "\(number)") {
                try Scenario(json: Data(json.replacing("%", with: number).utf8))
            }
            #expect(error?.explanation.hasSuffix(" is expected (at \(keys))") == true, "\(number)")
        }
    }

    @Test(
        "A value has at most 512 octets, wherever it is",
        arguments: [
            (#""value": "%""#, "00", "value"), (#""text": "%""#, "x", "text"),
            (#""notify": {"every": 1, "values": ["00", "%"]}"#, "00", "notify.values"),
        ]
    )
    func lengths(field: String, octet: String, key: String) {
        func read(octets: Int) throws -> Scenario {
            let value = String(repeating: octet, count: octets)
            return try Scenario(json: Data(Self.characteristic(field.replacing("%", with: value)).utf8))
        }
        #expect(throws: Never.self) { try read(octets: 512) }
        let error = #expect(throws: DecodingError.self) { try read(octets: 513) }
        let place = "machines[0].services[0].characteristics[0].\(key)"
        #expect(error?.explanation == "a value has at most 512 octets, but this one has 513 (at \(place))")
    }

    @Test("A device without an app can be found, read, written and subscribed to")
    func lives() async throws {
        let world = try Scenario(json: Data(Self.text.utf8)).makeWorld()
        let visitor = Visitor(on: world.machine("phone"))
        await world.advance(by: .seconds(30))
        #expect(visitor.name == "Echo")
        #expect(visitor.read.first == [0x0A, 0xFF])
        #expect(visitor.read.last == Visitor.written)
        #expect(visitor.notified.prefix(4) == [[0], [1, 2], [0], [1, 2]])
    }

    @Test(
        "The app's machine has a unique name, whatever the devices are called",
        arguments: [
            ([], "phone"), (["Lamp", "Phone"], "phone"), (["phone"], "phone 2"), (["phone 2"], "phone"),
            (["phone 3", "phone", "phone 2"], "phone 4"),
        ] as [([String], String)]
    )
    func appMachine(devices: [String], name: String) {
        #expect(Scenario(peripherals: devices.map { .init(name: $0, services: []) }).appMachine == name)
    }

    @Test("The devices of the demo advertise their names")
    func demo() async {
        let world = Scenario.demo.makeWorld()
        let app = ScanningApp(on: world.machine("phone"))
        await world.advance(by: .seconds(10))
        #expect(app.names == ["Heart Rate", "Lamp", "Thermometer"])
    }
}

/// A central that reads, writes, reads again and subscribes to what the scenario's device has.
final class Visitor: SeamApp, @unchecked Sendable {
    static let written: [UInt8] = [1, 2, 3]

    private(set) var name: String?
    private(set) var read: [[UInt8]] = []
    private(set) var notified: [[UInt8]] = []

    init(on link: any HostLink) {
        super.init()
        start(.central, on: link)
    }

    override func react(to event: ClientEvent) {
        switch event {
        case .stateChanged(.poweredOn): send(.scan(ScanRequest(services: [.short(0xFFF0)])))
        case .discovered(let report) where name == nil:
            name = report.name
            send(.stopScan)
            send(.connect(report.peer, ConnectRequest()))
        case .connected(let peer, _): send(.peer(peer, .discoverServices(only: [.short(0xFFF0)])))
        case .peer(let peer, .servicesDiscovered(.success(let services)), _):
            for service in services { send(.peer(peer, .discoverCharacteristics(in: service.range, only: []))) }
        case .peer(let peer, .characteristicsDiscovered(_, .success(let characteristics)), _):
            use(characteristics, of: peer)
        case .peer(_, .valueRead(_, .success(let value)), _): read.append(value)
        case .peer(_, .valueNotified(_, let value), _): notified.append(value)
        default: break
        }
    }

    private func use(_ characteristics: [DiscoveredCharacteristic], of peer: PeerIdentifier) {
        for characteristic in characteristics {
            if characteristic.uuid == .short(0xFFF1) {
                send(.peer(peer, .read(characteristic.value)))
                send(.peer(peer, .write(characteristic.value, Self.written)))
                send(.peer(peer, .read(characteristic.value)))
            } else {
                let range = AttributeHandleRange(characteristic.value, characteristic.end)?.after(characteristic.value)
                send(.peer(peer, .subscribe(.notifications, to: characteristic.value, in: range)))
            }
        }
    }
}

/// A central that only looks who is there.
final class ScanningApp: SeamApp, @unchecked Sendable {
    init(on link: any HostLink) {
        super.init()
        start(.central, on: link)
    }

    override func react(to event: ClientEvent) {
        if event == .stateChanged(.poweredOn) { send(.scan(ScanRequest())) }
    }

    /// The names that were advertised, in alphabetical order.
    var names: [String] {
        Set(
            events.compactMap { event in
                if case .discovered(let report) = event { report.name } else { nil }
            }
        ).sorted()
    }
}
