import DBus
import Testing

@testable import ble

@Suite("Desktop notifications")
struct NotificationConversationTests {
    private static let question = DesktopNotification(
        summary: "a",
        body: "b",
        buttons: [.init(key: "yes", label: "Yes"), .init(key: "no", label: "No")],
        isUrgent: true,
        lifetime: .seconds(30)
    )

    /// A board, and a bus that has answered to all that it said so far.
    private struct Bench {
        var board: NotificationConversation
        var bus: TestBus
        var events: [NotificationConversation.Event] = []

        init(_ bus: TestBus = TestBus()) throws {
            board = try NotificationConversation(user: 1000)
            self.bus = bus
            try settle()
        }

        mutating func settle() throws {
            while true {
                let octets = board.takeOctets()
                guard !octets.isEmpty else { return }
                events += try board.receive(bus.answer(octets))
            }
        }

        mutating func signal(_ member: String, _ body: [BusValue], from sender: String = TestBus.server) throws {
            events += try board.receive(bus.signal(member, body, from: sender))
        }
    }

    @Test("Notifications are ready once a server shows buttons and its signals are subscribed to")
    func ready() throws { #expect(try Bench().events == [.ready]) }

    private static let absences: [(bus: TestBus, failure: NotificationConversation.Failure)] = [
        (TestBus(capabilities: ["body", "icon-static"]), .lacks("buttons")),
        (TestBus(capabilities: ["actions"]), .lacks("text")),
        (TestBus(refusals: ["GetCapabilities": "org.freedesktop.DBus.Error.ServiceUnknown"]), .noServer),
        (TestBus(refusals: ["GetCapabilities": "o.E"]), .refused(.init(name: "o.E", text: nil))),
        (TestBus(refusals: ["AddMatch": "o.E"]), .refused(.init(name: "o.E", text: nil))),
        (TestBus(refusals: ["Hello": "o.E"]), .bus(.notGreeted("o.E"))),
    ]

    @Test("If notifications cannot be shown, the reason is reported", arguments: absences)
    func absent(bus: TestBus, failure: NotificationConversation.Failure) {
        #expect(throws: failure) { _ = try Bench(bus) }
    }

    @Test("The Notify call has the arguments in the specification")
    func arguments() throws {
        var bench = try Bench()
        _ = try bench.board.show(Self.question)
        try bench.settle()
        let body = try #require(bench.bus.bodies(of: "Notify").first)
        #expect(body.map(\.type.code).joined() == "susssasa{sv}i")
        #expect(body[5] == .array(of: .string, ["yes", "Yes", "no", "No"].map(BusValue.string)))
        let hints: [BusValue] = [
            .entry(.string("urgency"), .variant(.byte(2))), .entry(.string("category"), .variant(.string("device"))),
        ]
        #expect(body[6] == .array(of: .entry(.string, .variant), hints))
        #expect(body[7] == .int32(30_000))
        #expect(DesktopNotification(summary: "", body: "").arguments(marksUp: true).last == .int32(-1))
    }

    @Test("A device's name is never interpreted as markup")
    func names() throws {
        for (capabilities, text) in [
            (["actions", "body", "body-markup"], "&lt;\u{301}b&gt;&amp;'"), (["actions", "body"], "＜\u{301}b＞＆'"),
        ] {
            var bench = try Bench(TestBus(capabilities: capabilities))
            #expect(try bench.board.show(DesktopNotification(summary: "<b>", body: "<\u{301}b>&'")) == nil)
            try bench.settle()
            #expect(bench.bus.bodies(of: "Notify").first?[3...4] == [.string("<b>"), .string(text)])
        }
        #expect("La\nmp\u{202E}\u{2066}1".nameOnDesktop == "La\u{FFFD}mp\u{FFFD}\u{FFFD}1")
        #expect(String(repeating: "é", count: 200).nameOnDesktop.count == 60)
    }

    @Test("The first response counts and closes its notification, and a closed one is reported once")
    func answers() throws {
        var bench = try Bench()
        let shown = try [bench.board.show(Self.question), bench.board.show(Self.question)].compactMap(\.self)
        try bench.settle()
        try bench.signal("ActionInvoked", [.uint32(1), .string("else")])
        try bench.signal("ActionInvoked", [.uint32(9), .string("yes")])
        try bench.signal("ActionInvoked", [.string("yes")])
        #expect(bench.events == [.ready])
        try bench.signal("ActionInvoked", [.uint32(1), .string("yes")])
        try bench.signal("ActionInvoked", [.uint32(1), .string("no")])
        for number in 1...2 { try bench.signal("NotificationClosed", [.uint32(UInt32(number)), .uint32(2)]) }
        #expect(bench.events == [.ready, .pressed(shown[0], key: "yes"), .closed(shown[1])])
        try bench.settle()
        #expect(bench.bus.bodies(of: "CloseNotification") == [[.uint32(1)]])
    }

    @Test("Only the server that shows a notification can answer it")
    func forgery() throws {
        var bench = try Bench()
        _ = try bench.board.show(Self.question)
        try bench.settle()
        try bench.signal("ActionInvoked", [.uint32(1), .string("yes")], from: ":1.8")
        #expect(bench.events == [.ready])
    }

    @Test("A notification that the server refuses is reported as closed")
    func refused() throws {
        var bench = try Bench(TestBus(refusals: ["Notify": "o.E"]))
        let id = try #require(try bench.board.show(Self.question))
        try bench.settle()
        #expect(bench.events == [.ready, .closed(id)])
    }

    @Test("A withdrawn notification is closed once its number is known, and reports nothing")
    func withdrawal() throws {
        for isEarly in [true, false] {
            var bench = try Bench()
            let id = try #require(try bench.board.show(Self.question))
            if !isEarly { try bench.settle() }
            try bench.board.withdraw(id)
            #expect(bench.board.isEmpty != isEarly)
            try bench.settle()
            #expect(bench.board.isEmpty)
            #expect(bench.bus.bodies(of: "CloseNotification") == [[.uint32(1)]])
            #expect(bench.bus.calls.last?.destination == TestBus.server)
            try bench.signal("NotificationClosed", [.uint32(1), .uint32(3)])
            #expect(bench.events == [.ready])
        }
    }

    @Test("The number of open questions is limited, and all of them can be closed")
    func limit() throws {
        var bench = try Bench()
        for _ in 0..<NotificationConversation.limit { #expect(try bench.board.show(Self.question) != nil) }
        #expect(try bench.board.show(Self.question) == nil)
        try bench.settle()
        try bench.board.withdrawAll()
        try bench.settle()
        #expect(bench.bus.bodies(of: "CloseNotification").count == NotificationConversation.limit)
    }
}
