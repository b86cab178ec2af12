import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Sockets of exported characteristics")
struct ExportedPipeTests {
    private static let central = RemoteCentral(peer: PeerIdentifier(rawValue: 5), mtu: 64)
    private static let other = RemoteCentral(peer: PeerIdentifier(rawValue: 6), mtu: 64)
    private static let address = DeviceAddress(0xC000_0000_0005, .random)
    private static let socket = BusReply.values([.descriptor(0), .uint16(64)], from: ":1.1")

    private static func refusal(_ name: String) -> BusReply { .refused(.init(name: name, text: nil)) }

    /// An application with a characteristic that implements `AcquireWrite` and `AcquireNotify`, and its test bus.
    private struct Acquiring {
        var registered: RegisteredApplication
        /// The actions after the program has returned a socket.
        var actions: [BlueZBridge.Action] = []

        init(flags: [String] = ["write", "write-without-response", "notify"]) throws {
            registered = try RegisteredApplication(flags: flags, acquires: true)
            registered.bus.forget()
        }

        mutating func event(_ event: ServerEvent) { registered.bus.event(.server(event), of: registered.key) }

        mutating func write(_ value: [UInt8], _ transaction: UInt64?, by central: RemoteCentral = central) {
            let transaction = transaction.map { ServerTransaction(rawValue: $0) }
            let part = WritePart(attribute: registered.value, value: value)
            event(.writeRequested(transaction, central, WriteGroup([part])))
        }

        mutating func subscribe(_ central: RemoteCentral = central) {
            event(.subscribed(central, to: registered.value))
        }

        /// Has the program answer the last call, and returns the resulting actions.
        mutating func reply(_ reply: BusReply, sockets: Int = 1) throws -> [BlueZBridge.Action] {
            let number = try #require(registered.bus.calls.last?.number)
            return registered.bus.bridge.replied(to: number, with: reply, sockets: sockets, at: registered.bus.now)
        }

        /// Has the program return a socket, and returns the number of the pipe.
        mutating func open() throws -> BlueZBridge.PipeNumber {
            actions = try reply(ExportedPipeTests.socket)
            guard case .takePipe(let pipe, 0)? = actions.first else {
                Issue.record("the socket is not taken: \(actions)")
                return 0
            }
            return pipe
        }

        mutating func passed(_ isPassed: Bool, _ pipe: BlueZBridge.PipeNumber) -> [BlueZBridge.Action] {
            registered.bus.bridge.passed(isPassed, to: pipe, at: registered.bus.now)
        }

        mutating func receive(_ value: [UInt8]?, _ pipe: BlueZBridge.PipeNumber) -> [BlueZBridge.Action] {
            registered.bus.bridge.receive(value, from: pipe, at: registered.bus.now)
        }

        /// The methods of the program that have been called.
        var members: [String] { registered.bus.calls.compactMap(\.message.member) }

        func response(_ transaction: UInt64, _ response: ServerResponse) -> BlueZBridge.Action {
            .request(registered.key, .service(.respond(ServerTransaction(rawValue: transaction), response)))
        }

        func update(_ value: [UInt8], to centrals: [RemoteCentral]) -> BlueZBridge.Action {
            .request(registered.key, .service(.update(registered.value, value, to: centrals.map(\.peer))))
        }
    }

    @Test("Writes of a central go to the socket that the program gives for it, and requests are answered")
    func write() throws {
        var test = try Acquiring()
        test.event(.centralsConnected([ConnectedCentral(Self.central, address: Self.address)]))
        test.write([1], nil)
        test.write([2], 7)
        let call = try #require(test.registered.bus.calls.last?.message)
        #expect(test.members == ["AcquireWrite"], "the second write waits for the same socket")
        #expect(call.path == "/a/s/c" && call.interface == BlueZ.characteristic && call.destination == ":1.1")
        #expect(call.signature == "a{sv}")
        let options = try #require(call.body.first)
        #expect(options[key: "mtu"] == .uint16(64) && options[key: "link"] == .string("LE"))
        #expect(options[key: "device"] == .path(TestBridge.adapter + "/dev_C0_00_00_00_00_05"))
        let pipe = try test.open()
        #expect(test.actions.dropFirst() == [.passWrite(pipe, [1]), .passWrite(pipe, [2])])
        #expect(test.passed(true, pipe) == [])
        #expect(test.passed(true, pipe) == [test.response(7, .success([]))])
        test.registered.bus.forget()
        test.write([3], 8)
        #expect(test.registered.bus.actions == [.passWrite(pipe, [3])])
        #expect(test.passed(false, pipe) == [test.response(8, .failure(.unlikelyError))])
    }

