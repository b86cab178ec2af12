import Testing

@testable import ble

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
        reply.sender = ":1.7"
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

    @Test("Invalid octets or an overlong message end the conversation")
    func malformed() throws {
        for octets in [Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [0x6C, 4, 0, 1, 0, 0, 2, 0, 9, 0, 0, 0, 0, 0, 0, 0]] {
            var conversation = try begun()
            #expect(throws: BusConversation.Failure.malformed) { _ = try conversation.receive(octets) }
            #expect(throws: BusConversation.Failure.malformed) { _ = try conversation.receive([]) }
        }
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
