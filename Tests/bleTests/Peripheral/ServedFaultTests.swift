import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Faults of served devices", .timeLimit(.minutes(30))) @MainActor
struct ServedFaultTests {
    private static let lamp = #""device": "Lamp""#

    /// A session that serves a device with faults, and another that uses it.
    private static func pair(
        seed: UInt64,
        _ faults: [String],
        characteristics: String = """
        {"uuid": "FFB1", "properties": ["read", "write", "notify"], "value": "0102030405"}
        """
    ) async throws -> (server: SessionScript, user: SessionScript, world: World) {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        let server = try await SessionScript(on: world.machine("server", at: .init(x: 2)), in: world)
        let user = try await SessionScript(on: world.machine("user"), in: world)
        let list = faults.map { "\"\($0)\"" }.joined(separator: ", ")
        let services = """
            {"uuid": "FFB0", "characteristics": [\(characteristics)]}, {"uuid": "180F", "characteristics": [
              {"uuid": "2A19", "properties": ["read"], "permissions": ["readEncryptionRequired"], "value": "51"}]}
            """
        let description = #""description": {"name": "Lamp", "services": [\#(services)]}, "faults": [\#(list)]"#
        let served = try await server.ask(1, "serve", description)
        #expect(served["event"] as? String == "done", "\(served)")
        return (server, user, world)
    }

    /// Faults of requests, with the command that meets each and a key and value of its answer.
    private static let requests: [(fault: String, command: String, key: String, value: AnyHashable)] = [
        ("answer after 5000 ms at step didReceiveRead 1", "read", "value", "0102030405"),
        ("answer after 5000 ms at step didReceiveWrite 1", "write", "event", "done"),
        ("error 14 at step didReceiveRead 1", "read", "error_code", 14),
        ("error 3 at step didReceiveWrite 1", "write", "error_code", 3),
        ("error 128 at step didReceiveRead 1", "read", "error_code", 128),
        ("error 200 at every didReceiveRead", "read", "error_code", 200),
        ("length 1 at step didReceiveRead 1", "read", "value", "01"),
        ("length 0 at step didReceiveRead 1", "read", "value", ""),
        ("length 512 at step didReceiveRead 1", "read", "value", "0102030405" + String(repeating: "00", count: 507)),
        ("value ffff at step didReceiveRead 1", "read", "value", "ffff"),
        ("error 14 at step didReceiveRead 2", "read", "value", "0102030405"),
    ]

