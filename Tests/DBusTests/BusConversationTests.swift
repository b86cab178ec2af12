import Testing

@testable import DBus

@Suite("D-Bus conversation")
struct BusConversationTests {
    /// A conversation that may call.
    private func begun() throws -> BusConversation {
        var conversation = BusConversation(user: 1000)
        _ = conversation.takeOctets()
        _ = try conversation.receive(TestBus.accepted)
        _ = conversation.takeOctets()
        return conversation
    }

    private static let call = BusMessage(kind: .call, serial: 0, path: "/a", interface: "o.N", member: "M")

    private static func reply(to serial: UInt32, _ kind: BusMessage.Kind = .reply, _ body: [BusValue] = [])
        -> BusMessage
    {
        var reply = BusMessage(kind: kind, serial: 5, errorName: kind == .error ? "o.E" : nil, replySerial: serial)
        reply.sender = serial == 1 ? "org.freedesktop.DBus" : ":1.7"
        reply.body = body
        return reply
    }

    @Test("The client authenticates, and sends nothing else until it is accepted")
    func authentication() throws {
        var conversation = BusConversation(user: 1000)
        _ = try conversation.call(Self.call)
        #expect(conversation.takeOctets() == [0] + Array("AUTH EXTERNAL 31303030\r\n".utf8))
        #expect(try conversation.receive(Array(TestBus.accepted.dropLast())) == [])
        #expect(conversation.takeOctets() == [])
        #expect(try conversation.receive(Array("\n".utf8)) == [])
        let said = conversation.takeOctets()
        #expect(said.starts(with: Array("BEGIN\r\n".utf8)))
        #expect(TestBus.messages(in: said).map(\.member) == ["Hello", "M"])
        #expect(TestBus.messages(in: said).map(\.serial) == [1, 2])
    }

    private static let refusals: [(text: String, failure: BusConversation.Failure)] = [
        ("REJECTED EXTERNAL\r\n", .rejected),
        ("ERROR \"what\"\r\n", .unexpected("ERROR \"what\"")),
        ("DATA\r\n", .unexpected("DATA")),
        ("OKAY\r\n", .unexpected("OKAY")),
        ("\r\n", .unexpected("")),
        ("OK 0123\n", .malformed),
        ("OK " + String(repeating: "0", count: BusConversation.lineLimit), .malformed),
    ]

    @Test("A bus that rejects the user ends the conversation", arguments: refusals)
    func rejected(text: String, failure: BusConversation.Failure) {
        var conversation = BusConversation(user: 0)
        #expect(throws: failure) { _ = try conversation.receive(Array(text.utf8)) }
        #expect(throws: failure) { _ = try conversation.receive(TestBus.accepted) }
        #expect(throws: failure) { _ = try conversation.call(Self.call) }
    }

    @Test("A reply is reported once with its call, however its octets arrive", arguments: [1, 3, 1_000])
    func replies(size: Int) throws {
        var conversation = try begun()
        let first = try conversation.call(Self.call), second = try conversation.call(Self.call)
        let replies = [
            Self.reply(to: 1, .reply, [.string(":1.9")]), Self.reply(to: second, .reply, [.uint32(3)]),
            Self.reply(to: second), Self.reply(to: 77), Self.reply(to: first, .error, [.string("no")]),
        ]
        var rest = replies.flatMap(\.octets)[...], events: [BusConversation.Event] = []
        while !rest.isEmpty {
            events += try conversation.receive(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        #expect(
            events == [
                .replied(second, .values([.uint32(3)], from: ":1.7")),
                .replied(first, .refused(BusReply.Refusal(name: "o.E", text: "no"))),
            ]
        )
    }

    @Test("A signal is reported, and a method call gets an error reply")
    func others() throws {
        var conversation = try begun()
        var signal = BusMessage(kind: .signal, serial: 3, path: "/a", interface: "o.N", member: "S")
        signal.sender = ":1.7"
        var call = Self.call
        call.serial = 44
        call.sender = ":1.8"
        #expect(try conversation.receive(signal.octets + call.octets) == [.signal(signal)])
        let refusal = try #require(TestBus.messages(in: conversation.takeOctets()).first)
        #expect(refusal.kind == .error && refusal.replySerial == 44 && refusal.destination == ":1.8")
    }

    @Test("A bus that rejects the Hello call ends the conversation")
    func unknownGreeting() throws {
        var conversation = try begun()
        #expect(throws: BusConversation.Failure.notGreeted("o.E")) {
            _ = try conversation.receive(Self.reply(to: 1, .error).octets)
        }
    }

