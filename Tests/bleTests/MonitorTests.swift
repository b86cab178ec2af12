import ArgumentParser
import BLERuntime
import BLEWire
import CoreBluetooth
import Testing

@testable import ble

@Suite("Printing packets")
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
            + format.record(disconnect, .toController, of: 0, at: time, comments: ["app 1 requests: \u{1B}[2J"])
            + format.statistics(comments: [], lost: 3, of: 0, at: time)
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

    @Test("Packets are printed as JSON objects with their codes, and so are apps' requests")
    @MainActor
    func objects() async throws {
        let objects = try await Self.lines(json: true).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["event"] as? String } == ["call", "packet", "lost", "packet"])
        let command = objects[1], data = objects[3]
        #expect(command["type"] as? Int == 1 && command["opcode"] as? Int == 0x0406)
        #expect(command["handle"] as? Int == 0x40 && command["to"] as? String == "controller")
        #expect(command["program"] as? String == "app 7" && command["machine"] as? String == "hci0")
        #expect(objects.allSatisfy { $0["who"] as? String == $0["machine"] as? String })
        #expect(command["time"] as? String == "2026-11-18T11:06:40.500000Z" && command["malformed"] as? Bool == false)
        #expect(command["cut"] as? Bool == false && command["length"] as? Int == 7)
        #expect(data["att_opcode"] as? Int == 0x0A && data["octets"] as? String == "0240000700030004000a0900")
        #expect(objects[2]["count"] as? Int == 3)
    }

    @Test("As text, each packet is one line, or one per field, and nothing can control the terminal")
    @MainActor
    func text() async throws {
        let brief = try await Self.lines(json: false, .lines), full = try await Self.lines(json: false)
        #expect(brief.count == 3 && brief.allSatisfy { !$0.contains("\n") && !$0.contains("\u{1B}") })
        #expect(brief[0].hasSuffix("app 7  app 1 requests: \u{FFFD}[2J"))
        #expect(brief[1].hasSuffix("app 7 → controller  HCI Command Disconnect"))
        #expect(brief[2].hasSuffix("app 7 → controller  ACL Data / L2CAP / ATT Read Request: 0x0009"))
        #expect(full[1].contains("\n") && full[1].contains("Connection Handle = 0x0040"))
    }

    @Test("A capture never overwrites its own input, and an invalid one is refused by name")
    func refusals() async throws {
        try await Self.withCapture(Array("nonsense".utf8)) { path in
            await #expect(throws: CommandError.self) { try await CaptureInput(path: path, but: []).read { _ in } }
            await #expect(throws: CommandError.self) { try await CaptureInput(path: path, but: [path]) }
        }
        await #expect(throws: CommandError.self) { try await CaptureInput(path: "/nonexistent", but: []) }
        await #expect(throws: CommandError.self) { try await CaptureInput(path: "/", but: []) }
    }

    @Test(
        "Contradictory arguments are refused",
        arguments: [
            ["a.pcapng", "--pid", "7"], ["a.pcapng", "--duration", "7"], ["--write", "a.txt"], ["--pid", "0"],
            ["--pid", "x"], ["a.pcapng", "--keys"], ["a.pcapng", "--write", "b.pcapng", "--keys", "--redact"],
        ]
    )
    func arguments(words: [String]) {
        #expect(throws: (any Error).self) { try Monitor.parse(words) }
        #expect(throws: Never.self) { try Monitor.parse(["--pid", "7", "--write", "a.btsnoop", "--brief"]) }
    }

    /// What is printed of one packet, with the time of each line as its user asked for it.
    @MainActor
    private static func line(of record: PacketRecord, json: Bool, showsTime: Bool) -> String {
        var lines: [String] = []
        let clock = { Timestamp(nanoseconds: 1) }
        let printer = Printer(json: json, write: { lines.append($0) }, clock: showsTime ? clock : nil)
        MonitorPrinter(printer, detail: .lines, files: []).print(.packet(record))
        return lines.joined()
    }

    @Test("A packet of a capture has the capture's time, even without timestamps", arguments: [false, true])
    @MainActor
    func time(showsTime: Bool) throws {
        let time = Instant(nanoseconds: 1_700_000_000_123_456_789)
        let record = PacketRecord(source: Self.source, direction: .toController, time: time, bytes: Self.disconnect)
        let object = try Self.object(Self.line(of: record, json: true, showsTime: showsTime))
        #expect(object["time"] as? String == "2023-11-14T22:13:20.123456Z")
        let text = Self.line(of: record, json: false, showsTime: showsTime)
        #expect(text.hasPrefix("2023-11-14T22:13:20.123456Z  app 7") == showsTime)
        #expect(text.contains(":20.123456"))
    }

    /// A connection with the discovery and read of a battery level, a refused read, and the LTK of a pairing.
    static let talk: [(isFromHost: Bool, bytes: [UInt8])] = {
        func data(_ isFromHost: Bool, _ payload: [UInt8], channel: UInt8 = 4) -> (Bool, [UInt8]) {
            let count = UInt8(payload.count)
            return (isFromHost, [2, 0x40, isFromHost ? 0 : 0x20, count + 4, 0, count, 0, channel, 0] + payload)
        }
        return [
            (true, [1, 3, 0x0C, 0]), (false, [4, 0x0E, 4, 1, 3, 0x0C, 0]), (false, [4, 0x0F, 4, 0x0C, 1, 0x0D, 0x20]),
            data(true, [0x08, 1, 0, 9, 0, 3, 0x28]), data(false, [0x09, 7, 2, 0, 0x12, 3, 0, 0x19, 0x2A]),
            data(true, [0x0A, 3, 0]), data(false, [0x0B, 100]), data(true, [0x0A, 9, 0]),
            data(false, [1, 0x0A, 9, 0, 2]),
            data(false, [0x06] + [UInt8](repeating: 0xA7, count: 16), channel: 6),
        ]
    }()

    @Test("A line has the command that ended, the attribute with its name, the decoded value, and the error")
    @MainActor
    func words() {
        var lines: [String] = []
        let packets = MonitorPrinter(Printer(json: false) { lines.append($0) }, detail: .lines, files: [])
        for (isFromHost, bytes) in Self.talk {
            let direction: PacketRecord.Direction = isFromHost ? .toController : .toHost
            packets.print(.packet(.init(source: Self.source, direction: direction, time: Instant(), bytes: bytes)))
        }
        let ends = [
            "Reset", "Command Complete: Reset", "Command Status: LE Create Connection: Command Disallowed",
            "Read By Type Request: Characteristic (0x0001–0x0009)", "Response: Battery Level (0x0003)",
            "Read Request: Battery Level (0x0003)", "Response: Battery Level (0x0003) = 64 (100 %)",
            "Read Request: 0x0009", "Error Response: Read Not Permitted: Read Request of 0x0009",
        ]
        for (line, end) in zip(lines, ends) { #expect(line.hasSuffix(end)) }
        #expect(lines.count == Self.talk.count)
    }

    @Test(
        "Keys are kept in the output and left out of files, unless the user asks for something else",
        arguments: [MonitorPrinter.Keys.inOutput, .nowhere, .everywhere]
    )
    @MainActor
    func redaction(keys: MonitorPrinter.Keys) async throws {
        let key = String(repeating: "a7", count: 16)
        let path = FileManager.default.temporaryDirectory.path + "/copy-\(UInt64.random(in: 0 ... .max)).btsnoop"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var lines: [String] = []
        let file = try CaptureFile(path: path, clock: WallClock()) { Issue.record("\($0)") }
        let packets = MonitorPrinter(
            Printer(json: true) { lines.append($0) },
            detail: .fields,
            files: [file],
            keys: keys
        )
        for (isFromHost, bytes) in Self.talk {
            let direction: PacketRecord.Direction = isFromHost ? .toController : .toHost
            packets.print(.packet(.init(source: Self.source, direction: direction, time: Instant(), bytes: bytes)))
        }
        #expect(lines.joined().contains(key) == (keys != .nowhere))
        #expect(lines.contains { $0.contains(#""redacted":true"#) } == (keys == .nowhere))
        #expect(lines.joined().contains("left out to protect keys") == (keys == .nowhere))
        #expect(packets.redactedCount == (keys == .everywhere ? 0 : 1))
        let written = try Array(Data(contentsOf: URL(filePath: path))).hexadecimal
        #expect(written.contains(key) == (keys == .everywhere))
        #expect(
            written.contains("024020150011000600" + "06" + String(repeating: "00", count: 16)) == (keys != .everywhere)
        )
    }

    static func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test("Times before 1970 are printed with their fraction of a second")
    func early() {
        let times: [(Int64, String)] = [
            (-332_687_153_418_000, "1969-12-28T03:35:12.846582Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (0, "1970-01-01T00:00:00.000000Z"), (-1_000_000_000, "1969-12-31T23:59:59.000000Z"),
            (.min, "1677-09-21T00:12:43.145224Z"), (.max, "2262-04-11T23:47:16.854775Z"),
        ]
        for (nanoseconds, text) in times { #expect(Timestamp(nanoseconds: nanoseconds).rfc3339 == text) }
        #expect(Timestamp(nanoseconds: -332_687_153_418_000).timeOfDay.hasSuffix(":12.846582"))
    }

    @Test("A truncated packet is marked as such, with its original length")
    @MainActor
    func cut() throws {
        var record = PacketRecord(source: Self.source, direction: .toHost, time: Instant(), bytes: [4, 0x3E, 33, 2, 1])
        record.missing = 31
        let object = try Self.object(Self.line(of: record, json: true, showsTime: false))
        #expect(object["cut"] as? Bool == true && object["malformed"] as? Bool == false)
        #expect(object["length"] as? Int == 36 && object["subevent_code"] as? Int == 2)
    }
}
