import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Pairing agents of programs")
struct AgentTests {
    private static let key = TestBridge.Key(":1.1", .agent)

    private func register(_ capability: String = "", _ bus: inout TestBridge) -> TestBridge.Outcome? {
        let body: [BusValue] = [.path("/agent"), .string(capability)]
        return bus.result(":1.1", "/org/bluez", BlueZ.agents, "RegisterAgent", body)
    }

    private func ask(_ question: PairingQuestion, _ bus: inout TestBridge) {
        let inquiry = PairingInquiry(peer: TestBridge.lamp, name: "Lamp", question: question, cause: .peer)
        bus.event(.security(.asked(inquiry)), of: Self.key)
    }

    @Test("An agent has the input and output that it registers with")
    func capabilities() {
        let capabilities: [(String, SMP.IOCapability?)] = [
            ("", .keyboardDisplay), ("KeyboardDisplay", .keyboardDisplay), ("DisplayOnly", .displayOnly),
            ("DisplayYesNo", .displayYesNo), ("KeyboardOnly", .keyboardOnly), ("NoInputNoOutput", .noInputNoOutput),
            ("Telepathy", nil),
        ]
        for (text, capability) in capabilities {
            var bus = TestBridge()
            #expect(register(text, &bus) == (capability == nil ? .failed(.invalidArguments) : .done), "\(text)")
            #expect(bus.requests.map(\.request) == (capability.map { [.security(.setAgent($0))] } ?? []), "\(text)")
        }
    }

    @Test("A program has one agent, and ends it itself or by leaving the bus")
    func one() {
        var bus = TestBridge()
        #expect(register(&bus) == .done)
        #expect(register(&bus) == .failed(.alreadyExists))
        let other = bus.result(":1.3", "/org/bluez", BlueZ.agents, "UnregisterAgent", [.path("/agent")])
        #expect(other == .failed(.doesNotExist))
        #expect(bus.result(":1.1", "/org/bluez", BlueZ.agents, "RequestDefaultAgent", [.path("/agent")]) == .done)
        #expect(bus.result(":1.1", "/org/bluez", BlueZ.agents, "UnregisterAgent", [.path("/agent")]) == .done)
        #expect(bus.actions.contains(.close(Self.key)))
        #expect(register(&bus) == .done)
        bus.forget()
        bus.leave(":1.1")
        #expect(bus.actions.contains(.close(Self.key)))
    }

    private func register(_ bus: inout TestBridge) -> TestBridge.Outcome? { register("", &bus) }

