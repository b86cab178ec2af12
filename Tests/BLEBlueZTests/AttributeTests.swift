import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Attributes of devices")
struct AttributeTests {
    private static let none = BusValue.properties([])

    private static func isRead(_ request: AttributeRequest) -> Bool {
        if case .read = request { true } else { false }
    }

    private static func isSubscription(_ request: AttributeRequest) -> Bool {
        if case .subscribe = request { true } else { false }
    }

    /// Has a program subscribe to the value of the lamp, and the lamp agree.
    private func subscribe(_ client: String, _ bus: inout TestBridge) throws -> TestBridge.Outcome? {
        let serial = bus.call(client, TestBridge.value, BlueZ.characteristic, "StartNotify")
        let number = try #require(bus.number(of: client, where: Self.isSubscription))
        let answer = PeerEvent.subscriptionChanged(AttributeHandle(wire: 0x12), .notifications, nil)
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(client, .central))
        return bus.outcome(of: serial)
    }

    private func notify(_ value: [UInt8], _ client: String, _ bus: inout TestBridge) {
        let event = PeerEvent.valueNotified(AttributeHandle(wire: 0x12), value)
        bus.event(.peer(TestBridge.lamp, event, answering: .none), of: .init(client, .central))
    }

    @Test("A value is read from its offset on")
    func read() throws {
        var bus = TestBridge()
        try bus.connect()
        for (offset, rest) in [(0, [1, 2, 3]), (2, [3]), (3, [])] as [(UInt16, [UInt8])] {
            let options = BusValue.properties([("offset", .uint16(offset))])
            let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "ReadValue", [options])
            let number = try #require(bus.number(of: ":1.1", where: Self.isRead))
            let answer = PeerEvent.valueRead(AttributeHandle(wire: 0x12), .success([1, 2, 3]))
            bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
            #expect(bus.outcome(of: serial) == .values([.octets(rest)]))
        }
        let options = BusValue.properties([("offset", .uint16(513))])
        let result = bus.result(":1.1", TestBridge.value, BlueZ.characteristic, "ReadValue", [options])
        #expect(result == .failed(.invalidOffset))
    }

    private static let everyFailures: [(Failure, String, String)] = [
        (.att(.readNotPermitted), "NotPermitted", "Read not permitted"),
        (.att(.writeNotPermitted), "NotPermitted", "Write not permitted"),
        (.att(.insufficientAuthentication), "NotPermitted", "Not paired"),
        (.att(.invalidOffset), "InvalidArguments", "Invalid offset"),
        (.att(.invalidAttributeValueLength), "InvalidArguments", "Invalid Length"),
        (.att(.insufficientAuthorization), "NotAuthorized", "Operation Not Authorized"),
        (.att(.requestNotSupported), "NotSupported", "Operation is not supported"),
        (.att(.init(wire: 0x80)), "Failed", "Operation failed with ATT error: 0x80"),
        (.att(.init(wire: 0x0E)), "Failed", "Operation failed with ATT error: 0x0e"),
        (.uuidNotAllowed, "NotAuthorized", "Operation Not Authorized"),
        (.notConnected, "NotConnected", "Not Connected"),
        (.timedOut, "Failed", "Operation timed out"),
    ]

    @Test("A failed request has the name and text of BlueZ's error", arguments: everyFailures)
    func failures(failure: Failure, name: String, text: String) throws {
        var bus = TestBridge()
        try bus.connect()
        let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "ReadValue", [Self.none])
        let number = try #require(bus.number(of: ":1.1", where: Self.isRead))
        let answer = PeerEvent.valueRead(AttributeHandle(wire: 0x12), .failure(failure))
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .error("org.bluez.Error." + name, text))
    }

    private static let value = AttributeHandle(wire: 0x12), command = AttributeHandle(wire: 0x15)
    private static let descriptor = AttributeHandle(wire: 0x13)
    private static let writes: [(path: String, offset: UInt16, type: String?, request: AttributeRequest?)] = [
        (TestBridge.value, 0, nil, .write(value, [7])),
        (TestBridge.value, 0, "request", .write(value, [7])),
        (TestBridge.value, 0, "command", .writeCommand(value, [7])),
        (TestBridge.value, 0, "x", nil),
        (TestBridge.value, 3, nil, .writePart(value, [7], offset: 3)),
        (TestBridge.value, 512, "request", .writePart(value, [7], offset: 512)),
        (TestBridge.value, 3, "reliable", .writePart(value, [7], offset: 3)),
        (TestBridge.value, 3, "command", nil),
        (TestBridge.command, 0, nil, .writeCommand(command, [7])),
        (TestBridge.command, 0, "command", .writeCommand(command, [7])),
        (TestBridge.command, 0, "request", .write(command, [7])),
        (TestBridge.command, 3, nil, nil),
        (TestBridge.command, 3, "request", .writePart(command, [7], offset: 3)),
        (TestBridge.descriptor, 0, "command", .write(descriptor, [7])),
        (TestBridge.descriptor, 3, "command", .writePart(descriptor, [7], offset: 3)),
    ]

    @Test("A write is a request or a command, as its type and the characteristic say", arguments: writes)
    func write(path: String, offset: UInt16, type: String?, request: AttributeRequest?) throws {
        var bus = TestBridge()
        try bus.connect(descriptor: .short(0x2901))
        bus.forget()
        var options = offset == 0 ? [] : [("offset", BusValue.uint16(offset))]
        if let type { options.append(("type", .string(type))) }
        let interface = path == TestBridge.descriptor ? BlueZ.descriptor : BlueZ.characteristic
        let serial = bus.call(":1.1", path, interface, "WriteValue", [.octets([7]), .properties(options)])
        let sent = bus.requests.compactMap { key, request -> AttributeRequest? in
            if case .peer(_, .attribute(let attribute), _) = request { attribute } else { nil }
        }
        #expect(sent == (request.map { [$0] } ?? []))
        if request == nil {
            #expect(bus.outcome(of: serial) == .failed(.notSupported))
        } else {
            #expect((bus.outcome(of: serial) == .done) == (request?.isWriteCommand == true))
        }
    }

    @Test("The descriptor that configures notifications is not written")
    func configuration() throws {
        var bus = TestBridge()
        try bus.connect()
        let body: [BusValue] = [.octets([1, 0]), Self.none]
        let result = bus.result(":1.1", TestBridge.descriptor, BlueZ.descriptor, "WriteValue", body)
        #expect(result == .error("org.bluez.Error.NotPermitted", "Write not permitted"))
    }

    @Test("A value is signalled to the programs that have subscribed, each once, and to no others")
    func notifications() throws {
        var bus = TestBridge()
        for client in [":1.1", ":1.3"] { try bus.connect(client) }
        try bus.connect(":1.2")
        #expect(try subscribe(":1.1", &bus) == .done)
        #expect(try subscribe(":1.3", &bus) == .done)
        #expect(bus.result(":1.1", TestBridge.value, BlueZ.characteristic, "StartNotify") == .done)
        bus.forget()
        for client in [":1.1", ":1.3"] { notify([5], client, &bus) }
        let signals = bus.signals("PropertiesChanged")
        #expect(signals.map(\.destination) == [":1.1", ":1.3"])
        #expect(signals.allSatisfy { $0.path == TestBridge.value && $0.body[1][key: "Value"] == .octets([5]) })
        #expect(bus.property("Value", of: BlueZ.characteristic, at: TestBridge.value, for: ":1.1") == .octets([5]))
        #expect(bus.property("Value", of: BlueZ.characteristic, at: TestBridge.value, for: ":1.2") == .octets([]))
    }

    @Test("A value is signalled once to each connection of the program that has subscribed")
    func connections() throws {
        var bus = TestBridge()
        bus.processes = [":1.1": 70, ":1.2": 70]
        for client in [":1.1", ":1.2", ":1.3"] { try bus.connect(client) }
        for client in [":1.2", ":1.1"] { #expect(try subscribe(client, &bus) == .done) }
        bus.forget()
        for client in [":1.1", ":1.2"] { notify([5], client, &bus) }
        #expect(bus.signals("PropertiesChanged").map(\.destination) == [":1.1", ":1.2"])
    }

    @Test("Two equal values are two signals")
    func equalValues() throws {
        var bus = TestBridge()
        try bus.connect()
        _ = try subscribe(":1.1", &bus)
        bus.forget()
        for _ in 0..<2 { notify([5], ":1.1", &bus) }
        #expect(bus.signals("PropertiesChanged").count == 2)
    }

    @Test("A characteristic notifies until the last program ends its subscription or leaves the bus")
    func notifying() throws {
        var bus = TestBridge()
        for client in [":1.1", ":1.2", ":1.3"] {
            try bus.connect(client)
            _ = try subscribe(client, &bus)
        }
        let isNotifying = { (bus: inout TestBridge) in
            bus.property("Notifying", of: BlueZ.characteristic, at: TestBridge.value, for: ":1.3")
        }
        #expect(bus.result(":1.9", TestBridge.value, BlueZ.characteristic, "StopNotify") == .failed(.notNotifying))
        bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "StopNotify")
        bus.leave(":1.2")
        #expect(isNotifying(&bus) == .boolean(true))
        bus.call(":1.3", TestBridge.value, BlueZ.characteristic, "StopNotify")
        #expect(isNotifying(&bus) == .boolean(false))
    }

    @Test("A subscription that the device refuses is refused, and not kept")
    func refused() throws {
        var bus = TestBridge()
        try bus.connect()
        let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "StartNotify")
        let number = try #require(bus.number(of: ":1.1", where: Self.isSubscription))
        let failure = Failure.att(.writeNotPermitted)
        let answer = PeerEvent.subscriptionChanged(AttributeHandle(wire: 0x12), .none, failure)
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .failed(.init(failure)))
        #expect(try subscribe(":1.1", &bus) == .done)
    }

    @Test("A value that precedes the answer to the subscription is signalled")
    func early() throws {
        var bus = TestBridge()
        try bus.connect()
        bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "StartNotify")
        bus.forget()
        #expect(bus.result(":1.1", TestBridge.value, BlueZ.characteristic, "StartNotify") == .failed(.inProgress))
        notify([9], ":1.1", &bus)
        #expect(bus.signals("PropertiesChanged").map(\.destination) == [":1.1"])
    }

    @Test("Acquired notifications go to a pipe, and end with it")
    func acquireNotify() throws {
        var bus = TestBridge()
        try bus.connect()
        let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "AcquireNotify", [Self.none])
        let number = try #require(bus.number(of: ":1.1", where: Self.isSubscription))
        let answer = PeerEvent.subscriptionChanged(AttributeHandle(wire: 0x12), .notifications, nil)
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .values([.descriptor(0), .uint16(100)]))
        let pipe = try #require(bus.bridge.pipes.keys.first)
        notify([1, 2], ":1.1", &bus)
        #expect(bus.actions.last == .writePipe(pipe, [1, 2]))
        let other = bus.result(":1.1", TestBridge.value, BlueZ.characteristic, "StartNotify")
        #expect(other == .failed(.init("NotPermitted", "Notify acquired")))
        _ = bus.bridge.receive(nil, from: pipe, at: bus.now)
        #expect(bus.bridge.pipes.isEmpty)
        #expect(bus.property("NotifyAcquired", of: BlueZ.characteristic, at: TestBridge.value) == .boolean(false))
    }

    @Test("Values from a pipe are write commands; the pipe is not read while too many wait in the host")
    func acquireWrite() throws {
        var bus = TestBridge()
        try bus.connect()
        bus.call(":1.1", TestBridge.command, BlueZ.characteristic, "AcquireWrite", [Self.none])
        let pipe = try #require(bus.bridge.pipes.keys.first)
        var actions: [BlueZBridge.Action] = []
        for _ in 0..<BlueZBridge.Limit.commands { actions += bus.bridge.receive([7], from: pipe, at: bus.now) }
        #expect(actions.filter { if case .request = $0 { true } else { false } }.count == BlueZBridge.Limit.commands)
        #expect(actions.last == .pausePipe(pipe))
        let taken = ClientEvent.peer(TestBridge.lamp, .writeCommandsTaken(1), answering: .none)
        #expect(bus.bridge.receive(taken, of: .init(":1.1", .central), at: bus.now) == [.resumePipe(pipe)])
    }

    @Test("A value from a pipe is kept while the commands of other calls leave no room for it")
    func acquireWriteWithoutRoom() throws {
        var bus = TestBridge()
        try bus.connect()
        bus.call(":1.1", TestBridge.command, BlueZ.characteristic, "AcquireWrite", [Self.none])
        let pipe = try #require(bus.bridge.pipes.keys.first), key = BlueZBridge.SessionKey(":1.1", .central)
        let handle = try #require(bus.bridge.pipes[pipe]?.handle)
        // A paused pipe may have values that were read before, and other calls may have used the room.
        for _ in 0..<BlueZBridge.Limit.commands { _ = bus.bridge.sendCommand(handle, [1], key, TestBridge.lamp) }
        _ = bus.bridge.takeActions()
        #expect(bus.bridge.receive([7], from: pipe, at: bus.now) == [.pausePipe(pipe)])
        let taken = ClientEvent.peer(TestBridge.lamp, .writeCommandsTaken(1), answering: .none)
        let first = bus.bridge.receive(taken, of: key, at: bus.now)
        #expect(first == [.request(key, .peer(TestBridge.lamp, .writeCommand(handle, [7])))])
        #expect(bus.bridge.receive(taken, of: key, at: bus.now) == [.resumePipe(pipe)])
    }

    @Test("A program that another one has connected the device for gets a connection of its own, or none")
    func ownConnection() throws {
        var bus = TestBridge()
        try bus.connect(":1.1")
        bus.unauthorized = [2_000]
        bus.forget()
        let refused = bus.result(":1.3", TestBridge.value, BlueZ.characteristic, "ReadValue", [Self.none])
        #expect(refused == .failed(.notAuthorized))
        bus.call(":1.2", TestBridge.value, BlueZ.characteristic, "ReadValue", [Self.none])
        #expect(bus.requests.last?.key == .init(":1.2", .central))
        guard case .connect? = bus.requests.last?.request else {
            Issue.record("no connection: \(bus.requests)")
            return
        }
    }

    @Test("Subscriptions go on after the session that discovered the services has disconnected")
    func discovererLeaves() throws {
        var bus = TestBridge()
        let other = TestBridge.Key(":1.3", .central)
        for client in [":1.1", ":1.3"] { try bus.connect(client) }
        #expect(try subscribe(":1.3", &bus) == .done)
        bus.forget()
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.1", .central))
        notify([5], ":1.3", &bus)
        #expect(bus.signals("PropertiesChanged").map(\.destination) == [":1.3"])
        #expect(bus.requests.isEmpty)
        bus.event(.peer(TestBridge.lamp, .servicesModified(.all), answering: .none), of: other)
        try bus.showServices(to: other)
        for path in [TestBridge.service, TestBridge.value, TestBridge.descriptor] {
            #expect(bus.bridge.tree.interfaces(of: path).count == 1, "\(path)")
        }
    }

    @Test("Write commands that a restart of the daemon has discarded leave room for new ones")
    func discardedCommands() throws {
        var bus = TestBridge()
        try bus.connect()
        let write = { (bus: inout TestBridge) in
            bus.result(":1.1", TestBridge.command, BlueZ.characteristic, "WriteValue", [.octets([7]), Self.none])
        }
        for _ in 0..<BlueZBridge.Limit.commands { #expect(write(&bus) == .done) }
        #expect(write(&bus) == .failed(.inProgress))
        for state in [HostState.resetting, .poweredOn] {
            bus.event(.stateChanged(state), of: .init(":1.1", .central))
        }
        try bus.connect()
        #expect(write(&bus) == .done)
    }

    @Test("The first of two concurrent calls to AcquireNotify gets the notifications", arguments: [":1.1", ":1.3"])
    func acquireTwice(second: String) throws {
        var bus = TestBridge()
        for client in [":1.1", ":1.3"] { try bus.connect(client) }
        let handle = AttributeHandle(wire: 0x12)
        var serials: [UInt32] = [], numbers: [RequestNumber] = []
        for client in [":1.1", second] {
            serials.append(bus.call(client, TestBridge.value, BlueZ.characteristic, "AcquireNotify", [Self.none]))
            numbers.append(try #require(bus.number(of: client, where: Self.isSubscription)))
        }
        for (client, number) in zip([":1.1", second], numbers) {
            let answer = PeerEvent.subscriptionChanged(handle, .notifications, nil)
            bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(client, .central))
        }
        #expect(bus.outcome(of: serials[0]) == .values([.descriptor(0), .uint16(100)]))
        #expect(bus.outcome(of: serials[1]) == .failed(.init("NotPermitted", "Notify acquired")))
        let dropped = bus.number(of: second) { request in
            if case .subscribe(let kind, to: _, in: _) = request { kind == .none } else { false }
        }
        #expect((dropped != nil) == (second != ":1.1"), "only another program loses its subscription")
        #expect(bus.bridge.pipes.count == 1)
        let pipe = try #require(bus.bridge.pipes.keys.first)
        notify([1, 2], ":1.1", &bus)
        #expect(bus.actions.last == .writePipe(pipe, [1, 2]))
    }

    @Test("A characteristic that the device removes while it is acquired does not exist")
    func acquireRemoved() throws {
        var bus = TestBridge()
        try bus.connect()
        let key = TestBridge.Key(":1.1", .central)
        let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "AcquireNotify", [Self.none])
        let number = try #require(bus.number(of: ":1.1", where: Self.isSubscription))
        bus.event(.peer(TestBridge.lamp, .servicesModified(.all), answering: .none), of: key)
        let answer = PeerEvent.subscriptionChanged(AttributeHandle(wire: 0x12), .notifications, nil)
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: key)
        #expect(bus.outcome(of: serial) == .failed(.doesNotExist))
        #expect(bus.bridge.pipes.isEmpty)
    }
}