    @Test("Invalid octets, or a length that D-Bus does not allow, end the conversation")
    func malformed() throws {
        for octets in [Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [0x6C, 4, 0, 1, 1, 0, 0, 8, 9, 0, 0, 0, 0, 0, 0, 0]] {
            var conversation = try begun()
            #expect(throws: BusConversation.Failure.malformed) { _ = try conversation.receive(octets) }
            #expect(throws: BusConversation.Failure.malformed) { _ = try conversation.receive([]) }
        }
    }

    /// A call of another program with this body.
    private static func foreignCall(_ body: [BusValue]) -> BusMessage {
        var call = Self.call
        (call.serial, call.sender, call.body) = (44, ":1.8", body)
        return call
    }

    /// What exceeds a limit.
    ///
    /// Tests print their arguments, which would take minutes for the values themselves.
    enum Excess: CaseIterable {
        case octets, elements, nesting

        var value: BusValue {
            switch self {
            case .octets: .octets([UInt8](repeating: 0, count: BusMessage.limit))
            case .elements: .strings([String](repeating: "", count: 70_000))
            case .nesting: (0..<20).reduce(BusValue.byte(1)) { value, _ in .variant(value) }
            }
        }
    }

    @Test("A call that exceeds the limits is refused, and the next message is received", arguments: Excess.allCases)
    func excessive(excess: Excess) throws {
        let body = [excess.value]
        for size in [65_536, 8_388_608] {
            var conversation = BusConversation(user: 0, receivesCalls: true)
            _ = try conversation.receive(TestBus.accepted)
            _ = conversation.takeOctets()
            var next = Self.foreignCall([])
            next.serial = 45
            var rest = (Self.foreignCall(body).octets + next.octets)[...], events: [BusConversation.Event] = []
            while !rest.isEmpty {
                events += try conversation.receive(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(events == [.called(next)])
            let refusal = try #require(TestBus.messages(in: conversation.takeOctets()).first)
            #expect(refusal.errorName == "org.freedesktop.DBus.Error.LimitsExceeded")
            #expect(refusal.replySerial == 44 && refusal.destination == ":1.8")
        }
    }

    @Test("A reply that exceeds the limits is the refusal of its call")
    func excessiveReply() throws {
        var conversation = try begun()
        let serial = try conversation.call(Self.call)
        let reply = Self.reply(to: serial, .reply, [.octets([UInt8](repeating: 0, count: BusMessage.limit))])
        let refusal = BusReply.Refusal(name: "org.freedesktop.DBus.Error.LimitsExceeded", text: nil)
        #expect(try conversation.receive(reply.octets) == [.replied(serial, .refused(refusal))])
    }

    @Test(
        "Only the called program and the bus can reply to a call",
        arguments: [":1.7", ":1.8", "org.freedesktop.DBus"]
    )
    func replySender(sender: String) throws {
        var conversation = try begun()
        var call = Self.call
        call.destination = ":1.7"
        var reply = Self.reply(to: try conversation.call(call))
        reply.sender = sender
        #expect(try conversation.receive(reply.octets).isEmpty == (sender == ":1.8"))
    }

    @Test("The bus alone answers what is asked of it")
    func busSender() throws {
        var conversation = try begun()
        var call = Self.call
        call.destination = "org.freedesktop.DBus"
        let reply = Self.reply(to: try conversation.call(call))
        #expect(try conversation.receive(reply.octets) == [])
    }

    @Test("A forgotten call makes room for another one, and its reply is ignored")
    func forgotten() throws {
        var conversation = try begun()
        for _ in 1..<BusConversation.callLimit { _ = try conversation.call(Self.call) }
        conversation.forget(5)
        #expect(try conversation.receive(Self.reply(to: 5).octets) == [])
        _ = try conversation.call(Self.call)
    }

    @Test("The number of unanswered calls is limited")
    func congestion() throws {
        var conversation = try begun()
        for _ in 1..<BusConversation.callLimit { _ = try conversation.call(Self.call) }
        #expect(throws: BusConversation.Failure.congested(BusConversation.callLimit)) {
            _ = try conversation.call(Self.call)
        }
    }

    @Test("No octets crash the decoder", arguments: 1...16 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var state = seed
        for _ in 0..<500 {
            var conversation = BusConversation(user: 0)
            var octets = TestBus.accepted + Self.reply(to: 1, .reply, [.string("a")]).octets
            for _ in 0..<3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                octets[Int(state >> 33) % octets.count] = UInt8(truncatingIfNeeded: state >> 20)
            }
            for octet in octets { guard (try? conversation.receive([octet])) != nil else { break } }
        }
    }
}
