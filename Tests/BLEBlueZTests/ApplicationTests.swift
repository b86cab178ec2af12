import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Applications of programs")
struct ApplicationTests {
    private static let peer = PeerIdentifier(rawValue: 5)
    private static let central = RemoteCentral(peer: peer, mtu: 64)
    private static let address = DeviceAddress(0xC000_0000_0005, .random)

    private static func objects(flags: [String] = ["read"], descriptor: [String]? = nil) -> BusReply {
        .values([RegisteredApplication.objects(flags: flags, descriptor: descriptor)], from: nil)
    }

    private func register(
        flags: [String] = ["read", "write", "notify"],
        descriptor: [String]? = nil,
        failure: Failure? = nil
    ) throws -> RegisteredApplication {
        try RegisteredApplication(flags: flags, descriptor: descriptor, failure: failure)
    }

    @Test("An application is registered when the daemon has added its services")
    func registration() throws {
        let registered = try register()
        #expect(registered.bus.outcome(of: registered.serial) == .done)
        let refused = try register(failure: .limitReached)
        #expect(refused.bus.outcome(of: refused.serial) == .failed(.failed))
        #expect(refused.bus.bridge.applications.isEmpty)
        #expect(refused.bus.actions.contains(.close(refused.key)))
    }

    @Test("A program that may not be a peripheral is refused")
    func unauthorized() throws {
        var bus = TestBridge()
        bus.unauthorized = [2_000]
        let body: [BusValue] = [.path("/a"), .properties([])]
        let serial = bus.call(":1.3", TestBridge.adapter, BlueZ.applications, "RegisterApplication", body)
        let number = try #require(bus.calls.last?.number)
        bus.reply(number, .values([RegisteredApplication.objects()], from: ":1.3"))
        #expect(bus.outcome(of: serial) == .failed(.notAuthorized))
        #expect(bus.bridge.applications.isEmpty)
    }

    private static let everyMistakes: [BusReply] = [
        .refused(.init(name: "org.freedesktop.DBus.Error.UnknownMethod", text: nil)), .values([], from: nil),
        .values([.string("x")], from: nil), objects(flags: ["fly"]), objects(flags: []), objects(descriptor: []),
        objects(descriptor: ["notify"]), objects(descriptor: ["fly"]),
        .values([.array(of: .entry(.path, .array(.entry(.string, .variant))), [])], from: nil),
    ]

