import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Limits of the bridge")
struct LimitTests {
    private typealias Limit = BlueZBridge.Limit

    private static let tooMany = TestBridge.Outcome.failed(.limitReached)

    @Test("A user has so many programs, and the programs of others are admitted")
    func programs() {
        var bus = TestBridge()
        for number in 0...Limit.userClients { bus.users[":2.\(number)"] = 1_000 }
        for number in 0...Limit.userClients {
            let result = bus.result(":2.\(number)", "/", ObjectTree.introspectable, "Introspect")
            #expect((result == Self.tooMany) == (number == Limit.userClients))
        }
        for client in [":1.3", ":1.9"] {
            #expect(bus.result(client, "/", ObjectTree.introspectable, "Introspect") != Self.tooMany)
        }
        bus.leave(":2.0")
        let last = bus.result(":2.\(Limit.userClients)", "/", ObjectTree.introspectable, "Introspect")
        #expect(last != Self.tooMany)
    }

    @Test("A program that the bus does not know is refused, and forgotten")
    func unknown() {
        var bus = TestBridge()
        let result = bus.result(":7.7", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        #expect(result == .failed(.notAuthorized))
        #expect(bus.bridge.clients.isEmpty)
    }

    @Test("So many calls of a program wait for its credentials")
    func held() {
        var bridge = TestBridge().bridge
        var refused = 0
        for serial in 1...UInt32(Limit.heldCalls) + 5 {
            var call = BusMessage(kind: .call, serial: serial, path: "/", interface: ObjectTree.introspectable)
            (call.member, call.sender) = ("Introspect", ":1.1")
            for case .send(let message) in bridge.receive(call, at: Instant()) where message.kind == .error {
                refused += 1
            }
        }
        #expect(refused == 5)
    }

    @Test("So many calls of a program wait for a reply, and a reply makes room")
    func pending() throws {
        var bus = TestBridge()
        try bus.connect()
        let read = { (bus: inout TestBridge) in
            bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "ReadValue", [.properties([])])
        }
        let first = (0..<Limit.pendingCalls).map { _ in read(&bus) }
        #expect(first.allSatisfy { bus.outcome(of: $0) == nil })
        let refused = read(&bus)
        #expect(bus.outcome(of: refused) == Self.tooMany)
        let number = try #require(bus.number(of: ":1.1", where: { if case .read = $0 { true } else { false } }))
        let answer = PeerEvent.valueRead(AttributeHandle(wire: 0x12), .success([]))
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
        let next = read(&bus)
        #expect(bus.outcome(of: next) == nil)
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.1", .central))
        #expect(bus.bridge.clients[":1.1"]?.pending == 0)
    }

    @Test("A program that never replies is called so many times at once; further calls fail")
    func unanswered() {
        var bus = TestBridge()
        bus.discover()
        let body: [BusValue] = [.path("/agent"), .string("")]
        bus.call(":1.1", "/org/bluez", BlueZ.agents, "RegisterAgent", body)
        bus.forget()
        for _ in 0..<Limit.calls + 3 {
            let inquiry = PairingInquiry(peer: TestBridge.lamp, name: nil, question: .compare(1), cause: .peer)
            bus.event(.security(.asked(inquiry)), of: .init(":1.1", .agent))
        }
        #expect(bus.calls.count == Limit.calls)
        #expect(bus.requests.map(\.request).count { $0 == .security(.answer(TestBridge.lamp, .cancel)) } == 3)
        bus.forget()
        bus.pass(.seconds(60))
        #expect(bus.bridge.calls.isEmpty)
        #expect(bus.actions.count { if case .forget = $0 { true } else { false } } == Limit.calls)
    }

