import BLERuntime
import BLESimulation
import Foundation
import Glibc
import Testing

@testable import ble

@Suite("The process of a session", .serialized, .timeLimit(.minutes(30)))
struct SessionProcessTests {
    /// A process of `ble session` with pipes at its input and output.
    private final class Child {
        private let process = Process()
        private let input = Pipe(), output = Pipe()
        private var rest = Data()
        /// The size of the pipe at the output, the smallest that Linux allows.
        private static let size: Int32 = 4_096

        init(_ words: [String], host: String, state: String? = nil) throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "ble")
            process.arguments = ["session"] + words
            var variables = ["BLUETOOTH_HOST": host]
            variables["XDG_STATE_HOME"] = state
            process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
            // 1031 is F_SETPIPE_SZ.
            try #require(fcntl(output.fileHandleForReading.fileDescriptor, 1031, Self.size) == Self.size)
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        func send(_ lines: String...) throws {
            for line in lines { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }
        }

        func closeInput() throws { try input.fileHandleForWriting.close() }

        func interrupt(_ signal: Int32) { kill(process.processIdentifier, signal) }

        /// Waits until the process cannot write any more, because its output is full.
        ///
        /// A line of at most `line` octets that does not fit waits as a whole; one that is longer than the pipe waits
        /// for its rest, and then `line` is the size of the pipe.
        func waitUntilFull(lines line: Int32 = 400) throws {
            var count: Int32 = 0
            while count <= Self.size - line {
                poll(nil, 0, 20)
                try #require(ioctl(output.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count) == 0)
            }
        }

        /// Returns the next line as an object; `nil` at the end of the output.
        func next() throws -> [String: Any]? {
            while true {
                if let end = rest.firstIndex(of: 0x0A) {
                    let line = rest[..<end]
                    rest = Data(rest[(end + 1)...])
                    return try JSONSerialization.jsonObject(with: line) as? [String: Any]
                }
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { return nil }
                rest += more
            }
        }

        /// Returns the next line with a value of a key.
        func next(_ key: String, _ value: some Equatable) throws -> [String: Any] {
            while let line = try next() { if line[key] as? AnyHashable == value as? AnyHashable { return line } }
            Issue.record("the output ended before a line with \(key) = \(value)")
            return [:]
        }

        /// Waits for the end of the process, and returns its exit status.
        func status() -> Int32 {
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
    }

    @Test("A script reads a value, and the end of its input ends the process")
    func script() throws {
        let child = try Child([], host: "demo")
        #expect(try child.next()?["event"] as? String == "ready")
        try child.send(
            #"{"id": 1, "command": "connect", "device": "Lamp", "timeout": 600}"#,
            #"{"id": 2, "command": "read", "device": "Lamp", "characteristic": "2A29"}"#,
            #"{"id": 3, "command": "connect", "device": ""# + String(repeating: "a", count: 70_000) + #""}"#
        )
        #expect(try child.next("code", "invalid")["error"] as? String == "The line is longer than 65536 octets.")
        #expect(try child.next("id", 2)["text"] as? String == "Example Lights")
        try child.closeInput()
        #expect(try child.next("event", "ended")["reason"] as? String == "end_of_input")
        #expect(try child.next() == nil)
        #expect(child.status() == 0)
    }

    @Test("A signal ends the session with a last line", arguments: [SIGINT, SIGTERM])
    func signals(number: Int32) throws {
        let child = try Child(["--stay"], host: "demo")
        try child.send(#"{"id": 1, "command": "connect", "device": "Lamp", "timeout": 600}"#)
        try child.closeInput()
        #expect(try child.next("id", 1)["event"] as? String == "done")
        child.interrupt(number)
        #expect(try child.next("event", "disconnected")["reconnecting"] as? Bool == false)
        #expect(try child.next("event", "ended")["reason"] as? String == "interrupted")
        #expect(child.status() == 0)
    }

    @Test("A reader that pauses gets every value in order, and the session ends although its output is not read")
    func slowReader() throws {
        let path = "/tmp/slow-\(UInt64.random(in: 0 ... .max)).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let values = (0..<256).map { "\"" + Data([UInt8($0)]).hexadecimal + "\"" }.joined(separator: ", ")
        let device = """
            {"name": "Fast", "services": [{"uuid": "FFA0", "characteristics": [{"uuid": "FFA1",
              "properties": ["notify"], "notify": {"every": 5, "values": [\(values)]}}]}]}
            """
        try Data(device.utf8).write(to: URL(filePath: path))
        let child = try Child([], host: "world:" + path)
        try child.send(
            #"{"id": 1, "command": "connect", "device": "Fast", "timeout": 600}"#,
            #"{"id": 2, "command": "subscribe", "device": "Fast", "characteristic": "FFA1"}"#
        )
        var last = try #require(try child.next("event", "received")["value"] as? String)
        for _ in 0..<3 {
            try child.waitUntilFull()
            for _ in 0..<200 {
                let value = try #require(try child.next("event", "received")["value"] as? String)
                let (before, number) = (try #require(UInt8(last, radix: 16)), try #require(UInt8(value, radix: 16)))
                #expect(number == before &+ 1)
                last = value
            }
        }
        try child.waitUntilFull()
        child.interrupt(SIGTERM)
        #expect(child.status() == 74)
    }

    @Test("A session that is not read stops the peer that sends on a channel, and no octet is lost")
    func slowChannel() throws {
        let radio = RadioServer(seed: 1)
        defer { radio.stop() }
        let ports = try (0..<2).map { _ in try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)) }
        let folder = "/tmp/slow-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try Child([], host: "tcp:127.0.0.1:\(ports[0])", state: folder + "/server")
        let user = try Child([], host: "tcp:127.0.0.1:\(ports[1])", state: folder + "/user")
        try server.send(
            #"{"id": 1, "command": "serve", "description": {"name": "Store", "services": []}}"#,
            #"{"id": 2, "command": "publish_channel"}"#
        )
        let psm = try #require(try server.next("id", 2)["psm"] as? Int)
        try user.send(
            #"{"id": 1, "command": "connect", "device": "Store", "timeout": 600}"#,
            #"{"id": 2, "command": "open_channel", "device": "Store", "psm": \#(psm)}"#
        )
        #expect(try user.next("id", 2)["event"] as? String == "done")
        let pieces = (0..<24).map { Data(repeating: UInt8($0), count: 16_384).hexadecimal }
        for piece in pieces { try user.send(#"{"command": "send", "channel": 1, "value": "\#(piece)"}"#) }
        var received = ""
        for _ in 0..<3 {
            try server.waitUntilFull(lines: 4_096)
            for _ in 0..<4 {
                received += try #require(try server.next("event", "channel_received")["value"] as? String)
            }
        }
        while received.count < pieces.joined().count {
            received += try #require(try server.next("event", "channel_received")["value"] as? String)
        }
        #expect(received == pieces.joined())
        for child in [user, server] { try child.closeInput() }
        _ = try user.next("event", "ended")
        _ = try server.next("event", "ended")
        #expect(user.status() == 0 && server.status() == 0)
    }
}