    @Test("Answers are wrong, late or errors as planned", arguments: 0..<16 as Range<UInt64>)
    func answers(seed: UInt64) async throws {
        let types = Self.requests.indices.map { "FFC" + String($0, radix: 16, uppercase: true) }
        let characteristics = types.map {
            #"{"uuid": "\#($0)", "properties": ["read", "write"], "value": "0102030405"}"#
        }
        let faults = zip(Self.requests, types).map { "\($0.fault) of \($1)" }
        let (server, user, _) = try await Self.pair(
            seed: seed,
            faults,
            characteristics: characteristics.joined(separator: ", ")
        )
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        for (index, (fault, command, key, value)) in Self.requests.enumerated() {
            let rest = Self.lamp + #", "characteristic": "\#(types[index])""#
            let answer = try await user.ask(10 + index, command, rest + (command == "write" ? #", "value": "07""# : ""))
            #expect(answer[key] as? AnyHashable == value, "\(fault): \(answer)")
        }
        let made = server.lines.compactMap { $0["fault"] as? String }
        #expect(made == Array(faults.dropLast()))
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("A request that is never answered ends the connection", arguments: 0..<16 as Range<UInt64>)
    func silence(seed: UInt64) async throws {
        let isWrite = seed % 2 == 0
        let step = isWrite ? "didReceiveWrite" : "didReceiveRead"
        let (server, user, _) = try await Self.pair(seed: seed, ["silence at step \(step) 1"])
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        let rest = Self.lamp + #", "characteristic": "FFB1""# + (isWrite ? #", "value": "07""# : "")
        let answer = try await user.ask(2, isWrite ? "write" : "read", rest)
        #expect(answer["event"] as? String == "failed", "\(answer)")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("Updated values are lost, repeated, late or wrong as planned", arguments: 0..<16 as Range<UInt64>)
    func updates(seed: UInt64) async throws {
        let (server, user, _) = try await Self.pair(
            seed: seed,
            [
                "drop at step updateValue 1", "repeat at step updateValue 2", "value ff at step updateValue 3",
                "length 1 at step updateValue 4", "value aa after 2000 ms at step updateValue 5",
            ]
        )
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        _ = try await user.ask(2, "subscribe", Self.lamp + #", "characteristic": "FFB1""#)
        _ = try await server.wait("central_subscribed") { $0["event"] as? String == "central_subscribed" }
        for number in 1...6 {
            _ = try await server.ask(10 + number, "update", #""characteristic": "FFB1", "value": "0\#(number)00""#)
        }
        _ = try await user.wait("the late value") { $0["value"] as? String == "aa" }
        let values = user.lines.filter { $0["event"] as? String == "received" }.compactMap { $0["value"] as? String }
        #expect(values == ["0200", "0200", "ff", "04", "0600", "aa"])
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    /// Faults that end a connection, and the command that meets each.
    private static let disconnections: [(fault: String, command: String, rest: String)] = [
        ("disconnect at step didReceiveRead 1", "read", #", "characteristic": "FFB1""#),
        ("disconnect at step didReceiveWrite 1", "write", #", "characteristic": "FFB1", "value": "07""#),
        ("disconnect after 100 ms at step didSubscribe 1", "subscribe", #", "characteristic": "FFB1""#),
        ("disconnect after 60 ms at step didConnect 1", "discover", ""),
        ("disconnect at time 40000 ms", "rssi", ""),
    ]

    @Test("Connections end as planned, and the device can be used again", arguments: 0..<16 as Range<UInt64>)
    func disconnects(seed: UInt64) async throws {
        let (fault, command, rest) = Self.disconnections[Int(seed) % Self.disconnections.count]
        let (server, user, _) = try await Self.pair(seed: seed, [fault])
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        user.send(#"{"id": 2, "command": "\#(command)", \#(Self.lamp)\#(rest)}"#)
        let ended = try await user.wait("disconnected") { $0["event"] as? String == "disconnected" }
        #expect(ended["reason"] is String)
        _ = try await user.answer(to: 2)
        #expect(try await user.ask(3, "connect", Self.lamp + #", "timeout": 60"#)["event"] as? String == "done")
        let read = try await user.ask(4, "read", Self.lamp + #", "characteristic": "FFB1""#)
        #expect(["0102030405", "07"].contains(read["value"] as? String), "\(fault): \(read)")
        #expect(server.lines.compactMap { $0["fault"] as? String } == [fault])
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("A device that refuses connections ends each of them")
    func refusesConnections() async throws {
        let (server, user, _) = try await Self.pair(seed: 5, ["disconnect at every didConnect"])
        for id in 1...3 {
            _ = try await user.ask(id, "connect", Self.lamp + #", "timeout": 60"#)
            _ = try await server.wait("the end") { _ in server.events(["central_disconnected"]).count == id }
        }
        #expect(server.events(["fault"]).count == 3)
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("Services disappear during discovery, and come back", arguments: 0..<16 as Range<UInt64>)
    func services(seed: UInt64) async throws {
        let faults = [
            "servicesChange after 50 ms at step didConnect 1", "servicesChange at step didReceiveRead 1 of FFB1",
        ]
        let (server, user, _) = try await Self.pair(seed: seed, faults)
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        user.send(#"{"id": 2, "command": "discover", \#(Self.lamp)}"#)
        _ = try await server.wait("the fault") { $0["fault"] as? String == faults[0] }
        _ = try await user.answer(to: 2)
        func found(_ id: Int) async throws -> [String] {
            let services = try await user.ask(id, "discover", Self.lamp)["services"] as? [[String: Any]]
            return services?.compactMap { $0["uuid"] as? String } ?? []
        }
        _ = try await user.wait("services_changed") { _ in user.events(["services_changed", "done"]).count >= 2 }
        #expect(try await found(3) == ["FFB0"])
        _ = try await user.ask(4, "read", Self.lamp + #", "characteristic": "FFB1""#)
        _ = try await user.wait("services_changed") { $0["event"] as? String == "services_changed" }
        var now: [String] = []
        for id in 5..<15 where now.count < 2 { now = try await found(id) }
        #expect(now == ["FFB0", "180F"])
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("Pairing is refused as planned", arguments: 0..<16 as Range<UInt64>)
    func refusesPairing(seed: UInt64) async throws {
        let (server, user, _) = try await Self.pair(seed: seed, ["refusePairing at time 0 ms"])
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        #expect(try await user.ask(2, "pair", Self.lamp)["code"] as? String == "pairing_failed")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("A device that has lost its keys cannot be used with the bond", arguments: 0..<16 as Range<UInt64>)
    func forgetsBonds(seed: UInt64) async throws {
        let (server, user, _) = try await Self.pair(seed: seed, ["forgetBonds at step didReceiveRead 1 of FFB1"])
        _ = try await user.ask(1, "connect", Self.lamp + #", "timeout": 60"#)
        #expect(try await user.ask(2, "pair", Self.lamp)["event"] as? String == "done")
        user.send(#"{"id": 3, "command": "read", \#(Self.lamp), "characteristic": "FFB1"}"#)
        _ = try await user.wait("disconnected") { $0["event"] as? String == "disconnected" }
        _ = try await user.answer(to: 3)
        _ = try await user.ask(4, "connect", Self.lamp + #", "timeout": 60"#)
        let read = try await user.ask(5, "read", Self.lamp + #", "characteristic": "2A19""#)
        #expect(read["event"] as? String == "failed", "\(read)")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }

    @Test("A device stops advertising as planned, and starts again")
    func advertising() async throws {
        let (server, user, world) = try await Self.pair(
            seed: 9,
            ["stopAdvertising at time 1000 ms", "startAdvertising at time 60000 ms"]
        )
        await world.advance(by: .seconds(2))
        let missing = try await user.ask(1, "connect", Self.lamp + #", "timeout": 5"#)
        #expect(missing["code"] as? String == "not_found")
        #expect(try await user.ask(2, "connect", Self.lamp + #", "timeout": 90"#)["event"] as? String == "done")
        try await user.end(.endOfInput)
        try await server.end(.endOfInput)
    }
}
