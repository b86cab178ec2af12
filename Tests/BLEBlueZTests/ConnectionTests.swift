import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Connections")
struct ConnectionTests {
    @Test("A device is connected when its services are resolved, with the handles of the air in the paths")
    func connect() throws {
        var bus = TestBridge()
        bus.discover()
        let serial = bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.1", .central))
        #expect(bus.property("Connected", of: BlueZ.device, at: TestBridge.lampPath) == .boolean(true))
        #expect(bus.outcome(of: serial) == nil)
        try bus.showServices(to: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .done)
        #expect(bus.property("ServicesResolved", of: BlueZ.device, at: TestBridge.lampPath) == .boolean(true))
        let objects = [TestBridge.service, TestBridge.value, TestBridge.descriptor, TestBridge.command]
        for path in objects { #expect(bus.bridge.tree.contains(path), "\(path)") }
        #expect(!bus.bridge.tree.contains(TestBridge.lampPath + "/service0001"), "GAP is not shown")
        let flags = bus.property("Flags", of: BlueZ.characteristic, at: TestBridge.value)
        #expect(flags == .strings(["read", "write", "notify"]))
        #expect(bus.property("Handle", of: BlueZ.characteristic, at: TestBridge.value) == .uint16(0x11))
        #expect(bus.property("MTU", of: BlueZ.characteristic, at: TestBridge.value) == .uint16(100))
        #expect(bus.property("Handle", of: BlueZ.descriptor, at: TestBridge.descriptor) == .uint16(0x13))
    }

    @Test("The objects of a device's services go with its last connection")
    func disconnect() throws {
        var bus = TestBridge()
        try bus.connect(":1.1")
        try bus.connect(":1.2")
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.1", .central))
        #expect(bus.bridge.tree.contains(TestBridge.value))
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.2", .central))
        #expect(!bus.bridge.tree.contains(TestBridge.service))
        #expect(bus.property("Connected", of: BlueZ.device, at: TestBridge.lampPath) == .boolean(false))
    }

    @Test("Disconnect ends the connections of the caller's user, and those of all users for root")
    func owners() throws {
        var bus = TestBridge()
        try bus.connect(":1.1")
        try bus.connect(":1.3")
        bus.forget()
        let serial = bus.call(":1.2", TestBridge.lampPath, BlueZ.device, "Disconnect")
        #expect(bus.requests.map(\.key.client) == [":1.1"])
        #expect(bus.outcome(of: serial) == nil)
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .done)
        let again = bus.result(":1.2", TestBridge.lampPath, BlueZ.device, "Disconnect")
        #expect(again == .failed(.notConnected))
        bus.forget()
        bus.call(":1.9", TestBridge.lampPath, BlueZ.device, "Disconnect")
        #expect(bus.requests.map(\.key.client) == [":1.3"])
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.3", .central))
        #expect(bus.result(":1.2", TestBridge.lampPath, BlueZ.device, "Disconnect") == .done)
    }

    @Test("A connection that fails refuses the call, and so does the policy")
    func failed() {
        var bus = TestBridge()
        bus.discover()
        let serial = bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        #expect(bus.result(":1.1", TestBridge.lampPath, BlueZ.device, "Connect") == .failed(.inProgress))
        bus.event(.connectFailed(TestBridge.lamp, .timedOut), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .failed(.connectionAborted))
        bus.unauthorized = [2_000]
        for _ in 0..<2 {
            let result = bus.result(":1.3", TestBridge.lampPath, BlueZ.device, "Connect")
            #expect(result == .failed(.notAuthorized))
        }
    }