    @Test("An application without services, or with objects that are invalid, is refused", arguments: everyMistakes)
    func mistakes(reply: BusReply) throws {
        var bus = TestBridge()
        let body: [BusValue] = [.path("/a"), .properties([])]
        let serial = bus.call(":1.1", TestBridge.adapter, BlueZ.applications, "RegisterApplication", body)
        bus.reply(try #require(bus.calls.last?.number), reply)
        guard case .error? = bus.outcome(of: serial) else {
            Issue.record("the application is not refused: \(bus.actions)")
            return
        }
        #expect(bus.bridge.applications.isEmpty)
    }

    @Test("A read asks the program, and its value or its error is the answer")
    func read() throws {
        let answers: [(BusReply, ServerResponse)] = [
            (.values([.octets([1, 2])], from: ":1.1"), .success([1, 2])),
            (.values([.string("x")], from: ":1.1"), .failure(.unlikelyError)),
            (.refused(.init(name: "org.bluez.Error.NotPermitted", text: nil)), .failure(.readNotPermitted)),
            (.refused(.init(name: "org.bluez.Error.NotAuthorized", text: nil)), .failure(.insufficientAuthorization)),
            (.refused(.init(name: "org.bluez.Error.InvalidOffset", text: nil)), .failure(.invalidOffset)),
            (.refused(.init(name: "org.bluez.Error.Failed", text: "0x81")), .failure(.init(wire: 0x81))),
            (.refused(.init(name: "org.bluez.Error.Failed", text: "0x01")), .failure(.unlikelyError)),
            (.refused(.init(name: "x", text: nil)), .failure(.unlikelyError)),
        ]
        for (index, (reply, response)) in answers.enumerated() {
            var registered = try register()
            let transaction = ServerTransaction(rawValue: UInt64(index) + 1)
            registered.bus.forget()
            registered.bus.event(
                .server(.readRequested(transaction, Self.central, registered.value, offset: 3)),
                of: registered.key
            )
            let call = try #require(registered.bus.calls.last)
            #expect(call.message.member == "ReadValue" && call.message.path == "/a/s/c")
            #expect(call.message.destination == ":1.1")
            #expect(call.message.body.first?[key: "offset"] == .uint16(3))
            #expect(call.message.body.first?[key: "mtu"] == .uint16(64))
            registered.bus.reply(call.number, reply)
            #expect(registered.bus.requests.last?.request == .service(.respond(transaction, response)))
        }
    }

    @Test("A program that does not answer within 25 s fails the read, one nanosecond before it does not")
    func silence() throws {
        var registered = try register()
        let transaction = ServerTransaction(rawValue: 1)
        let event = ServerEvent.readRequested(transaction, Self.central, registered.value, offset: 0)
        registered.bus.event(.server(event), of: registered.key)
        let number = try #require(registered.bus.calls.last?.number)
        registered.bus.forget()
        registered.bus.pass(BlueZBridge.callTimeout - .nanoseconds(1))
        #expect(registered.bus.actions == [])
        registered.bus.pass(.nanoseconds(1))
        #expect(registered.bus.actions.contains(.forget(number)))
        let response = ServerResponse.failure(.unlikelyError)
        #expect(registered.bus.requests.map(\.request) == [.service(.respond(transaction, response))])
        registered.bus.forget()
        registered.bus.reply(number, .values([.octets([1])], from: ":1.1"))
        #expect(registered.bus.actions == [])
    }

    @Test("The parts of a long value are one write, other parts are passed one after the other, answered once")
    func write() throws {
        var registered = try register()
        let parts = [(1, [1]), (3, [3]), (4, [4, 5]), (6, [6]), (6, [7])].map { offset, value in
            WritePart(attribute: registered.value, offset: offset, value: value)
        }
        let transaction = ServerTransaction(rawValue: 1)
        registered.bus.forget()
        let event = ServerEvent.writeRequested(transaction, Self.central, WriteGroup(parts))
        registered.bus.event(.server(event), of: registered.key)
        for (offset, value) in [(1, [1]), (3, [3, 4, 5, 6]), (6, [7])] as [(UInt16, [UInt8])] {
            let call = try #require(registered.bus.calls.last)
            #expect(call.message.member == "WriteValue" && call.message.body.first == .octets(value))
            #expect(call.message.body.last?[key: "offset"] == .uint16(offset))
            #expect(call.message.body.last?[key: "type"] == .string("request"))
            registered.bus.reply(call.number, .values([], from: ":1.1"))
        }
        #expect(registered.bus.requests.map(\.request) == [.service(.respond(transaction, .success([])))])
    }

    /// Prepared writes with the flag `authorize`, the program that trusts the device, and whether the program of the
    /// application is asked first.
    private static let prepared: [(flags: [String], offsets: [Int], truster: String?, isAsked: Bool)] = [
        (["write", "authorize"], [0, 1], nil, true), (["write", "authorize"], [3], nil, true),
        (["write", "authorize"], [0, 1], ":1.2", false), (["write", "authorize"], [0, 1], ":1.9", false),
        (["write", "authorize"], [0, 1], ":1.3", true), (["write", "authorize"], [0], nil, false),
        (["write"], [0, 1], nil, false),
    ]

    @Test(
        "A program is asked before an untrusted device's prepared writes, if it sets the flag authorize",
        arguments: prepared.indices,
        [true, false]
    )
    func authorize(index: Int, isAccepted: Bool) throws {
        let (flags, offsets, truster, isAsked) = Self.prepared[index]
        var registered = try register(flags: flags)
        let connected = ServerEvent.centralsConnected([ConnectedCentral(Self.central, address: Self.address)])
        registered.bus.event(.server(connected), of: registered.key)
        let body = [BusValue.string(BlueZ.device), .string("Trusted"), .variant(.boolean(truster != nil))]
        let device = TestBridge.adapter + "/dev_C0_00_00_00_00_05"
        #expect(registered.bus.result(truster ?? ":1.2", device, ObjectTree.properties, "Set", body) == .values([]))
        let transaction = ServerTransaction(rawValue: 1)
        let parts = offsets.map { WritePart(attribute: registered.value, offset: $0, value: [UInt8($0)]) }
        registered.bus.forget()
        registered.bus.event(
            .server(.writeRequested(transaction, Self.central, WriteGroup(parts))),
            of: registered.key
        )
        let first = try #require(registered.bus.calls.last)
        #expect(first.message.member == "WriteValue")
        #expect(first.message.body.last?[key: "prepare-authorize"] == (isAsked ? .boolean(true) : nil))
        guard isAsked else { return }
        #expect(first.message.body.first == .octets([UInt8(offsets[0])]))
        guard isAccepted else {
            let refusal = BusReply.Refusal(name: "org.bluez.Error.NotAuthorized", text: "")
            registered.bus.reply(first.number, .refused(refusal))
            let response = ServerResponse.failure(.insufficientAuthorization)
            #expect(registered.bus.requests.map(\.request) == [.service(.respond(transaction, response))])
            return
        }
        registered.bus.reply(first.number, .values([], from: ":1.1"))
        let second = try #require(registered.bus.calls.last)
        #expect(second.number != first.number && second.message.member == "WriteValue")
        #expect(second.message.body.first == .octets(offsets.map { UInt8($0) }))
        #expect(second.message.body.last?[key: "prepare-authorize"] == nil)
        registered.bus.reply(second.number, .values([], from: ":1.1"))
        #expect(registered.bus.requests.map(\.request) == [.service(.respond(transaction, .success([])))])
    }

    /// Flags, and the properties and permissions that the host gets.
    private static let flagSets: [(flags: [String], CharacteristicProperties, AttributePermissions)] = [
        (["broadcast", "read"], [.broadcast, .read], .readable),
        (["write", "write-without-response"], [.write, .writeWithoutResponse], .writeable),
        (["authenticated-signed-writes"], .authenticatedSignedWrites, .writeable),
        (["read", "encrypt-read"], .read, .readEncryptionRequired),
        (["encrypt-authenticated-read"], .read, .readAuthenticationRequired),
        (["encrypt-authenticated-write"], .write, .writeAuthenticationRequired),
        (
            ["secure-read", "encrypt-write"], [.read, .write],
            [.readSecureConnectionsRequired, .writeEncryptionRequired]
        ),
        (["read", "secure-write"], [.read, .write], [.readable, .writeSecureConnectionsRequired]),
        (["encrypt-notify"], .notifyEncryptionRequired, []),
        (["encrypt-authenticated-notify"], .notifyAuthenticationRequired, []),
        (["secure-notify"], .notifySecureConnectionsRequired, []),
        (["secure-indicate"], .indicateSecureConnectionsRequired, []),
        (["encrypt-authenticated-indicate"], .indicateAuthenticationRequired, []),
        (["read", "reliable-write"], [.read, .extendedProperties], [.readable, .writeable]),
        (["read", "writable-auxiliaries"], [.read, .extendedProperties], .readable),
        (["read", "authorize"], .read, .readable),
    ]

    @Test("The flags of a characteristic become its properties and permissions", arguments: flagSets.indices)
    func flags(index: Int) throws {
        let (flags, properties, permissions) = Self.flagSets[index]
        let registered = try register(flags: flags)
        let added = registered.bus.requests.compactMap { request in
            if case .service(.addService(let service)) = request.request { service } else { nil }
        }
        let characteristic = try #require(added.first?.characteristics.first)
        #expect(characteristic.properties == properties && characteristic.permissions == permissions)
    }

    @Test(
        "Reads and writes of a descriptor are passed to its object, with the permissions of its flags",
        arguments: [
            (["read", "write"], [.readable, .writeable]), (["encrypt-read"], .readEncryptionRequired),
            (["read", "encrypt-authenticated-write"], [.readable, .writeAuthenticationRequired]),
            (["secure-read", "secure-write"], [.readSecureConnectionsRequired, .writeSecureConnectionsRequired]),
        ] as [([String], AttributePermissions)]
    )
    func descriptor(flags: [String], permissions: AttributePermissions) throws {
        var registered = try register(descriptor: flags)
        let added = registered.bus.requests.compactMap { request in
            if case .service(.addService(let service)) = request.request { service } else { nil }
        }
        let descriptor = try #require(added.first?.characteristics.first?.descriptors.first)
        #expect(descriptor.permissions == permissions && descriptor.value == nil)
        let transaction = ServerTransaction(rawValue: 1)
        let read = ServerEvent.readRequested(transaction, Self.central, descriptor.id, offset: 0)
        let part = WritePart(attribute: descriptor.id, value: [7])
        let write = ServerEvent.writeRequested(transaction, Self.central, WriteGroup([part]))
        for (event, member, value) in [(read, "ReadValue", [9]), (write, "WriteValue", [])] as [(_, _, [UInt8])] {
            registered.bus.forget()
            registered.bus.event(.server(event), of: registered.key)
            let call = try #require(registered.bus.calls.last)
            #expect(call.message.path == "/a/s/c/d" && call.message.interface == BlueZ.descriptor)
            #expect(call.message.member == member)
            registered.bus.reply(call.number, .values(member == "ReadValue" ? [.octets(value)] : [], from: ":1.1"))
            let answer = ClientRequest.service(.respond(transaction, .success(value)))
            #expect(registered.bus.requests.map(\.request) == [answer])
        }
    }

    @Test(
        "Services are published after those that they include, and a service that is not there cannot be included",
        arguments: [("/b", true), ("/c", false)]
    )
    func includes(path: String, isPublished: Bool) throws {
        let services: [(String, [(String, BusValue)])] = [
            ("/a", [("UUID", .string("b001")), ("Includes", .array(of: .path, [.path(path)]))]),
            ("/b", [("UUID", .string("b002")), ("Primary", .boolean(false))]),
        ]
        let entries = services.map { path, values in
            let content = BusValue.properties(values)
            let interfaces = [BusValue.entry(.string(BlueZ.service), content)]
            return BusValue.entry(.path(path), .array(of: .entry(.string, content.type), interfaces))
        }
        var bus = TestBridge()
        let body: [BusValue] = [.path("/a"), .properties([])]
        bus.call(":1.1", TestBridge.adapter, BlueZ.applications, "RegisterApplication", body)
        let number = try #require(bus.calls.last?.number)
        bus.reply(number, .values([.array(of: entries[0].type, entries)], from: ":1.1"))
        let added = bus.requests.compactMap { request in
            if case .service(.addService(let service)) = request.request { service } else { nil }
        }
        guard isPublished else { return #expect(added.isEmpty && bus.bridge.applications.isEmpty) }
        #expect(added.map(\.uuid) == [.short(0xB002), .short(0xB001)])
        #expect(added.last?.includes == added.first.map { [$0.id] })
    }

    @Test("A changed value notifies its subscribers, if its own program signals it")
    func update() throws {
        var registered = try register()
        registered.bus.event(.server(.subscribed(Self.central, to: registered.value)), of: registered.key)
        #expect(registered.bus.calls.last?.message.member == "StartNotify")
        registered.bus.forget()
        for sender in [":1.3", ":1.1"] {
            var signal = BusMessage(kind: .signal, serial: 1, path: "/a/s/c", interface: ObjectTree.properties)
            (signal.member, signal.sender) = ("PropertiesChanged", sender)
            let change = BusValue.properties([("Value", .octets([8]))])
            signal.body = [.string(BlueZ.characteristic), change, .strings([])]
            registered.bus.signal(signal)
        }
        let update = ClientRequest.service(.update(registered.value, [8], to: nil))
        #expect(registered.bus.requests.map(\.request) == [update])
        registered.bus.event(.server(.unsubscribed(Self.central, from: registered.value)), of: registered.key)
        #expect(registered.bus.calls.last?.message.member == "StopNotify")
    }

    @Test("A confirmed indication calls Confirm", arguments: ["indicate", "secure-indicate", "notify"])
    func confirmed(flag: String) throws {
        var registered = try register(flags: [flag])
        let request = ClientRequest.service(.reportConfirmations(of: registered.value))
        #expect(registered.bus.requests.contains { $0.request == request } == (flag != "notify"))
        registered.bus.event(.server(.confirmed(Self.central, of: registered.value)), of: registered.key)
        let call = try #require(registered.bus.calls.last?.message)
        #expect(call.member == "Confirm" && call.path == "/a/s/c" && call.destination == ":1.1" && call.expectsNoReply)
    }

    @Test("The services of a program end when it unregisters them or leaves the bus", arguments: [true, false])
    func end(leaves: Bool) throws {
        var registered = try register()
        let other = registered.bus.result(
            ":1.2",
            TestBridge.adapter,
            BlueZ.applications,
            "UnregisterApplication",
            [.path("/a")]
        )
        #expect(other == .failed(.doesNotExist))
        if leaves {
            registered.bus.leave(":1.1")
        } else {
            let body = [BusValue.path("/a")]
            registered.bus.call(":1.1", TestBridge.adapter, BlueZ.applications, "UnregisterApplication", body)
        }
        #expect(registered.bus.actions.contains(.close(registered.key)))
    }

    @Test("The services are added again after the daemon has lost them")
    func reset() throws {
        var registered = try register()
        registered.bus.forget()
        for state in [HostState.resetting, .poweredOn, .poweredOn] {
            registered.bus.event(.stateChanged(state), of: registered.key)
        }
        #expect(registered.bus.requests.count == 1)
        guard case .service(.addService)? = registered.bus.requests.first?.request else {
            Issue.record("no service: \(registered.bus.requests)")
            return
        }
    }
}
