import ArgumentParser
import BLERuntime
import CoreBluetooth
import Testing

@testable import ble

@Suite("Packets that are shown")
struct MonitorTests {
    static let source = PacketSource(program: "app 7", machine: "hci0")
    static let disconnect: [UInt8] = [1, 6, 4, 3, 0x40, 0, 0x13]
    static let read: [UInt8] = [2, 0x40, 0, 7, 0, 3, 0, 4, 0, 0x0A, 9, 0]

    /// A capture in a file of its own.
    static func withCapture(_ octets: [UInt8], _ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/monitor-\(UInt64.random(in: 0 ... .max)).pcapng"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(octets).write(to: URL(filePath: path))
        try await body(path)
    }

    static var capture: [UInt8] {
        let format = CaptureFormat.pcapng, time: Int64 = 1_795_000_000_500_000_000
        return format.header + format.introduction(of: source)
            + format.record(disconnect, .toController, of: 0, at: time, comments: ["app 1 asks: \u{1B}[2J"])
            + format.statement(comments: [], lost: 3, of: 0, at: time)
            + format.record(read, .toController, of: 0, at: time, comments: [])
    }

    /// What is printed of a capture.
    @MainActor
    static func lines(json: Bool, _ detail: MonitorPrinter.Detail = .fields) async throws -> [String] {
        var lines: [String] = []
        let packets = MonitorPrinter(Printer(json: json) { lines.append($0) }, detail: detail, files: [])
        try await withCapture(capture) { path in
            try await CaptureInput(path: path, but: []).read { packets.print($0) }
        }
        #expect(packets.count == 2)
        return lines
    }

    @Test("A packet is an object with its numbers, and what apps asked for is one as well")
    @MainActor
    func objects() async throws {
        let objects = try await Self.lines(json: true).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["event"] as? String } == ["call", "packet", "lost", "packet"])
        let command = objects[1], data = objects[3]
        #expect(command["type"] as? Int == 1 && command["opcode"] as? Int == 0x0406)
        #expect(command["handle"] as? Int == 0x40 && command["to"] as? String == "controller")
        #expect(command["program"] as? String == "app 7" && command["who"] as? String == "hci0")
        #expect(command["time"] as? Double == 1_795_000_000.5 && command["malformed"] as? Bool == false)
        #expect(data["att_opcode"] as? Int == 0x0A && data["octets"] as? String == "0240000700030004000a0900")
        #expect(objects[2]["count"] as? Int == 3)
    }

    @Test("People read a line for each packet, and one for each field if they want; nothing steers their terminal")
    @MainActor
    func text() async throws {
        let brief = try await Self.lines(json: false, .lines), full = try await Self.lines(json: false)
        #expect(brief.count == 3 && brief.allSatisfy { !$0.contains("\n") && !$0.contains("\u{1B}") })
        #expect(brief[0].hasSuffix("app 7  app 1 asks: \u{FFFD}[2J"))
        #expect(brief[1].hasSuffix("app 7 → controller  HCI Command Disconnect"))
        #expect(brief[2].hasSuffix("app 7 → controller  ACL Data / L2CAP / ATT Read Request"))
        #expect(full[1].contains("\n") && full[1].contains("Connection Handle = 0x0040"))
    }

    @Test("A capture is never written over itself, and what is no capture is refused by its name")
    func refusals() async throws {
        try await Self.withCapture(Array("nonsense".utf8)) { path in
            await #expect(throws: Trouble.self) { try await CaptureInput(path: path, but: []).read { _ in } }
            await #expect(throws: Trouble.self) { try await CaptureInput(path: path, but: [path]) }
        }
        await #expect(throws: Trouble.self) { try await CaptureInput(path: "/nonexistent", but: []) }
        await #expect(throws: Trouble.self) { try await CaptureInput(path: "/", but: []) }
    }

    @Test(
        "Arguments that make no sense together are refused",
        arguments: [
            ["a.pcapng", "--pid", "7"], ["a.pcapng", "--duration", "7"], ["--write", "a.txt"], ["--pid", "0"],
            ["--pid", "x"],
        ]
    )
    func arguments(words: [String]) {
        #expect(throws: (any Error).self) { try Monitor.parse(words) }
        #expect(throws: Never.self) { try Monitor.parse(["--pid", "7", "--write", "a.btsnoop", "--brief"]) }
    }
}