    @Test("A call to Connect is refused if its own connection ends before the services are known")
    func ownConnectionLost() throws {
        var bus = TestBridge()
        bus.discover()
        let serials = [":1.1", ":1.3"].map { bus.call($0, TestBridge.lampPath, BlueZ.device, "Connect") }
        for client in [":1.1", ":1.3"] {
            bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(client, .central))
        }
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.3", .central))
        #expect(bus.outcome(of: serials[1]) == .failed(.connectionAborted))
        try bus.showServices(to: .init(":1.1", .central))
        #expect(bus.outcome(of: serials[0]) == .done)
        #expect(serials.allSatisfy { bus.replies(to: $0).count == 1 })
    }

    @Test("Only those whose connections end with it may remove a device")
    func removal() throws {
        var bus = TestBridge()
        try bus.connect(":1.1")
        let remove = { (bus: inout TestBridge, client: String) in
            bus.result(client, TestBridge.adapter, BlueZ.adapter, "RemoveDevice", [.path(TestBridge.lampPath)])
        }
        #expect(remove(&bus, ":1.3") == .failed(.notAuthorized))
        #expect(bus.bridge.devices.count == 1)
        #expect(remove(&bus, ":1.2") == .done)
        #expect(bus.bridge.devices.isEmpty)
        #expect(remove(&bus, ":1.2") == .failed(.doesNotExist))
    }

    @Test(
        "A bond is removed in the session of the caller, so that the daemon checks whose it is",
        arguments: [true, false]
    )
    func bond(isOwner: Bool) throws {
        var bus = TestBridge()
        let strength = PairingStrength(keySize: 16, isAuthenticated: false, isSecureConnections: true)
        let bond = BondedPeer(
            peer: TestBridge.lamp,
            name: "Lamp",
            identity: TestBridge.lampAddress,
            strength: strength
        )
        bus.event(.security(.bonds([bond])), of: .own(.agent))
        #expect(bus.property("Bonded", of: BlueZ.device, at: TestBridge.lampPath) == .boolean(true))
        bus.forget()
        let body = [BusValue.path(TestBridge.lampPath)]
        let serial = bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "RemoveDevice", body)
        let own = TestBridge.Key(":1.1", .agent)
        #expect(bus.requests.map(\.key) == [own])
        #expect(bus.requests.first?.request == .security(.removeBond(TestBridge.lamp)))
        bus.event(.security(.bonds([])), of: own)
        #expect(bus.outcome(of: serial) == nil)
        bus.event(.security(.bonds(isOwner ? [] : [bond])), of: .own(.agent))
        #expect(bus.outcome(of: serial) == (isOwner ? .done : .failed(.notAuthorized)))
        #expect(bus.bridge.devices.isEmpty == isOwner)
        #expect(bus.actions.contains(.close(own)))
    }

    @Test("The connections of a program that leaves the bus go on until its user ends them")
    func left() throws {
        var bus = TestBridge()
        try bus.connect(":1.1")
        bus.leave(":1.1")
        #expect(bus.property("Connected", of: BlueZ.device, at: TestBridge.lampPath, for: ":1.2") == .boolean(true))
        let serial = bus.call(":1.2", TestBridge.lampPath, BlueZ.device, "Disconnect")
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .done)
        #expect(bus.actions.contains(.close(.init(":1.1", .central))))
    }

    @Test("A radio that goes away refuses what waits, and its devices are disconnected")
    func lost() throws {
        var bus = TestBridge()
        try bus.connect()
        let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "ReadValue", [.properties([])])
        bus.event(.stateChanged(.poweredOff), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .failed(.notConnected))
        #expect(bus.property("Connected", of: BlueZ.device, at: TestBridge.lampPath) == .boolean(false))
    }

    @Test("What concerns the programs of all users can be set by administrators only")
    func adapter() {
        let values: [(String, BusValue)] = [
            ("Powered", .boolean(false)), ("Alias", .string("mine")), ("Discoverable", .boolean(true)),
            ("DiscoverableTimeout", .uint32(1)),
        ]
        for (name, value) in values {
            var bus = TestBridge()
            let body: [BusValue] = [.string(BlueZ.adapter), .string(name), .variant(value)]
            let set = { (client: String) in
                bus.result(client, TestBridge.adapter, ObjectTree.properties, "Set", body)
            }
            #expect(set(":1.1") == .failed(.notAuthorized), "\(name)")
            #expect(set(":1.9") == .done, "\(name)")
        }
    }

    @Test(
        "A connected or bonded device keeps its object when another device has the same address bits",
        arguments: [true, false]
    )
    func sameAddress(isBonded: Bool) throws {
        var bus = TestBridge()
        let strength = PairingStrength(keySize: 16, isAuthenticated: false, isSecureConnections: true)
        let bond = { (peer: PeerIdentifier, address: DeviceAddress) in
            BondedPeer(peer: peer, name: "Lamp", identity: address, strength: strength)
        }
        let own = bond(TestBridge.lamp, TestBridge.lampAddress)
        if isBonded {
            bus.event(.security(.bonds([own])), of: .own(.agent))
            bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        } else {
            try bus.connect()
        }
        bus.forget()
        let other = PeerIdentifier(rawValue: 2), address = DeviceAddress(0xC0FF_EE00_0001, .public)
        bus.event(TestBridge.report(other, address), of: .init(":1.1", .central))
        let central = ConnectedCentral(RemoteCentral(peer: other, mtu: 64), address: address)
        bus.event(.server(.centralsConnected([central])), of: .own(.agent))
        bus.event(.security(.bonds((isBonded ? [own] : []) + [bond(other, address)])), of: .own(.agent))
        #expect(bus.bridge.devices.keys == [TestBridge.lamp])
        #expect(bus.signals("InterfacesRemoved").isEmpty)
        for (name, value) in [("Connected", !isBonded), ("Bonded", isBonded)] {
            #expect(bus.property(name, of: BlueZ.device, at: TestBridge.lampPath) == .boolean(value))
        }
        #expect(bus.property("AddressType", of: BlueZ.device, at: TestBridge.lampPath) == .string("random"))
    }

    @Test("A program that leaves the bus while it connects does not occupy the device")
    func leftWhileConnecting() throws {
        var bus = TestBridge()
        bus.discover()
        bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        bus.leave(":1.1")
        #expect(bus.bridge.devices[TestBridge.lamp]?.connecting.isEmpty == true)
        let body = [BusValue.path(TestBridge.lampPath)]
        #expect(bus.result(":1.2", TestBridge.adapter, BlueZ.adapter, "RemoveDevice", body) == .done)
    }

    @Test("The last connection of a program that has left the bus ends its attempts to connect")
    func leftWithAttempt() throws {
        var bus = TestBridge()
        try bus.connect()
        let key = TestBridge.Key(":1.1", .central), other = PeerIdentifier(rawValue: 2)
        bus.event(TestBridge.report(other, DeviceAddress(2, .public)), of: key)
        bus.call(":1.1", TestBridge.adapter + "/dev_00_00_00_00_00_02", BlueZ.device, "Connect")
        bus.leave(":1.1")
        #expect(bus.bridge.devices[other]?.connecting.isEmpty == false)
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: key)
        #expect(bus.bridge.devices[other]?.connecting.isEmpty == true)
        #expect(bus.actions.contains(.close(key)) && bus.bridge.clients[":1.1"] == nil)
    }

    @Test("No session is opened for a program that is not on the bus")
    func noProgram() {
        var bus = TestBridge()
        bus.bridge.request(.init(":1.1", .central), .stopScan)
        bus.bridge.request(.init(":1.1", .central), TestBridge.lamp, .discoverServices(only: []), for: .services)
        #expect(bus.bridge.takeActions() == [])
    }

    @Test("Answers to requests from before a change of the services do not end the new discovery")
    func changedWhileDiscovering() throws {
        var bus = TestBridge()
        bus.discover()
        let key = TestBridge.Key(":1.1", .central), lamp = TestBridge.lamp
        let serial = bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        bus.event(.connected(lamp, LinkParameters(mtu: 100)), of: key)
        let range = try #require(AttributeHandleRange(AttributeHandle(wire: 0x10), AttributeHandle(wire: 0x20)))
        let service = DiscoveredService(uuid: .short(0x180F), range: range, isPrimary: true)
        let isFirst = { (request: AttributeRequest) in if case .discoverServices = request { true } else { false } }
        let first = try #require(bus.number(of: ":1.1", where: isFirst))
        bus.event(.peer(lamp, .servicesDiscovered(.success([service])), answering: first), of: key)
        let isOld = { (request: AttributeRequest) in
            if case .discoverIncludedServices = request { true } else { false }
        }
        let old = try #require(bus.number(of: ":1.1", where: isOld))
        bus.event(.peer(lamp, .servicesModified(.all), answering: .none), of: key)
        bus.event(.peer(lamp, .includedServicesDiscovered(in: range, .failure(.notFound)), answering: old), of: key)
        #expect(bus.outcome(of: serial) == nil)
        try bus.showServices(to: key)
        #expect(bus.outcome(of: serial) == .done)
        #expect(bus.bridge.tree.contains(TestBridge.value))
    }
}
