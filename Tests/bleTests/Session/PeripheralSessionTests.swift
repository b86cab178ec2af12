import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import ble

@Suite("Sessions as peripherals", .timeLimit(.minutes(30))) @MainActor
struct PeripheralSessionTests {
    private static let lamp = #""device": "Lamp""#
    private static let description = """
        "description": {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "write", "writeWithoutResponse", "notify"], "value": "11"},
          {"uuid": "FFA2", "properties": ["read", "write", "indicate"], "value": "22"}]}]}
        """

    /// A session that serves a lamp, and another that uses it.
    private static func pair(
        seed: UInt64 = 1,
        mtu: Int? = nil,
        serving rest: String = ""
    ) async throws -> (server: SessionScript, user: SessionScript) {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        let server = try await SessionScript(on: world.machine("server", at: .init(x: 2)), in: world)
        let user = try await SessionScript(on: world.machine("user", mtu: mtu), in: world)
        let served = try await server.ask(1, "serve", description + rest)
        #expect(served["event"] as? String == "done" && served["name"] as? String == "Lamp", "\(served)")
        #expect(try await user.ask(1, "connect", lamp + #", "timeout": 60"#)["event"] as? String == "done")
        return (server, user)
    }

    private static func values(_ script: SessionScript, _ event: String, _ key: String = "value") -> [String] {
        script.lines.filter { $0["event"] as? String == event }.compactMap { $0[key] as? String }
    }