    @Test("Each central has a socket of its own")
    func centrals() throws {
        var test = try Acquiring()
        test.write([1], nil)
        let first = try test.open()
        test.write([2], nil, by: Self.other)
        #expect(test.members == ["AcquireWrite", "AcquireWrite"])
        let second = try test.open()
        #expect(first != second && test.actions.last == .passWrite(second, [2]))
    }

    private static let everyUnusableReplies: [(BusReply, sockets: Int)] = [
        (.values([], from: ":1.1"), 1), (.values([.descriptor(0)], from: ":1.1"), 1), (socket, 0),
        (.values([.descriptor(1), .uint16(64)], from: ":1.1"), 1),
        (.values([.descriptor(.max), .uint16(64)], from: ":1.1"), 253),
        (.values([.uint32(0), .uint16(64)], from: ":1.1"), 1),
        (.values([.descriptor(0), .string("x")], from: ":1.1"), 1),
        (refusal("org.freedesktop.DBus.Error.UnknownMethod"), 0), (.refused(.tooMany), 0), (.refused(.timedOut), 0),
    ]

    @Test("Without a usable socket, writes call WriteValue", arguments: everyUnusableReplies.indices)
    func writeWithoutSocket(index: Int) throws {
        var test = try Acquiring()
        test.write([1], nil)
        test.write([2], 7)
        let (reply, sockets) = Self.everyUnusableReplies[index]
        let actions = try test.reply(reply, sockets: sockets)
        let calls = actions.compactMap { if case .call(_, let message) = $0 { message } else { nil } }
        #expect(calls.map(\.member) == ["WriteValue", "WriteValue"] && calls.count == actions.count)
        #expect(calls.map { $0.body.first } == [.octets([1]), .octets([2])])
        #expect(test.registered.bus.bridge.exportedPipes.isEmpty)
    }

    @Test("A program that refuses AcquireWrite refuses the writes")
    func refusedWrite() throws {
        var test = try Acquiring()
        test.write([1], nil)
        test.write([2], 7)
        let actions = try test.reply(Self.refusal("org.bluez.Error.NotPermitted"), sockets: 0)
        #expect(actions == [test.response(7, .failure(.writeNotPermitted))])
        test.write([3], 8)
        #expect(test.members == ["AcquireWrite", "AcquireWrite"], "the next write asks again")
    }

    @Test("Values from the socket of AcquireNotify go only to its central; StartNotify and StopNotify are not called")
    func notify() throws {
        var test = try Acquiring()
        test.subscribe()
        #expect(test.members == ["AcquireNotify"])
        let pipe = try test.open()
        #expect(test.receive([5], pipe) == [test.update([5], to: [Self.central])])
        let long = [UInt8](repeating: 1, count: 600)
        #expect(test.receive(long, pipe) == [test.update([UInt8](long.prefix(512)), to: [Self.central])])
        test.registered.bus.forget()
        test.event(.unsubscribed(Self.central, from: test.registered.value))
        #expect(test.registered.bus.actions == [.closePipe(pipe)])
        #expect(test.receive([6], pipe) == [])
    }

    @Test(
        "Without a socket for notifications, StartNotify is called, unless the program does not reply",
        arguments: everyUnusableReplies.indices
    )
    func notifyWithoutSocket(index: Int) throws {
        var test = try Acquiring()
        test.subscribe()
        let (reply, sockets) = Self.everyUnusableReplies[index]
        let actions = try test.reply(reply, sockets: sockets)
        let members = actions.compactMap { if case .send(let message) = $0 { message.member } else { nil as String? } }
        #expect(members == (reply == .refused(.timedOut) ? [] : ["StartNotify"]))
        test.registered.bus.forget()
        test.event(.unsubscribed(Self.central, from: test.registered.value))
        #expect(test.members == (reply == .refused(.timedOut) ? [] : ["StopNotify"]))
    }

    @Test("The socket is not read while too many values wait in the host")
    func congestion() throws {
        var test = try Acquiring()
        test.subscribe()
        let pipe = try test.open()
        for number in 1...BlueZBridge.Limit.updates {
            let isPaused = test.receive([5], pipe).contains(.pausePipe(pipe))
            #expect(isPaused == (number == BlueZBridge.Limit.updates))
        }
        test.registered.bus.forget()
        test.event(.updatesTaken(1))
        #expect(test.registered.bus.actions == [.resumePipe(pipe)])
    }

