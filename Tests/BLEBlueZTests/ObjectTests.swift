import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Objects on the bus")
struct ObjectTests {
    @Test("The managed objects are those with interfaces, with all their properties")
    func managedObjects() throws {
        var bus = TestBridge()
        try bus.connect()
        guard case .values(let values)? = bus.result(":1.1", "/", ObjectTree.objectManager, "GetManagedObjects") else {
            Issue.record("there are no objects")
            return
        }
        let paths = values.first?.entries?.compactMap(\.key.text) ?? []
        let expected = [
            "/org/bluez", TestBridge.adapter, TestBridge.lampPath, TestBridge.service, TestBridge.value,
            TestBridge.descriptor, TestBridge.command,
        ]
        #expect(paths == expected)
        let adapter = values.first?[key: TestBridge.adapter]?[key: BlueZ.adapter]
        #expect(adapter?[key: "Powered"] == .boolean(true))
        #expect(adapter?[key: "Address"] == .string("A0:B0:C0:D0:E0:F0"))
        #expect(adapter?[key: "Roles"] == .strings(["central", "peripheral", "central-peripheral"]))
    }

    @Test("Introspection lists every interface, method and property of an object, and those below it")
    func introspection() throws {
        var bus = TestBridge()
        try bus.connect()
        let places: [(path: String, texts: [String])] = [
            ("/", ["<node name=\"org\"/>", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded"]),
            ("/org", ["<node name=\"bluez\"/>"]),
            (TestBridge.adapter, [BlueZ.adapter, BlueZ.applications, "StartDiscovery", "dev_C0_FF_EE_00_00_01"]),
            (TestBridge.lampPath, [BlueZ.device, "Connect", "<property name=\"RSSI\" type=\"n\"", "service0010"]),
            (
                TestBridge.value,
                [BlueZ.characteristic, "StartNotify", "<property name=\"Value\" type=\"ay\"", "desc0013"]
            ),
        ]
        for (path, texts) in places {
            guard case .values(let values)? = bus.result(":1.1", path, ObjectTree.introspectable, "Introspect") else {
                Issue.record("no introspection of \(path)")
                continue
            }
            let document = values.first?.text ?? ""
            for text in texts + ["org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable"] {
                #expect(document.contains(text), "\(text) of \(path)")
            }
        }
    }

    private static let everyMistakes: [(path: String, interface: String?, member: String, error: String)] = [
        ("/nothing", BlueZ.adapter, "StartDiscovery", "UnknownObject"),
        (TestBridge.adapter, BlueZ.device, "Connect", "UnknownMethod"),
        (TestBridge.adapter, BlueZ.adapter, "Nothing", "UnknownMethod"),
        (TestBridge.adapter, "org.bluez.Media1", "RegisterEndpoint", "UnknownMethod"),
        (TestBridge.adapter, nil, "Nothing", "UnknownMethod"),
        ("/org", ObjectTree.objectManager, "GetManagedObjects", "UnknownMethod"),
    ]

    @Test("What does not exist is refused with the bus's errors", arguments: everyMistakes)
    func mistakes(path: String, interface: String?, member: String, error: String) {
        var bus = TestBridge()
        guard case .error(let name, _)? = bus.result(":1.1", path, interface, member) else {
            Issue.record("no error")
            return
        }
        #expect(name == "org.freedesktop.DBus.Error." + error)
    }

    @Test("A method is found without its interface")
    func noInterface() {
        var bus = TestBridge()
        #expect(bus.result(":1.1", TestBridge.adapter, nil, "StartDiscovery") == .done)
        #expect(bus.result(":1.1", "/anything", "org.freedesktop.DBus.Peer", "Ping") == .done)
    }

    @Test("All changes of an interface are one signal, before the reply to the call that caused them")
    func oneSignal() throws {
        var bus = TestBridge(isPowered: false)
        bus.forget()
        bus.event(.stateChanged(.poweredOn), of: .own(.central))
        #expect(bus.signals("PropertiesChanged").count == 1)
        let changed = bus.signals("PropertiesChanged").first?.body[1].entries?.compactMap(\.key.text)
        #expect(changed == ["Powered", "PowerState"])
        bus.forget()
        let serial = bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        let order = bus.actions.compactMap { action -> String? in
            guard case .send(let message) = action else { return nil }
            return message.replySerial == serial ? "reply" : message.member
        }
        #expect(order == ["PropertiesChanged", "reply"])
    }

    @Test("A property that is set to its value is not signalled")
    func unchanged() {
        var bus = TestBridge()
        bus.discover()
        let set = { (bus: inout TestBridge) in
            let body: [BusValue] = [.string(BlueZ.device), .string("Trusted"), .variant(.boolean(true))]
            return bus.result(":1.1", TestBridge.lampPath, ObjectTree.properties, "Set", body)
        }
        #expect(set(&bus) == .done)
        bus.forget()
        #expect(set(&bus) == .done)
        #expect(bus.signals("PropertiesChanged").isEmpty)
    }

    private static let everySettings: [(String, BusValue, BlueZError?)] = [
        ("Trusted", .boolean(true), nil), ("WakeAllowed", .boolean(true), nil), ("Alias", .string("x"), nil),
        ("Blocked", .boolean(false), nil), ("Blocked", .boolean(true), .notSupported),
        ("Trusted", .string("x"), .invalidSignature("Trusted")), ("Connected", .boolean(true), .readOnly("Connected")),
        ("Nothing", .boolean(true), .unknownProperty("Nothing")),
    ]

    @Test("A property of a device can be set if BlueZ has it so", arguments: everySettings)
    func settings(name: String, value: BusValue, error: BlueZError?) {
        var bus = TestBridge()
        bus.discover()
        let body: [BusValue] = [.string(BlueZ.device), .string(name), .variant(value)]
        let result = bus.result(":1.1", TestBridge.lampPath, ObjectTree.properties, "Set", body)
        #expect(result == (error.map { .failed($0) } ?? .done))
    }

    @Test("A call that expects no reply gets none")
    func noReply() {
        var bus = TestBridge()
        bus.call(":1.1", "/", ObjectTree.introspectable, "Introspect")
        bus.forget()
        var call = BusMessage(kind: .call, serial: 99, path: "/", interface: ObjectTree.introspectable)
        (call.member, call.sender, call.expectsNoReply) = ("Introspect", ":1.1", true)
        bus.signal(call)
        #expect(bus.actions == [])
    }

    @Test("Only the bus can say that a program has left it")
    func leaving() {
        var bus = TestBridge()
        bus.discover()
        var signal = BusMessage(kind: .signal, serial: 1, path: "/", interface: BlueZBridge.bus)
        (signal.member, signal.sender) = ("NameOwnerChanged", ":1.3")
        signal.body = [.string(":1.1"), .string(":1.1"), .string("")]
        bus.signal(signal)
        #expect(bus.property("Discovering", of: BlueZ.adapter, at: TestBridge.adapter) == .boolean(true))
    }

    @Test(
        "A registration that is withdrawn before it is complete is refused",
        arguments: [(BlueZ.applications, "Application"), (BlueZ.advertisements, "Advertisement")]
    )
    func withdrawn(interface: String, name: String) {
        var bus = TestBridge()
        let body: [BusValue] = [.path("/a"), .properties([])]
        let serial = bus.call(":1.1", TestBridge.adapter, interface, "Register" + name, body)
        #expect(bus.outcome(of: serial) == nil)
        #expect(bus.result(":1.1", TestBridge.adapter, interface, "Unregister" + name, [.path("/a")]) == .done)
        #expect(bus.outcome(of: serial) == .failed(.doesNotExist))
        #expect(bus.bridge.clients[":1.1"]?.pending == 0)
    }

    @Test("A device is trusted until each user, or an administrator, no longer trusts it")
    func trust() {
        var bus = TestBridge()
        bus.discover()
        let steps: [(client: String, isTrusted: Bool, result: Bool)] = [
            (":1.1", true, true), (":1.3", true, true), (":1.2", false, true), (":1.3", false, false),
            (":1.1", true, true), (":1.3", true, true), (":1.9", false, false),
        ]
        for (client, isTrusted, result) in steps {
            let body: [BusValue] = [.string(BlueZ.device), .string("Trusted"), .variant(.boolean(isTrusted))]
            #expect(bus.result(client, TestBridge.lampPath, ObjectTree.properties, "Set", body) == .done)
            let value = bus.property("Trusted", of: BlueZ.device, at: TestBridge.lampPath)
            #expect(value == .boolean(result), "\(client) \(isTrusted)")
        }
    }
}