    @Test("Each updated value arrives once and in order", arguments: 0..<16 as Range<UInt64>)
    func serves(seed: UInt64) async throws {
        let (server, user) = try await Self.pair(seed: seed)
        let first = Self.lamp + #", "characteristic": "FFA1""#, second = Self.lamp + #", "characteristic": "FFA2""#
        #expect(try await user.ask(2, "read", first)["value"] as? String == "11")
        #expect(try await user.ask(3, "write", first + #", "value": "33""#)["event"] as? String == "done")
        #expect(try await user.ask(4, "read", first)["value"] as? String == "33")
        for (id, one) in [(5, first), (6, second)] {
            #expect(try await user.ask(id, "subscribe", one)["event"] as? String == "done")
        }
        let count = 100
        for number in 0..<count {
            let value = Data([UInt8(number)]).hexadecimal, one = number % 2 == 0 ? "FFA1" : "FFA2"
            let rest = #", "characteristic": "\#(one)", "value": "\#(value)"}"#
            server.send(#"{"id": \#(100 + number), "command": "update""# + rest)
        }
        _ = try await user.wait("all values") { _ in Self.values(user, "received").count == count }
        for parity in 0...1 {
            let type = parity == 0 ? "FFA1" : "FFA2"
            let own = user.lines.filter {
                $0["event"] as? String == "received" && $0["characteristic"] as? String == type
            }
            let expected = (0..<count).filter { $0 % 2 == parity }.map { Data([UInt8($0)]).hexadecimal }
            #expect(own.compactMap { $0["value"] as? String } == expected)
        }
        let answers = server.lines.filter { $0["command"] as? String == "update" }
        #expect(answers.map { $0["id"] as? Int } == (100..<200).map { $0 })
        #expect(try await user.ask(7, "unsubscribe", first)["event"] as? String == "done")
        _ = try await server.wait("unsubscribed") { $0["event"] as? String == "central_unsubscribed" }
        #expect(try await server.ask(2, "withdraw")["event"] as? String == "done")
        _ = try await user.wait("services_changed") { $0["event"] as? String == "services_changed" }
        let again = try await server.ask(3, "serve", Self.description + #", "advertise": false"#)
        #expect(again["event"] as? String == "done")
        try await user.end(.endOfInput)
        _ = try await server.wait("disconnected") { $0["event"] as? String == "central_disconnected" }
        try await server.end(.endOfInput)
        let events = server.events(["advertising", "central_read", "central_wrote", "central_subscribed", "ended"])
        let expected = ["advertising", "central_read", "central_wrote", "central_read"]
        #expect(events == expected + ["central_subscribed", "central_subscribed", "ended"])
        #expect(Set(Self.values(server, "central_read", "identifier")).count == 1)
    }

    @Test("A script answers reads and writes itself", arguments: 0..<16 as Range<UInt64>)
    func answers(seed: UInt64) async throws {
        let (server, user) = try await Self.pair(seed: seed, mtu: 23, serving: #", "ask": ["FFA0/FFA1"]"#)
        let one = Self.lamp + #", "characteristic": "FFA1""#
        func requested(_ event: String, _ number: Int) async throws -> [String: Any] {
            try await server.wait(event) { $0["event"] as? String == event && $0["request"] as? Int == number }
        }
        // Longer than a packet, so that the central reads it in several requests.
        let long = Data((0..<100).map { UInt8($0) }).hexadecimal
        user.send(#"{"id": 2, "command": "read", \#(one)}"#)
        let read = try await requested("read_requested", 1)
        #expect(read["characteristic"] as? String == "FFA1" && read["service"] as? String == "FFA0")
        #expect(try await server.ask(2, "respond", #""request": 1"#)["code"] as? String == "invalid")
        #expect(try await server.ask(3, "respond", #""request": 1, "value": "\#(long)""#)["request"] as? Int == 1)
        #expect(try await user.answer(to: 2)["value"] as? String == long)
        user.send(#"{"id": 3, "command": "read", \#(one)}"#)
        _ = try await requested("read_requested", 2)
        _ = try await server.ask(4, "respond", #""request": 2, "error": 133"#)
        let refused = try await user.answer(to: 3)
        #expect(refused["code"] as? String == "refused" && refused["error_code"] as? Int == 133)
        user.send(#"{"id": 4, "command": "write", \#(one), "value": "\#(long)"}"#)
        let write = try await requested("write_requested", 3)
        let writes = try #require(write["writes"] as? [[String: Any]])
        #expect(writes.count == 1 && writes[0]["value"] as? String == long)
        #expect(try await server.ask(5, "respond", #""request": 3, "value": "00""#)["code"] as? String == "invalid")
        #expect(try await server.ask(6, "respond", #""request": 3"#)["event"] as? String == "done")
        #expect(try await user.answer(to: 4)["event"] as? String == "done")
        user.send(#"{"id": 5, "command": "write", \#(one), "value": "00"}"#)
        _ = try await requested("write_requested", 4)
        _ = try await server.ask(7, "respond", #""request": 4, "error": 3"#)
        #expect(try await user.answer(to: 5)["error_code"] as? Int == 3)
        #expect(try await server.ask(8, "respond", #""request": 4"#)["code"] as? String == "no_request")
        let command = one + #", "value": "44", "response": false"#
        #expect(try await user.ask(6, "write", command)["event"] as? String == "done")
        let wrote = try await server.wait("central_wrote") { $0["value"] as? String == "44" }
        #expect(wrote["event"] as? String == "central_wrote")
        let other = try await user.ask(7, "read", Self.lamp + #", "characteristic": "FFA2""#)
        #expect(other["value"] as? String == "22")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
        #expect(server.events(["request_ended"]).isEmpty)
    }

    @Test("A request without an answer ends after 30 s, and the central gives up", arguments: 0..<16 as Range<UInt64>)
    func silence(seed: UInt64) async throws {
        let (server, user) = try await Self.pair(seed: seed, serving: #", "ask": ["FFA1"]"#)
        user.send(#"{"id": 2, "command": "read", \#(Self.lamp), "characteristic": "FFA1"}"#)
        _ = try await server.wait("read_requested") { $0["event"] as? String == "read_requested" }
        let ended = try await server.wait("request_ended") { $0["event"] as? String == "request_ended" }
        #expect(ended["request"] as? Int == 1)
        #expect(try await user.answer(to: 2)["event"] as? String == "failed")
        #expect(try await server.ask(2, "respond", #""request": 1, "value": "00""#)["code"] as? String == "no_request")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("The open requests of a device that is withdrawn are refused")
    func withdrawn() async throws {
        let (server, user) = try await Self.pair(serving: #", "ask": ["FFA1"]"#)
        user.send(#"{"id": 2, "command": "read", \#(Self.lamp), "characteristic": "FFA1"}"#)
        _ = try await server.wait("read_requested") { $0["event"] as? String == "read_requested" }
        #expect(try await server.ask(2, "withdraw")["event"] as? String == "done")
        #expect(try await user.answer(to: 2)["code"] as? String == "refused")
        try await user.end(.endOfInput)
        try await server.end(.interrupted)
    }

    @Test("A script answers a pairing prompt about a central of its device", arguments: [true, false])
    func prompts(isAccepted: Bool) async throws {
        let world = World(seed: 1, conditions: .init(loss: 0.1))
        let server = try await SessionScript(
            on: world.machine("server", at: .init(x: 2)),
            in: world,
            pairing: .displayYesNo
        )
        let user = try await SessionScript(on: world.machine("user"), in: world, pairing: .displayYesNo)
        let description = """
            "description": {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [{"uuid": "FFA3",
              "properties": ["read"], "permissions": ["readEncryptionRequired"], "value": "2a"}]}]}
            """
        #expect(try await server.ask(1, "serve", description)["event"] as? String == "done")
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        user.send(#"{"id": 2, "command": "read", \#(Self.lamp), "characteristic": "FFA3"}"#)
        let prompt = try await server.wait("a prompt") { $0["event"] as? String == "pairing_asked" }
        let central = try #require(prompt["identifier"] as? String)
        let other = try await server.ask(2, "answer", #""device": "\#(UUID())", "accept": true"#)
        #expect(other["code"] as? String == "pairing_failed", "\(other)")
        _ = try await user.wait("a prompt") { $0["event"] as? String == "pairing_asked" }
        #expect(try await user.ask(3, "answer", Self.lamp + #", "accept": true"#)["event"] as? String == "done")
        let answer = try await server.ask(3, "answer", #""device": "\#(central)", "accept": \#(isAccepted)"#)
        #expect(answer["event"] as? String == "done" && answer["identifier"] as? String == central, "\(answer)")
        #expect(try await user.answer(to: 2)["value"] as? String == (isAccepted ? "2a" : nil))
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
        #expect(server.events(["paired", "pairing_failed"]) == [isAccepted ? "paired" : "pairing_failed"])
    }

    @Test("A device is found only while it advertises")
    func advertising() async throws {
        let (server, user) = try await Self.pair()
        _ = try await user.ask(2, "disconnect", Self.lamp)
        #expect(try await server.ask(2, "stop_advertising")["event"] as? String == "done")
        let missing = try await user.ask(3, "connect", Self.lamp + #", "timeout": 5"#)
        #expect(missing["code"] as? String == "not_found")
        #expect(try await server.ask(3, "start_advertising")["event"] as? String == "done")
        #expect(try await user.ask(4, "connect", Self.lamp + #", "timeout": 60"#)["event"] as? String == "done")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
        #expect(server.events(["advertising"]).count == 2)
    }

    /// Commands that fail, and the codes of their answers.
    private static let failing: [(command: String, rest: String, code: SessionFailure.Code)] = [
        ("update", #""characteristic": "FFA1", "value": "00""#, .notServed), ("start_advertising", "", .notServed),
        ("respond", #""request": 1"#, .notServed), ("send", #""channel": 1, "value": "00""#, .noChannel),
        ("close_channel", #""channel": 1"#, .noChannel), ("unpublish_channel", #""psm": 128"#, .noChannel),
        ("open_channel", #""device": "Lamp", "psm": 128"#, .notConnected),
        ("serve", #""file": "/nonexistent/lamp.json""#, .invalid),
        ("serve", description + #", "ask": ["FFA9"]"#, .noAttribute),
    ]

    @Test("A command that fails has a code and a sentence")
    func failures() async throws {
        let world = World(seed: 3)
        let server = try await SessionScript(on: world.machine("server"), in: world)
        for (index, (command, rest, code)) in Self.failing.enumerated() {
            let answer = try await server.ask(index, command, rest)
            #expect(answer["code"] as? String == code.rawValue, "\(answer)")
            #expect((answer["error"] as? String)?.contains(" ") == true, "\(answer)")
        }
        #expect(try await server.ask(100, "serve", Self.description)["event"] as? String == "done")
        #expect(try await server.ask(101, "serve", Self.description)["code"] as? String == "busy")
        let missing = try await server.ask(102, "update", #""characteristic": "FFA9", "value": "00""#)
        #expect(missing["code"] as? String == "no_attribute")
        #expect(try await server.ask(103, "respond", #""request": 1"#)["code"] as? String == "no_request")
        try await server.end(.endOfInput)
    }

    @Test("Channels carry all octets in order, in both directions", arguments: 0..<16 as Range<UInt64>)
    func channels(seed: UInt64) async throws {
        let (server, user) = try await Self.pair(seed: seed)
        let psm = try #require(try await server.ask(2, "publish_channel")["psm"] as? Int)
        let open = try await user.ask(2, "open_channel", Self.lamp + #", "psm": \#(psm)"#)
        #expect(open["channel"] as? Int == 1 && open["psm"] as? Int == psm, "\(open)")
        _ = try await server.wait("channel_opened") { $0["event"] as? String == "channel_opened" }
        let pieces = (0..<20).map { index in Data((0..<997).map { UInt8(truncatingIfNeeded: $0 &+ index) }).hexadecimal
        }
        for (index, piece) in pieces.enumerated() {
            for script in [server, user] {
                script.send(#"{"id": \#(100 + index), "command": "send", "channel": 1, "value": "\#(piece)"}"#)
            }
        }
        for script in [server, user] {
            _ = try await script.wait("all octets") { _ in
                Self.values(script, "channel_received").joined().count == pieces.joined().count
            }
            #expect(Self.values(script, "channel_received").joined() == pieces.joined())
            let answers = script.lines.filter { $0["command"] as? String == "send" }
            #expect(answers.map { $0["id"] as? Int } == (100..<120).map { $0 })
            #expect(answers.allSatisfy { $0["event"] as? String == "done" })
        }
        #expect(try await user.ask(3, "close_channel", #""channel": 1"#)["event"] as? String == "done")
        for script in [server, user] {
            let closed = try await script.wait("channel_closed") { $0["event"] as? String == "channel_closed" }
            #expect(closed["sent"] as? Int == 19_940 && closed["received"] as? Int == 19_940, "\(closed)")
            #expect(try await script.ask(4, "send", #""channel": 1, "value": "00""#)["code"] as? String == "no_channel")
        }
        #expect(try await server.ask(5, "unpublish_channel", #""psm": \#(psm)"#)["psm"] as? Int == psm)
        let refused = try await user.ask(5, "open_channel", Self.lamp + #", "psm": \#(psm)"#)
        #expect(refused["code"] as? String == "refused", "\(refused)")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("What a session has sent arrives although its input ends", arguments: [false, true])
    func lastOctets(isLost: Bool) async throws {
        let (server, user) = try await Self.pair()
        let psm = try #require(try await server.ask(2, "publish_channel")["psm"] as? Int)
        _ = try await user.ask(2, "open_channel", Self.lamp + #", "psm": \#(psm)"#)
        let value = Data(repeating: 7, count: 3_000).hexadecimal
        #expect(try await user.ask(3, "send", #""channel": 1, "value": "\#(value)""#)["event"] as? String == "done")
        if isLost {
            _ = try await user.ask(4, "disconnect", Self.lamp)
            _ = try await user.wait("channel_closed") { $0["event"] as? String == "channel_closed" }
        }
        try await user.end(.endOfInput)
        _ = try await server.wait("channel_closed") { $0["event"] as? String == "channel_closed" }
        if !isLost { #expect(Self.values(server, "channel_received").joined() == value) }
        try await server.end(.endOfInput)
    }
}