    @Test("A confirmed indication is reported as an octet on the socket of its central")
    func confirm() throws {
        var test = try Acquiring(flags: ["indicate"])
        test.subscribe()
        let pipe = try test.open()
        test.registered.bus.forget()
        test.event(.confirmed(Self.central, of: test.registered.value))
        #expect(test.registered.bus.actions == [.writePipe(pipe, [1])])
        test.event(.confirmed(Self.other, of: test.registered.value))
        #expect(test.members == ["Confirm"])
    }

    @Test("A closed socket refuses the writes that wait for it, and the next write asks for another one")
    func closed() throws {
        var test = try Acquiring()
        test.write([1], 7)
        let pipe = try test.open()
        #expect(test.receive(nil, pipe) == [.closePipe(pipe), test.response(7, .failure(.unlikelyError))])
        #expect(test.passed(true, pipe) == [])
        test.registered.bus.forget()
        test.write([2], 8)
        #expect(test.members == ["AcquireWrite"])
    }

    /// The events that end the sockets of a central.
    private enum End: CaseIterable { case disconnected, unregistered, left, reset }

    @Test(
        "Sockets end with the central, the application and the radio; a later reply has no effect",
        arguments: End.allCases,
        [true, false]
    )
    private func end(end: End, isOpen: Bool) throws {
        var test = try Acquiring()
        let connected = [Self.central, Self.other].map { ConnectedCentral($0, address: Self.address) }
        test.event(.centralsConnected(connected))
        test.subscribe()
        let pipe = isOpen ? try test.open() : 0
        let call = try #require(test.registered.bus.calls.last?.number)
        test.registered.bus.forget()
        switch end {
        case .disconnected: test.event(.centralsConnected([connected[1]]))
        case .unregistered:
            let body = [BusValue.path("/a")]
            test.registered.bus.call(":1.1", TestBridge.adapter, BlueZ.applications, "UnregisterApplication", body)
        case .left: test.registered.bus.leave(":1.1")
        case .reset: test.registered.bus.event(.stateChanged(.resetting), of: test.registered.key)
        }
        #expect(test.registered.bus.actions.contains(.closePipe(pipe)) == isOpen)
        #expect(test.registered.bus.bridge.exportedPipes.isEmpty)
        let now = test.registered.bus.now
        #expect(test.registered.bus.bridge.replied(to: call, with: Self.socket, sockets: 1, at: now) == [])
    }

    @Test("Commands of a central that disconnects before the program answers are passed on, its requests are not")
    func lateSocket() throws {
        var test = try Acquiring()
        test.event(.centralsConnected([ConnectedCentral(Self.central, address: Self.address)]))
        test.write([1], nil)
        test.write([2], 7)
        let call = try #require(test.registered.bus.calls.last?.number)
        test.event(.centralsConnected([]))
        test.write([3], nil)
        let second = try #require(test.registered.bus.calls.last?.number)
        #expect(second != call, "a new connection gets a socket of its own")
        let bridge = { (number: BlueZBridge.CallNumber, bus: inout TestBridge) in
            bus.bridge.replied(to: number, with: Self.socket, sockets: 1, at: bus.now)
        }
        let actions = bridge(call, &test.registered.bus)
        guard case .takePipe(let pipe, 0)? = actions.first else {
            Issue.record("the socket is not taken: \(actions)")
            return
        }
        #expect(actions.dropFirst() == [.passWrite(pipe, [1]), .closePipe(pipe)])
        #expect(test.passed(true, pipe) == [])
        #expect(bridge(second, &test.registered.bus).last == .passWrite(pipe + 1, [3]))
    }

    @Test("Beyond the maximum number of a program's sockets, its values go through D-Bus")
    func limit() throws {
        var test = try Acquiring()
        for number in 1...UInt128(BlueZBridge.Limit.clientExportedPipes) {
            test.subscribe(RemoteCentral(peer: PeerIdentifier(rawValue: 100 + number), mtu: 23))
        }
        #expect(Set(test.members) == ["AcquireNotify"])
        test.registered.bus.forget()
        test.subscribe()
        test.write([1], 7)
        #expect(test.members == ["StartNotify", "WriteValue"])
    }

    @Test("Beyond the maximum number of writes that wait for a socket, writes are refused")
    func waitingWrites() throws {
        var test = try Acquiring()
        for _ in 0..<BlueZBridge.Limit.acquiringWrites { test.write([1], nil) }
        test.registered.bus.forget()
        test.write([1], 7)
        #expect(test.registered.bus.actions == [test.response(7, .failure(.insufficientResources))])
    }
}
