import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Discovery")
struct DiscoveryTests {
    @Test("Discovery is counted by program: it ends with the last one")
    func counted() {
        var bus = TestBridge()
        for client in [":1.1", ":1.3"] {
            #expect(bus.result(client, TestBridge.adapter, BlueZ.adapter, "StartDiscovery") == .done)
        }
        let again = bus.result(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        #expect(again == .failed(.inProgress))
        #expect(bus.result(":1.1", TestBridge.adapter, BlueZ.adapter, "StopDiscovery") == .done)
        #expect(bus.property("Discovering", of: BlueZ.adapter, at: TestBridge.adapter) == .boolean(true))
        #expect(bus.result(":1.1", TestBridge.adapter, BlueZ.adapter, "StopDiscovery") == .failed(.noDiscovery))
        bus.leave(":1.3")
        #expect(bus.property("Discovering", of: BlueZ.adapter, at: TestBridge.adapter) == .boolean(false))
        #expect(bus.requests.filter { $0.request == .stopScan }.map(\.key.client) == [":1.1", ":1.3"])
    }

    @Test("Each program scans in a session of its own, with its own filter")
    func ownFilter() throws {
        var bus = TestBridge()
        let filter = BusValue.properties([("UUIDs", .strings(["180d"])), ("RSSI", .int16(-70))])
        #expect(bus.result(":1.1", TestBridge.adapter, BlueZ.adapter, "SetDiscoveryFilter", [filter]) == .done)
        for client in [":1.1", ":1.3"] { bus.call(client, TestBridge.adapter, BlueZ.adapter, "StartDiscovery") }
        let opened = bus.actions.compactMap { if case .open(let key, let who) = $0 { (key, who) } else { nil } }
        #expect(opened.map(\.0.client) == [":1.1", ":1.3"])
        #expect(opened.map(\.1?.user) == [1_000, 2_000])
        #expect(opened.map(\.1?.process) == [49, 51])
        let scans = bus.requests.compactMap { if case .scan(let scan, _) = $0.request { scan } else { nil } }
        #expect(scans.map(\.services) == [[.short(0x180D)], []])
        #expect(scans.map(\.minimumRSSI) == [-70, nil])
        bus.event(TestBridge.report(), of: .init(":1.1", .central))
        #expect(bus.bridge.devices.isEmpty, "the advertisement does not pass the filter")
        bus.event(TestBridge.report(), of: .init(":1.3", .central))
        #expect(bus.bridge.devices.count == 1)
    }

    @Test("A program that the policy does not allow to scan is refused")
    func unauthorized() {
        var bus = TestBridge()
        bus.unauthorized = [2_000]
        let result = bus.result(":1.3", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        #expect(result == .failed(.notAuthorized))
        #expect(bus.property("Discovering", of: BlueZ.adapter, at: TestBridge.adapter) == .boolean(false))
        let again = bus.result(":1.3", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        #expect(again == .failed(.notAuthorized))
    }

    @Test("Without power there is no discovery")
    func notReady() {
        var bus = TestBridge(isPowered: false)
        let result = bus.result(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        #expect(result == .failed(.notReady))
    }

    @Test(
        "The icon of a device follows from its appearance",
        arguments: [
            (0x0000, "unknown"), (0x0041, "phone"), (0x0340, "heart-rate-sensor"), (0x03C1, "input-keyboard"),
            (0x03C4, "input-gaming"), (0x03C0, nil), (0x0540, nil),
        ] as [(UInt16, String?)]
    )
    func icon(appearance: UInt16, icon: String?) {
        var bus = TestBridge()
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        let octets: [UInt8] = [2, 1, 6, 3, 0x19, UInt8(appearance & 0xFF), UInt8(appearance >> 8)]
        bus.event(TestBridge.report(octets: octets), of: .init(":1.1", .central))
        #expect(bus.property("Appearance", of: BlueZ.device, at: TestBridge.lampPath) == .uint16(appearance))
        #expect(bus.property("Icon", of: BlueZ.device, at: TestBridge.lampPath) == icon.map { .string($0) })
    }

    @Test("A new device is one signal with all its properties")
    func added() throws {
        var bus = TestBridge()
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        bus.forget()
        let octets: [UInt8] = [2, 1, 6, 3, 3, 0x0D, 0x18, 4, 0xFF, 0x4C, 0, 7]
        bus.event(TestBridge.report(octets: octets), of: .init(":1.1", .central))
        #expect(bus.signals("PropertiesChanged").isEmpty)
        let signal = try #require(bus.signals("InterfacesAdded").first)
        #expect(signal.path == "/" && signal.body.first == .path(TestBridge.lampPath))
        let device = try #require(signal.body.last?[key: BlueZ.device])
        #expect(device[key: "Address"] == .string("C0:FF:EE:00:00:01"))
        #expect(device[key: "AddressType"] == .string("random"))
        #expect(device[key: "Name"] == .string("Lamp") && device[key: "Alias"] == .string("Lamp"))
        #expect(device[key: "RSSI"] == .int16(-50))
        #expect(device[key: "UUIDs"] == .strings(["0000180d-0000-1000-8000-00805f9b34fb"]))
        #expect(device[key: "ManufacturerData"]?.entries?.first?.key == .uint16(0x4C))
        #expect(device[key: "AdvertisingFlags"] == .octets([6]))
        #expect(device[key: "Adapter"] == .path(TestBridge.adapter))
    }

    @Test("A thousand advertisements within 50 ms are one signal for each device, with the latest values")
    func collected() throws {
        var bus = TestBridge()
        bus.discover()
        bus.forget()
        for count in 0..<1_000 {
            bus.event(TestBridge.report(rssi: Int8(-100 + count % 40)), of: .init(":1.1", .central))
        }
        #expect(bus.actions == [])
        #expect(bus.bridge.reports.count == 1)
        let end = bus.now + BlueZBridge.reportPeriod
        bus.pass(.milliseconds(50) - .nanoseconds(1))
        #expect(bus.actions == [])
        bus.pass(.nanoseconds(1))
        #expect(bus.now == end)
        let signals = bus.signals("PropertiesChanged")
        #expect(signals.map(\.path) == [TestBridge.lampPath])
        #expect(signals.first?.body[1][key: "RSSI"] == .int16(-61))
    }

    private static let strengths: [(filter: [(String, BusValue)], rssi: Int8, after: Duration, isSignalled: Bool)] = [
        ([], -57, .milliseconds(1), false), ([], -43, .milliseconds(1), false), ([], -58, .milliseconds(1), true),
        ([], -42, .milliseconds(1), true), ([], -50, .milliseconds(949), false), ([], -50, .milliseconds(950), true),
        ([("RSSI", .int16(-90))], -51, .milliseconds(1), true),
        ([("Pathloss", .uint16(90))], -51, .milliseconds(1), true),
        ([("DuplicateData", .boolean(true))], -50, .milliseconds(1), true),
    ]

    @Test(
        "A signal strength that has changed by 8 dB is signalled at once, other ones once a second, unless asked for",
        arguments: strengths
    )
    func strengthChanges(filter: [(String, BusValue)], rssi: Int8, after: Duration, isSignalled: Bool) {
        var bus = TestBridge()
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "SetDiscoveryFilter", [.properties(filter)])
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        // The transmit power is 0 dBm.
        let octets: [UInt8] = [2, 0x0A, 0]
        bus.event(TestBridge.report(octets: octets), of: .init(":1.1", .central))
        bus.pass(after)
        bus.forget()
        bus.event(TestBridge.report(rssi: rssi, octets: octets), of: .init(":1.1", .central))
        bus.pass(BlueZBridge.reportPeriod)
        let expected: [BusValue?] = isSignalled ? [.int16(Int16(rssi))] : []
        #expect(bus.signals("PropertiesChanged").map { $0.body[1][key: "RSSI"] } == expected)
    }

    @Test("While the bus does not accept messages, advertisements wait, one for each device")
    func congested() {
        var bus = TestBridge()
        bus.discover()
        bus.forget()
        bus.bridge.isCongested = true
        for _ in 0..<100 {
            bus.event(TestBridge.report(), of: .init(":1.1", .central))
            bus.pass(.milliseconds(50))
        }
        #expect(bus.actions == [])
        #expect(bus.bridge.reports.count == 1)
        bus.bridge.isCongested = false
        bus.pass(.milliseconds(50))
        #expect(bus.signals("PropertiesChanged").count == 1)
    }

    @Test("A signal strength is known only during discovery")
    func strength() {
        var bus = TestBridge()
        bus.discover()
        #expect(bus.property("RSSI", of: BlueZ.device, at: TestBridge.lampPath) == .int16(-50))
        bus.forget()
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StopDiscovery")
        let changes = bus.signals("PropertiesChanged").filter { $0.path == TestBridge.lampPath }
        #expect(changes.map { $0.body[2] } == [.strings(["RSSI"])])
        #expect(bus.property("RSSI", of: BlueZ.device, at: TestBridge.lampPath) == nil)
    }

    @Test("A device that was not received for 180 s is removed after discovery, and not before")
    func removed() {
        var bus = TestBridge()
        bus.discover()
        bus.pass(.seconds(1_000))
        #expect(bus.bridge.devices.count == 1)
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StopDiscovery")
        bus.pass(BlueZBridge.deviceLifetime - .nanoseconds(1))
        #expect(bus.bridge.devices.count == 1)
        bus.pass(.nanoseconds(1))
        #expect(bus.bridge.devices.isEmpty)
        #expect(bus.signals("InterfacesRemoved").first?.body.first == .path(TestBridge.lampPath))
    }

    @Test("A program that may not see addresses discovers nothing")
    func addresses() {
        var bus = TestBridge()
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        bus.event(TestBridge.report(TestBridge.lamp, .none), of: .init(":1.1", .central))
        #expect(bus.bridge.devices.isEmpty)
    }

    private static let monitorProperties: [(String, BusValue)] = [
        ("Type", .string("or_patterns")), ("RSSILowTimeout", .uint16(10)),
        ("Patterns", .array(of: pattern.type, [pattern])),
    ]
    private static let monitor = BusValue.properties(monitorProperties)
    private static let pattern = BusValue.structure([.byte(0), .byte(0xFF), .octets([0x4C, 0])])
    private static let interfaces = object(monitor)

    /// The interfaces of an object with these properties of `AdvertisementMonitor1`.
    private static func object(_ monitor: BusValue) -> BusValue {
        .array(of: .entry(.string, monitor.type), [.entry(.string(BlueZ.monitor), monitor)])
    }

    /// Registers a program's monitors, and answers with the objects that it has by then.
    private func registered(_ objects: [BusValue]) throws -> TestBridge {
        var bus = TestBridge()
        #expect(bus.result(":1.1", TestBridge.adapter, BlueZ.monitors, "RegisterMonitor", [.path("/app")]) == .done)
        let number = try #require(bus.calls.last { $0.message.member == "GetManagedObjects" }?.number)
        bus.reply(number, .values([.array(of: .entry(.path, Self.interfaces.type), objects)], from: ":1.1"))
        return bus
    }

    private func matches(_ bus: TestBridge, _ member: String) -> Int {
        bus.calls.count {
            $0.message.member == member && $0.message.body.first?.text?.contains("ObjectManager") == true
        }
    }

    @Test("A monitor finds a device with its pattern once, and loses it after its time")
    func monitor() throws {
        var bus = try registered([.entry(.path("/app/m"), Self.interfaces)])
        #expect(bus.calls.last?.message.member == "Activate")
        bus.forget()
        for _ in 0..<3 { bus.event(TestBridge.report(octets: [4, 0xFF, 0x4C, 0, 7]), of: .init(":1.1", .central)) }
        bus.event(TestBridge.report(.init(rawValue: 2), .init(2, .public)), of: .init(":1.1", .central))
        #expect(bus.calls.map(\.message.member) == ["DeviceFound"])
        #expect(bus.calls.first?.message.body == [.path(TestBridge.lampPath)])
        bus.pass(.seconds(10) - .nanoseconds(1))
        #expect(bus.calls.count == 1)
        bus.pass(.nanoseconds(1))
        #expect(bus.calls.map(\.message.member) == ["DeviceFound", "DeviceLost"])
    }

    private static let everyThreshold: [(high: BusValue, low: BusValue, lowTimeout: BusValue, isValid: Bool)] = [
        (.int16(-50), .int16(-70), .uint16(1), true), (.int16(-50), .int16(-50), .uint16(300), true),
        (.int16(127), .int16(127), .uint16(0), true), (.int16(127), .int16(-70), .uint16(1), true),
        (.int16(-50), .int16(-49), .uint16(1), false), (.int16(21), .int16(-70), .uint16(1), false),
        (.int16(-50), .int16(-128), .uint16(1), false), (.int16(-50), .int16(-70), .uint16(301), false),
        (.string("near"), .int16(-70), .uint16(1), false), (.int16(-50), .int16(-70), .int16(1), false),
    ]

    @Test("A monitor with invalid signal strengths or times is released", arguments: everyThreshold)
    func thresholds(high: BusValue, low: BusValue, lowTimeout: BusValue, isValid: Bool) throws {
        let properties =
            Self.monitorProperties.filter { $0.0 != "RSSILowTimeout" } + [
                ("RSSIHighThreshold", high), ("RSSILowThreshold", low), ("RSSILowTimeout", lowTimeout),
            ]
        let bus = try registered([.entry(.path("/app/m"), Self.object(.properties(properties)))])
        #expect(bus.calls.last?.message.member == (isValid ? "Activate" : "Release"))
    }

    @Test("A monitor may be created after it was registered, and removed again, by its own program only")
    func laterMonitor() throws {
        var bus = try registered([])
        #expect(matches(bus, "AddMatch") == 1 && bus.requests.isEmpty)
        for (sender, path, isActivated) in [
            (":1.2", "/app/m", false), (":1.1", "/other/m", false), (":1.1", "/apple", false), (":1.1", "/app/m", true),
            (":1.1", "/app/m", false),
        ] {
            bus.forget()
            var signal = BusMessage(kind: .signal, serial: 1, path: path, interface: ObjectTree.objectManager)
            (signal.member, signal.sender) = ("InterfacesAdded", sender)
            signal.body = [.path(path), Self.interfaces]
            bus.signal(signal)
            #expect(bus.calls.map(\.message.member) == (isActivated ? ["Activate"] : []), "\(sender) \(path)")
            #expect(bus.requests.isEmpty != isActivated)
        }
        for (sender, isHeard) in [(":1.2", true), (":1.1", false)] {
            bus.forget()
            var signal = BusMessage(kind: .signal, serial: 1, path: "/app/m", interface: ObjectTree.objectManager)
            (signal.member, signal.sender) = ("InterfacesRemoved", sender)
            signal.body = [.path("/app/m"), .strings([BlueZ.monitor])]
            bus.signal(signal)
            bus.event(TestBridge.report(octets: [4, 0xFF, 0x4C, 0, 7]), of: .init(":1.1", .central))
            #expect(bus.calls.map(\.message.member) == (isHeard ? ["DeviceFound"] : []), "\(sender)")
        }
        #expect(
            bus.result(":1.1", TestBridge.adapter, BlueZ.monitors, "UnregisterMonitor", [.path("/app")]) == .done
        )
        #expect(matches(bus, "RemoveMatch") == 1)
    }

    @Test("A program has so many monitors, and further ones are released")
    func manyMonitors() throws {
        let limit = BlueZBridge.Limit.monitorObjects
        let bus = try registered((0...limit).map { .entry(.path("/app/m\($0)"), Self.interfaces) })
        let members = bus.calls.compactMap(\.message.member).filter { ["Activate", "Release"].contains($0) }
        #expect(members == [String](repeating: "Activate", count: limit) + ["Release"])
    }

    @Test("A discovery goes on after the program's session with the daemon was lost")
    func lostSession() {
        var bus = TestBridge()
        bus.discover()
        bus.forget()
        for state in [HostState.resetting, .poweredOn] {
            bus.event(.stateChanged(state), of: .init(":1.1", .central))
        }
        #expect(bus.requests.count == 1)
        guard case .scan? = bus.requests.first?.request else {
            Issue.record("no scan: \(bus.requests)")
            return
        }
    }
}