    @Test("There are so many devices: the one received longest ago is removed, and connected ones stay")
    func devices() throws {
        var bus = TestBridge()
        try bus.connect()
        for number in 2...UInt128(Limit.devices) + 1 {
            let address = DeviceAddress(UInt64(number), .public)
            bus.event(TestBridge.report(.init(rawValue: number), address), of: .init(":1.1", .central))
        }
        #expect(bus.bridge.devices.count == Limit.devices)
        #expect(bus.bridge.devices[TestBridge.lamp] != nil)
        #expect(bus.bridge.devices[.init(rawValue: 2)] == nil)
        #expect(bus.bridge.peers.count == Limit.devices)
    }

    @Test("A device with more attributes than fit has objects for the first of them")
    func attributes() throws {
        var bus = TestBridge()
        bus.discover()
        let serial = bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        let key = TestBridge.Key(":1.1", .central)
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: key)
        let isMeant = { (request: AttributeRequest) in if case .discoverServices = request { true } else { false } }
        let number = try #require(bus.number(of: ":1.1", where: isMeant))
        let services = try (1...10_000).map { wire in
            let handle = AttributeHandle(wire: UInt16(wire))
            let range = try #require(AttributeHandleRange(handle, handle))
            return DiscoveredService(uuid: .short(0x180F), range: range, isPrimary: true)
        }
        bus.event(.peer(TestBridge.lamp, .servicesDiscovered(.success(services)), answering: number), of: key)
        #expect(bus.outcome(of: serial) == .done)
        #expect(bus.bridge.tree.children(of: TestBridge.lampPath).count == Limit.attributes)
    }

    @Test("A program has so many applications, monitors and advertisements")
    func registrations() {
        let registrations: [(interface: String, member: String, body: [BusValue], limit: Int)] = [
            (BlueZ.applications, "RegisterApplication", [.properties([])], Limit.applications),
            (BlueZ.advertisements, "RegisterAdvertisement", [.properties([])], Limit.advertisements),
            (BlueZ.monitors, "RegisterMonitor", [], Limit.monitors),
        ]
        for (interface, member, body, limit) in registrations {
            var bus = TestBridge()
            for number in 0...limit {
                let all = [BusValue.path("/a\(number)")] + body
                let result = bus.result(":1.1", TestBridge.adapter, interface, member, all)
                let isRefused = if case .error? = result { true } else { false }
                #expect(isRefused == (number == limit), "\(member) \(number)")
            }
        }
    }

    @Test("An alias has at most 248 octets")
    func alias() {
        var bus = TestBridge()
        bus.discover(":1.9")
        for (path, interface) in [(TestBridge.adapter, BlueZ.adapter), (TestBridge.lampPath, BlueZ.device)] {
            for length in [248, 249] {
                let text = BusValue.variant(.string(String(repeating: "x", count: length)))
                let body: [BusValue] = [.string(interface), .string("Alias"), text]
                let result = bus.result(":1.9", path, ObjectTree.properties, "Set", body)
                #expect(result == (length == 248 ? .done : .failed(.invalidArguments)))
            }
        }
    }

    /// Values that no method expects.
    private static let everyHostile: [BusValue] = [
        .byte(255), .boolean(true), .int16(.min), .uint16(.max), .int64(.min), .uint64(.max), .double(.nan),
        .string(""), .string("/"), .path("/"), .path(TestBridge.lampPath), .descriptor(.max), .octets([]),
        .octets([UInt8](repeating: 7, count: 600)), .properties([]), .properties([("offset", .int64(.min))]),
        .properties([("offset", .uint64(.max)), ("type", .byte(1))]), .properties([("RSSI", .int64(.min))]),
        .properties([("Pathloss", .uint64(.max)), ("UUIDs", .strings(["", "x", "🦷"]))]),
        .properties([("Address", .string("🦷")), ("Pattern", .string("🦷"))]), .strings([""]), .structure([.byte(1)]),
        .variant(.variant(.byte(1))),
    ]

    @Test("Every method answers every call once, whatever its arguments are", arguments: 0..<16 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var bus = TestBridge(), state = seed
        try bus.connect()
        let places: [(String, [String])] = [
            ("/", [ObjectTree.objectManager]), ("/org/bluez", [BlueZ.agents]),
            (TestBridge.adapter, [BlueZ.adapter, BlueZ.applications, BlueZ.advertisements, BlueZ.monitors]),
            (TestBridge.lampPath, [BlueZ.device]), (TestBridge.value, [BlueZ.characteristic]),
            (TestBridge.descriptor, [BlueZ.descriptor]), ("/nothing", [BlueZ.device]),
        ]
        let next = { () -> Int in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        for (path, interfaces) in places {
            for interface in interfaces + [ObjectTree.properties, ObjectTree.introspectable] {
                for method in BlueZ.methods(of: interface) + [("Nothing", "", "")] {
                    for _ in 0..<8 {
                        let count = next() % 4
                        var body = (0..<count).map { _ in Self.everyHostile[next() % Self.everyHostile.count] }
                        if let types = BusType.list(method.arguments), next() % 2 == 0 {
                            body = types.compactMap { type in Self.everyHostile.first { $0.type == type } }
                        }
                        let serial = bus.call(":1.1", path, interface, method.name, body)
                        #expect(bus.replies(to: serial).count <= 1)
                    }
                }
            }
        }
        let before = bus.actions.count
        bus.leave(":1.1")
        bus.pass(.seconds(120))
        #expect(bus.actions.count >= before)
    }

    @Test("An application that replies anything does not trap", arguments: 0..<16 as Range<UInt64>)
    func hostileReplies(seed: UInt64) {
        var bus = TestBridge(), state = seed
        let next = { () -> Int in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        let keys = [
            "UUID", "Service", "Flags", "Value", "Type", "Patterns", "ManufacturerData", "ServiceData", "Includes",
            "MinInterval", "TxPower", "Timeout", "LocalName", "Primary", "RSSILowTimeout",
        ]
        for round in 0..<200 {
            let registrations: [(String, String, [BusValue])] = [
                (BlueZ.applications, "RegisterApplication", [.properties([])]),
                (BlueZ.advertisements, "RegisterAdvertisement", [.properties([])]),
                (BlueZ.monitors, "RegisterMonitor", []),
            ]
            let (interface, member, body) = registrations[round % 3]
            bus.call(":1.1", TestBridge.adapter, interface, member, [.path("/a\(round)")] + body)
            guard let number = bus.calls.last?.number, number != 0 else { continue }
            let values = keys.map { ($0, Self.everyHostile[next() % Self.everyHostile.count]) }
            let properties = BusValue.properties(values)
            let interfaces = [BlueZ.service, BlueZ.characteristic, BlueZ.descriptor, BlueZ.monitor].map {
                BusValue.entry(.string($0), properties)
            }
            let object = BusValue.entry(.path("/a"), .array(of: interfaces[0].type, interfaces))
            let objects = BusValue.array(of: object.type, [object])
            bus.reply(number, .values([member == "RegisterAdvertisement" ? properties : objects], from: ":1.1"))
            bus.forget()
        }
        bus.leave(":1.1")
        #expect(bus.bridge.applications.isEmpty && bus.bridge.advertisements.isEmpty && bus.bridge.monitors.isEmpty)
    }

    @Test("Programs that leave the bus while they are connected do not use up the places of their user")
    func gonePrograms() throws {
        var bus = TestBridge()
        for number in 0...Limit.userClients {
            bus.users[":2.\(number)"] = 1_000
            try bus.connect(":2.\(number)")
            bus.leave(":2.\(number)")
        }
        #expect(bus.result(":1.1", "/", ObjectTree.introspectable, "Introspect") != Self.tooMany)
        #expect(bus.property("Connected", of: BlueZ.device, at: TestBridge.lampPath) == .boolean(true))
        #expect(bus.bridge.devices[TestBridge.lamp]?.links.count == 1)
    }

    @Test("A service with more characteristics than fit has objects for the first of them")
    func characteristics() throws {
        var bus = TestBridge()
        bus.discover()
        let serial = bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        let key = TestBridge.Key(":1.1", .central)
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: key)
        let range = try #require(AttributeHandleRange(AttributeHandle(wire: 0x10), AttributeHandle(wire: 0xFFFF)))
        let service = DiscoveredService(uuid: .short(0x180F), range: range, isPrimary: true)
        let characteristics = (0..<10_000).map { (index: UInt16) in
            DiscoveredCharacteristic(
                uuid: .short(0x2A19),
                properties: 2,
                declaration: AttributeHandle(wire: 0x11 + 3 * index),
                value: AttributeHandle(wire: 0x12 + 3 * index),
                end: AttributeHandle(wire: 0x13 + 3 * index)
            )
        }
        let answers: [(isMeant: (AttributeRequest) -> Bool, answer: PeerEvent)] = [
            (
                { if case .discoverServices = $0 { true } else { false } },
                .servicesDiscovered(.success([service]))
            ),
            (
                { if case .discoverIncludedServices = $0 { true } else { false } },
                .includedServicesDiscovered(in: range, .success([service]))
            ),
            (
                { if case .discoverCharacteristics = $0 { true } else { false } },
                .characteristicsDiscovered(in: range, .success(characteristics))
            ),
        ]
        for (isMeant, answer) in answers {
            let number = try #require(bus.number(of: ":1.1", where: isMeant))
            bus.event(.peer(TestBridge.lamp, answer, answering: number), of: key)
        }
        #expect(bus.outcome(of: serial) == .done)
        // The service and its included service count as well.
        #expect(bus.bridge.tree.children(of: TestBridge.service).count == Limit.attributes - 2)
    }

    @Test("Programs whose credentials are not known yet do not use up the places of others")
    func unidentified() {
        var bus = TestBridge()
        let limit = Limit.unidentifiedClients
        for number in 0..<Limit.userClients {
            bus.users[":2.\(number)"] = 1_000
            bus.call(":2.\(number)", "/", ObjectTree.introspectable, "Introspect")
        }
        for number in 1...limit {
            var call = BusMessage(kind: .call, serial: 1, path: "/", interface: ObjectTree.introspectable)
            (call.member, call.sender) = ("Introspect", ":3.\(number)")
            _ = bus.bridge.receive(call, at: bus.now)
            if number == limit - 1 {
                #expect(bus.result(":1.3", "/", ObjectTree.introspectable, "Introspect") != Self.tooMany)
            }
        }
        #expect(bus.result(":1.9", "/", ObjectTree.introspectable, "Introspect") == Self.tooMany)
    }

    @Test("At the limit, trusted devices are replaced after all others")
    func trustedDevices() {
        var bus = TestBridge()
        bus.discover()
        let trust = [BusValue.string(BlueZ.device), .string("Trusted"), .variant(.boolean(true))]
        let add = { (number: Int, bus: inout TestBridge) in
            bus.pass(.milliseconds(1))
            let address = DeviceAddress(UInt64(number), .public)
            bus.event(TestBridge.report(.init(rawValue: UInt128(number)), address), of: .init(":1.1", .central))
        }
        #expect(bus.result(":1.3", TestBridge.lampPath, ObjectTree.properties, "Set", trust) == .done)
        for number in 2...Limit.devices + 1 { add(number, &bus) }
        #expect(bus.bridge.devices[TestBridge.lamp] != nil && bus.bridge.devices[.init(rawValue: 2)] == nil)
        for path in bus.bridge.devices.all.map(\.path) {
            #expect(bus.result(":1.3", path, ObjectTree.properties, "Set", trust) == .done)
        }
        add(Limit.devices + 2, &bus)
        #expect(bus.bridge.devices.count == Limit.devices && bus.bridge.devices[TestBridge.lamp] == nil)
    }
}