    @Test("A program that may not pair cannot register an agent")
    func unauthorized() {
        var bus = TestBridge()
        bus.unauthorized = [1_000]
        for _ in 0..<2 { #expect(register(&bus) == .failed(.notAuthorized)) }
    }

    private static let accepted = BusReply.values([], from: ":1.1")
    private static let rejected = BusReply.refused(.init(name: "org.bluez.Error.Rejected", text: nil))
    private static let canceled = BusReply.refused(.init(name: "org.bluez.Error.Canceled", text: nil))

    private static let questions: [(PairingQuestion, method: String, [BusValue], BusReply, PairingReply?)] = [
        (.consent(replacesBond: true), "RequestAuthorization", [], accepted, .confirm(true)),
        (.consent(replacesBond: true), "RequestAuthorization", [], rejected, .confirm(false)),
        (.consent(replacesBond: true), "RequestAuthorization", [], canceled, .cancel),
        (.compare(123_456), "RequestConfirmation", [.uint32(123_456)], accepted, .confirm(true)),
        (.compare(123_456), "RequestConfirmation", [.uint32(123_456)], rejected, .confirm(false)),
        (.enterPasskey, "RequestPasskey", [], .values([.uint32(42)], from: ":1.1"), .passkey(42)),
        (.enterPasskey, "RequestPasskey", [], .values([.string("42")], from: ":1.1"), .cancel),
        (.enterPasskey, "RequestPasskey", [], rejected, .cancel),
        (.display(passkey: 7), "DisplayPasskey", [.uint32(7), .uint16(0)], accepted, nil),
        (.display(passkey: 7), "DisplayPasskey", [.uint32(7), .uint16(0)], rejected, .cancel),
    ]

    @Test("A question calls the agent's method, and its answer is passed on", arguments: questions)
    func question(
        question: PairingQuestion,
        method: String,
        arguments: [BusValue],
        reply: BusReply,
        answer: PairingReply?
    ) throws {
        var bus = TestBridge()
        bus.discover()
        #expect(register(&bus) == .done)
        bus.forget()
        ask(question, &bus)
        let call = try #require(bus.calls.last)
        #expect(call.message.destination == ":1.1" && call.message.path == "/agent")
        #expect(call.message.interface == BlueZ.agent && call.message.member == method)
        #expect(call.message.body == [.path(TestBridge.lampPath)] + arguments)
        bus.reply(call.number, reply)
        let answers = answer.map { [ClientRequest.security(.answer(TestBridge.lamp, $0))] } ?? []
        #expect(bus.requests.map(\.request) == answers)
        #expect(bus.requests.allSatisfy { $0.key == Self.key })
    }

    @Test("An agent that is silent for 60 s cancels the pairing")
    func silence() throws {
        var bus = TestBridge()
        bus.discover()
        _ = register(&bus)
        ask(.compare(1), &bus)
        bus.forget()
        bus.pass(.seconds(60) - .nanoseconds(1))
        #expect(bus.requests.isEmpty)
        bus.pass(.nanoseconds(1))
        #expect(bus.requests.map(\.request) == [.security(.answer(TestBridge.lamp, .cancel))])
    }

    @Test("A question about a central is asked when its connection is reported, and is cancelled after 2 s without it")
    func early() throws {
        for isReported in [true, false] {
            var bus = TestBridge()
            _ = register(&bus)
            bus.forget()
            ask(.consent(replacesBond: false), &bus)
            #expect(bus.calls.isEmpty && bus.requests.isEmpty)
            bus.pass(HeldInquiry.period - .nanoseconds(1))
            if isReported {
                let central = RemoteCentral(peer: TestBridge.lamp, mtu: 64)
                let connected = ConnectedCentral(central, address: TestBridge.lampAddress)
                bus.event(.server(.centralsConnected([connected])), of: Self.key)
                #expect(bus.calls.map(\.message.member) == ["RequestAuthorization"])
            }
            bus.pass(.nanoseconds(1))
            let cancelled = ClientRequest.security(.answer(TestBridge.lamp, .cancel))
            #expect(bus.requests.map(\.request) == (isReported ? [] : [cancelled]))
        }
    }

    @Test("A question that is withdrawn cancels the agent, unless it has answered or only shows a passkey")
    func withdrawn() throws {
        let questions: [(PairingQuestion, isAnswered: Bool, isCanceled: Bool)] = [
            (.compare(1), false, true), (.enterPasskey, false, true), (.consent(replacesBond: false), false, true),
            (.compare(1), true, false), (.display(passkey: 7), true, false), (.display(passkey: 7), false, false),
        ]
        for (question, isAnswered, isCanceled) in questions {
            var bus = TestBridge()
            bus.discover()
            _ = register(&bus)
            ask(question, &bus)
            let number = try #require(bus.calls.last?.number)
            if isAnswered { bus.reply(number, Self.accepted) }
            bus.forget()
            bus.event(.security(.withdrawn(TestBridge.lamp)), of: Self.key)
            #expect(bus.calls.map(\.message.member) == (isCanceled ? ["Cancel"] : []), "\(question)")
            #expect(bus.actions.contains(.forget(number)) == !isAnswered, "\(question)")
        }
    }

    private static let results: [(SecurityEvent, TestBridge.Outcome)] = [
        (.paired(TestBridge.lamp, .justWorks, isBonded: true), .done),
        (.failed(TestBridge.lamp, .timedOut), .failed(.authenticationTimeout)),
        (.failed(TestBridge.lamp, .refusedByPeer(.unspecified)), .failed(.authenticationFailed)),
        (.failed(TestBridge.lamp, .refused(.passkeyEntryFailed)), .failed(.authenticationCanceled)),
        (.failed(TestBridge.lamp, .noAgent), .failed(.authenticationRejected)),
        (.failed(TestBridge.lamp, .disconnected), .failed(.connectionAttemptFailed)),
    ]

    @Test("Pair connects, and has the result of the pairing", arguments: results)
    func pair(event: SecurityEvent, outcome: TestBridge.Outcome) {
        var bus = TestBridge()
        bus.discover()
        let serial = bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Pair")
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.1", .central))
        #expect(bus.requests.last?.request == .security(.pair(TestBridge.lamp)))
        #expect(bus.requests.last?.key == Self.key)
        #expect(bus.result(":1.1", TestBridge.lampPath, BlueZ.device, "Pair") == .failed(.inProgress))
        bus.event(.security(event), of: Self.key)
        #expect(bus.outcome(of: serial) == outcome)
        #expect(bus.actions.contains(.close(Self.key)))
        let isPaired = bus.property("Paired", of: BlueZ.device, at: TestBridge.lampPath)
        #expect(isPaired == .boolean(outcome == .done))
    }

    @Test("A program that pairs without an agent consents to its own pairing only")
    func consent() {
        var bus = TestBridge()
        bus.discover()
        bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Pair")
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.1", .central))
        bus.forget()
        for question in [.consent(replacesBond: false), .consent(replacesBond: true), .compare(1)] as [PairingQuestion]
        {
            ask(question, &bus)
        }
        let answers = [PairingReply.confirm(true), .cancel, .cancel]
        #expect(bus.requests.map(\.request) == answers.map { .security(.answer(TestBridge.lamp, $0)) })
    }

    @Test("A program that the policy does not allow to pair is refused")
    func pairUnauthorized() {
        var bus = TestBridge()
        bus.discover(":1.3")
        let serial = bus.call(":1.3", TestBridge.lampPath, BlueZ.device, "Pair")
        bus.unauthorized = [2_000]
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.3", .central))
        #expect(bus.outcome(of: serial) == .failed(.notAuthorized))
    }

    @Test("Only the program that pairs can cancel it")
    func cancel() {
        var bus = TestBridge()
        bus.discover()
        bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Pair")
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.1", .central))
        bus.forget()
        let other = bus.result(":1.3", TestBridge.lampPath, BlueZ.device, "CancelPairing")
        #expect(other == .failed(.doesNotExist))
        #expect(bus.requests.isEmpty)
        #expect(bus.result(":1.1", TestBridge.lampPath, BlueZ.device, "CancelPairing") == .done)
        #expect(bus.requests.map(\.request) == [.security(.answer(TestBridge.lamp, .cancel))])
    }

    @Test("An agent attends again after the daemon was lost")
    func reset() {
        var bus = TestBridge()
        _ = register("DisplayOnly", &bus)
        bus.forget()
        for state in [HostState.resetting, .poweredOn] { bus.event(.stateChanged(state), of: Self.key) }
        #expect(bus.requests.map(\.request) == [.security(.setAgent(.displayOnly))])
    }

    @Test("A question about a central that gets no object is cancelled")
    func noObject() throws {
        var bus = TestBridge()
        try bus.connect()
        _ = register(&bus)
        let peer = PeerIdentifier(rawValue: 2), address = DeviceAddress(0xC0FF_EE00_0001, .public)
        let inquiry = PairingInquiry(peer: peer, name: nil, question: .consent(replacesBond: false), cause: .peer)
        bus.event(.security(.asked(inquiry)), of: Self.key)
        let central = ConnectedCentral(RemoteCentral(peer: peer, mtu: 64), address: address)
        bus.event(.server(.centralsConnected([central])), of: Self.key)
        bus.pass(HeldInquiry.period)
        #expect(bus.requests.last?.request == .security(.answer(peer, .cancel)))
    }

    @Test("The second of two calls to Pair before the connection is refused")
    func pairTwice() {
        var bus = TestBridge()
        bus.discover()
        let serials = (0..<2).map { _ in bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Pair") }
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serials[0]) == nil)
        #expect(bus.outcome(of: serials[1]) == .failed(.inProgress))
        bus.event(.security(.paired(TestBridge.lamp, .justWorks, isBonded: true)), of: Self.key)
        #expect(bus.outcome(of: serials[0]) == .done)
    }
}
