import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import ble

@Suite("Sessions", .timeLimit(.minutes(30))) @MainActor
struct SessionTests {
    private static let lamp = #""device": "Lamp""#

    @Test("A script finds, connects, explores, reads, writes and subscribes", arguments: 0..<16 as Range<UInt64>)
    func everything(seed: UInt64) async throws {
        let bench = try await SessionBench(seed: seed)
        let lamp = Self.lamp
        #expect(bench.lines.map { $0["event"] as? String } == ["ready"])
        #expect(try await bench.ask(1, "scan", #""services": ["FFA0"]"#)["event"] as? String == "done")
        let found = try await bench.wait("discovered") { $0["event"] as? String == "discovered" }
        #expect(found["name"] as? String == "Lamp")
        #expect(try await bench.ask(2, "stop")["event"] as? String == "done")
        let connected = try await bench.ask(3, "connect", lamp)
        #expect(connected["identifier"] as? String == found["identifier"] as? String)
        #expect(bench.events(["connected", "ready"]) == ["ready", "connected"])
        let services = try #require(try await bench.ask(4, "discover", lamp)["services"] as? [[String: Any]])
        #expect(services.map { $0["uuid"] as? String } == ["FFA0", "181A"])
        let handle = try #require(Self.handle(of: "FFA1", in: services))
        let read = try await bench.ask(5, "read", lamp + #", "characteristic": "2A6E""#)
        #expect(read["value"] as? String == "7008" && read["number"] as? Double == 21.6)
        #expect(try await bench.ask(6, "read", lamp + #", "handle": \#(handle)"#)["value"] as? String == "11")
        let write = #", "characteristic": "FFA1", "value": "22""#
        #expect(try await bench.ask(7, "write", lamp + write)["event"] as? String == "done")
        let command = #", "handle": \#(handle), "value": "33", "response": false"#
        #expect(try await bench.ask(8, "write", lamp + command)["event"] as? String == "done")
        #expect(try await bench.ask(9, "read", lamp + #", "handle": \#(handle)"#)["value"] as? String == "33")
        #expect(try await bench.ask(10, "rssi", lamp)["rssi"] as? Int != nil)
        let mtu = try await bench.ask(11, "mtu", lamp)
        #expect(try #require(mtu["mtu"] as? Int) >= 23)
        let descriptor = try #require(Self.descriptor("2901", in: services))
        let text = try await bench.ask(12, "read", lamp + #", "handle": \#(descriptor)"#)
        #expect(text["value"] as? String == Data("Outside".utf8).hexadecimal && text["uuid"] as? String == "2901")
        #expect(try await bench.ask(13, "disconnect", lamp)["event"] as? String == "done")
        try await bench.end(.endOfInput)
        #expect(bench.events(["connected", "disconnected", "ended"]) == ["connected", "disconnected", "ended"])
        #expect(bench.lines.last?["reason"] as? String == "end_of_input")
    }

    @Test("Devices are found and connected at their addresses in the world", arguments: 0..<16 as Range<UInt64>)
    func addresses(seed: UInt64) async throws {
        let bench = try await SessionBench(seed: seed)
        let addresses: [(String, SimulatedPeripheral.Address.Kind)] = [
            ("C0:FF:EE:00:00:01", .static), ("00:1A:7D:DA:71:13", .public),
        ]
        for (index, (text, kind)) in addresses.enumerated() {
            var device = SimulatedPeripheral(name: "Tag \(index)", services: [.init("FFB0", [])])
            device.address = try .init(text, kind)
            bench.world.place(device)
        }
        _ = try await bench.ask(1, "scan", #""services": ["FFB0"], "duplicates": true"#)
        for (index, (text, kind)) in addresses.enumerated() {
            let found = try await bench.wait("discovered") { $0["address"] as? String == text }
            #expect(found["address_type"] as? String == kind.rawValue && found["identity"] as? Bool == true)
            #expect(found["name"] as? String == "Tag \(index)")
        }
        _ = try await bench.ask(2, "stop")
        for (index, (text, _)) in addresses.enumerated() {
            let connected = try await bench.ask(3 + index, "connect", #""device": "\#(text)", "timeout": 60"#)
            #expect(connected["address"] as? String == text && connected["name"] as? String == "Tag \(index)")
        }
        try await bench.end(.endOfInput)
    }

    @Test("A device that has chosen an address as its name is not the device at that address")
    func impostor() async throws {
        let bench = try await SessionBench()
        let address = #""device": "C0:FF:EE:00:00:01""#
        bench.world.place(SimulatedPeripheral(name: "C0:FF:EE:00:00:01", services: [.init("FFB0", [])]))
        _ = try await bench.ask(1, "scan", #""services": ["FFB0"]"#)
        let found = try await bench.wait("discovered") { $0["event"] as? String == "discovered" }
        let identifier = try #require(found["identifier"] as? String)
        let connected = try await bench.ask(2, "connect", #""device": "\#(identifier)", "timeout": 60"#)
        #expect(connected["name"] as? String == "C0:FF:EE:00:00:01")
        #expect(try await bench.ask(3, "rssi", address)["code"] as? String == "not_connected")
        #expect(try await bench.ask(4, "connect", address + #", "timeout": 5"#)["code"] as? String == "not_found")
        try await bench.end(.endOfInput)
    }

    private static func handle(of type: String, in services: [[String: Any]]) -> Int? {
        let all = services.flatMap { $0["characteristics"] as? [[String: Any]] ?? [] }
        return all.first { $0["uuid"] as? String == type }?["handle"] as? Int
    }

    private static func descriptor(_ type: String, in services: [[String: Any]]) -> Int? {
        let all = services.flatMap { $0["characteristics"] as? [[String: Any]] ?? [] }
        return all.flatMap { $0["descriptors"] as? [[String: Any]] ?? [] }
            .first { $0["uuid"] as? String == type }?["handle"] as? Int
    }

    @Test("Subscribed values come once and in order", arguments: 0..<16 as Range<UInt64>)
    func values(seed: UInt64) async throws {
        let bench = try await SessionBench(seed: seed, loss: 0.2)
        _ = try await bench.ask(1, "connect", Self.lamp)
        let subscribed = try await bench.ask(2, "subscribe", Self.lamp + #", "characteristic": "2A6E""#)
        #expect(subscribed["event"] as? String == "done")
        _ = try await bench.wait("20 values") { _ in bench.events(["received"]).count >= 20 }
        _ = try await bench.ask(3, "unsubscribe", Self.lamp + #", "characteristic": "2A6E""#)
        let count = bench.events(["received"]).count
        await bench.world.advance(by: .seconds(2))
        #expect(bench.events(["received"]).count == count)
        let values = bench.lines.filter { $0["event"] as? String == "received" }.map { $0["value"] as? String }
        let cycle = ["0100", "0200", "0300", "0400", "0500"]
        #expect(values == (0..<count).map { cycle[$0 % 5] })
        try await bench.end(.endOfInput)
    }

    /// Commands that fail, and the codes of their answers.
    nonisolated static let failing: [(command: String, rest: String, code: SessionFailure.Code)] = [
        ("read", #""device": "Door", "handle": 3"#, .notConnected),
        ("connect", #""device": "Door", "timeout": 1"#, .notFound),
        ("read", #""device": "Lamp", "characteristic": "2AFF""#, .noAttribute),
        ("read", #""device": "Lamp", "handle": 60000"#, .noAttribute),
        ("read", #""device": "Lamp", "characteristic": "FFA2""#, .refused),
        ("write", #""device": "Lamp", "characteristic": "FFA2", "value": "00", "response": false"#, .noAttribute),
        ("subscribe", #""device": "Lamp", "characteristic": "FFA2""#, .refused),
        ("rssi", #""device": "Lamp", "zzz": 1"#, .invalid),
    ]

    @Test("A command that fails has a code, a sentence and its identifier")
    func failures() async throws {
        let bench = try await SessionBench()
        _ = try await bench.ask(100, "connect", Self.lamp)
        for (index, (command, rest, code)) in Self.failing.enumerated() {
            let answer = try await bench.ask(index, command, rest)
            #expect(answer["code"] as? String == code.rawValue, "\(answer)")
            #expect((answer["error"] as? String)?.contains(" ") == true, "\(answer)")
            #expect(answer["command"] as? String == command)
            #expect((answer["domain"] is String) == (code == .refused), "\(answer)")
        }
        try await bench.end(.endOfInput)
    }

    @Test("Commands to one device are answered in order, and those to another device do not wait for them")
    func order() async throws {
        let bench = try await SessionBench()
        bench.send(#"{"id": 1, "command": "connect", "device": "Door", "timeout": 30}"#)
        bench.send(#"{"id": 2, "command": "connect", "device": "Lamp"}"#)
        for id in 3..<20 {
            bench.send(#"{"id": \#(id), "command": "read", "device": "Lamp", "characteristic": "FFA1"}"#)
        }
        _ = try await bench.answer(to: 19)
        #expect(bench.lines.compactMap { $0["id"] as? Int } == Array(2..<20))
        #expect(try await bench.answer(to: 1)["code"] as? String == "not_found")
        try await bench.end(.endOfInput)
    }

    @Test("Disconnecting cancels what the device has pending")
    func cancels() async throws {
        let bench = try await SessionBench()
        bench.send(#"{"id": 1, "command": "connect", "device": "Door", "timeout": 1000}"#)
        bench.send(#"{"id": 2, "command": "rssi", "device": "Door"}"#)
        await bench.world.advance(by: .seconds(1))
        #expect(try await bench.ask(3, "disconnect", #""device": "Door""#)["code"] as? String == "not_connected")
        #expect(bench.lines.dropFirst().map { $0["code"] as? String } == ["cancelled", "cancelled", "not_connected"])
        try await bench.end(.endOfInput)
    }

    @Test("Of two commands that open a channel to one device at the same time, one is refused")
    func channels() async throws {
        let bench = try await SessionBench()
        var tag = SimulatedPeripheral(name: "Tag", services: [.init("FFB0", [])])
        tag.address = try .init("C0:FF:EE:00:00:01", .static)
        bench.world.place(tag)
        bench.send(#"{"id": 1, "command": "connect", "device": "Tag", "timeout": 60}"#)
        bench.send(#"{"id": 2, "command": "connect", "device": "C0:FF:EE:00:00:01", "timeout": 60}"#)
        bench.send(#"{"id": 3, "command": "open_channel", "device": "C0:FF:EE:00:00:01", "psm": 128}"#)
        bench.send(#"{"id": 4, "command": "open_channel", "device": "Tag", "psm": 129}"#)
        let codes = [
            try await bench.answer(to: 3)["code"] as? String, try await bench.answer(to: 4)["code"] as? String,
        ]
        #expect(Set(codes) == ["busy", "refused"])
        try await bench.end(.endOfInput)
        #expect(Set(bench.lines.compactMap { $0["id"] as? Int }) == [1, 2, 3, 4])
        #expect(bench.events(["ended"]) == ["ended"])
    }

    @Test("An interrupted session cancels its commands, disconnects and ends")
    func interrupted() async throws {
        let bench = try await SessionBench()
        _ = try await bench.ask(1, "connect", Self.lamp)
        bench.send(#"{"id": 2, "command": "connect", "device": "Door", "timeout": 1000}"#)
        await bench.world.advance(by: .seconds(1))
        try await bench.end(.interrupted)
        #expect(try await bench.answer(to: 2)["code"] as? String == "cancelled")
        #expect(bench.events(["disconnected", "ended"]) == ["disconnected", "ended"])
        #expect(bench.lines.last?["reason"] as? String == "interrupted")
    }

    @Test("A device that is to stay connected is connected and subscribed again", arguments: 0..<16 as Range<UInt64>)
    func reconnects(seed: UInt64) async throws {
        let bench = try await SessionBench(seed: seed)
        _ = try await bench.ask(1, "connect", Self.lamp + #", "reconnect": true"#)
        _ = try await bench.ask(2, "subscribe", Self.lamp + #", "characteristic": "2A6E""#)
        for round in 1...2 {
            bench.sensor.unplugRadio()
            let lost = try await bench.wait("disconnected") { _ in bench.events(["disconnected"]).count == round }
            #expect(!lost.isEmpty)
            bench.sensor.plugInRadio()
            _ = try await bench.wait("resubscribed") { _ in bench.events(["resubscribed"]).count == round }
            let before = bench.events(["received"]).count
            _ = try await bench.wait("more values") { _ in bench.events(["received"]).count > before + 3 }
        }
        let lost = bench.lines.filter { $0["event"] as? String == "disconnected" }
        #expect(lost.allSatisfy { $0["reconnecting"] as? Bool == true && $0["reason"] is String })
        #expect(try await bench.ask(3, "disconnect", Self.lamp)["event"] as? String == "done")
        #expect(bench.lines.last { $0["event"] as? String == "disconnected" }?["reconnecting"] as? Bool == false)
        try await bench.end(.endOfInput)
        #expect(bench.events(["connected"]).count == 3)
    }

    @Test("A session outlives its radio", arguments: [false, true])
    func radio(isSwitchedOff: Bool) async throws {
        let bench = try await SessionBench()
        _ = try await bench.ask(1, "connect", Self.lamp + #", "reconnect": true"#)
        if isSwitchedOff { bench.phone.switchBluetoothOff() } else { bench.phone.unplugRadio() }
        _ = try await bench.wait("radio_lost") { $0["event"] as? String == "radio_lost" }
        #expect(try await bench.ask(2, "rssi", Self.lamp)["code"] as? String == "radio_off")
        #expect(try await bench.ask(3, "scan")["code"] as? String == "radio_off")
        if isSwitchedOff { bench.phone.switchBluetoothOn() } else { bench.phone.plugInRadio() }
        _ = try await bench.wait("connected") { _ in bench.events(["connected"]).count == 2 }
        #expect(try await bench.ask(4, "rssi", Self.lamp)["event"] as? String == "done")
        let events = ["connected", "radio_lost", "disconnected", "radio_returned"]
        #expect(bench.events(Set(events)) == events + ["connected"])
        try await bench.end(.endOfInput)
    }

    @Test("A script pairs, reads an encrypted value and removes the bond", arguments: 0..<16 as Range<UInt64>)
    func pairs(seed: UInt64) async throws {
        let bench = try await SessionBench(seed: seed)
        _ = try await bench.ask(1, "connect", Self.lamp)
        #expect(try await bench.ask(2, "pair", Self.lamp)["method"] as? String == "justWorks")
        let read = try await bench.ask(3, "read", Self.lamp + #", "characteristic": "FFA3""#)
        #expect(read["value"] as? String == "2a")
        #expect(try await bench.ask(4, "unpair", Self.lamp)["event"] as? String == "done")
        _ = try await bench.wait("disconnected") { $0["event"] as? String == "disconnected" }
        #expect(bench.events(["pairing_asked", "paired", "pairing_failed"]) == ["paired"])
        try await bench.end(.endOfInput)
    }

    @Test("A script answers a pairing prompt while a read waits for the pairing", arguments: [true, false])
    func prompts(isAccepted: Bool) async throws {
        let bench = try await SessionBench(pairing: .displayYesNo)
        let lampUser = bench.sensor.inhabit {
            BluetoothPairing(capability: .displayYesNo) { if case .asked(let prompt) = $0 { prompt.accept() } }
        }
        defer { withExtendedLifetime(lampUser) {} }
        _ = try await bench.ask(1, "connect", Self.lamp)
        #expect(
            try await bench.ask(2, "answer", Self.lamp + #", "accept": true"#)["code"] as? String == "pairing_failed"
        )
        bench.send(#"{"id": 3, "command": "read", "device": "Lamp", "characteristic": "FFA3"}"#)
        let prompt = try await bench.wait("a prompt") { $0["event"] as? String == "pairing_asked" }
        #expect(prompt["question"] as? String == "compare" && prompt["name"] as? String == "Lamp")
        #expect(prompt["digits"] is String && prompt["cause"] as? String == "refusal")
        let digits = try await bench.ask(4, "answer", Self.lamp + #", "digits": "000000""#)
        #expect(digits["code"] as? String == "invalid")
        #expect(
            try await bench.ask(5, "answer", Self.lamp + #", "accept": \#(isAccepted)"#)["event"] as? String == "done"
        )
        let answer = try await bench.answer(to: 3)
        #expect(answer["value"] as? String == (isAccepted ? "2a" : nil))
        #expect(answer["code"] as? String == (isAccepted ? nil : "refused"))
        #expect(bench.events(["paired", "pairing_failed"]) == [isAccepted ? "paired" : "pairing_failed"])
        try await bench.end(.endOfInput)
    }
}
