import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Identity of a connection's sender", .timeLimit(.minutes(30)))
struct SpeakerTests {
    /// Allows everything to the program that runs the tests.
    private func policy() throws -> AppPolicy {
        let program = try #require(SystemFile.target(of: "/proc/self/exe"))
        return try AppPolicy(json: Data(#"{"rules": [{"program": "\#(program)"}]}"#.utf8), origin: "P")
    }

    private func octets(_ messages: [AppMessage]) -> [UInt8] {
        var writer = FrameWriter(), octets: [UInt8] = []
        for message in messages { _ = writer.write(message) }
        writer.take { octets = [UInt8](copying: $0) }
        return octets
    }

    /// Has another program write octets to a connection; returns when it has ended.
    private func write(_ octets: [UInt8], from program: String, to socket: Int32) throws {
        let text = octets.map { String($0 >> 6) + String($0 >> 3 & 7) + String($0 & 7) }.map { "\\" + $0 }.joined()
        var actions = posix_spawn_file_actions_t(), process = pid_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, 1)
        let arguments = [program, "-c", "printf '\(text)'"]
        let result = ProcessArguments.with(arguments, [:]) { arguments, environment in
            posix_spawn(&process, program, &actions, nil, arguments, environment)
        }
        try #require(result == 0)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        try #require(status == 0)
    }

    private func reason(_ message: DaemonMessage?) -> Refusal.Reason? {
        if case .refused(let refusal)? = message { refusal.reason } else { nil }
    }

    @Test("Rules match the program that connects and greets")
    func own() async throws {
        let bench = try DaemonBench(under: try policy()), app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        let messages = try await app.listen { _ in true }
        guard case .welcome? = messages.first else {
            Issue.record("the program is not let in: \(messages)")
            return
        }
    }

    @Test("A greeting written by another process is not attributed to the program that connected")
    func greeting() async throws {
        let bench = try DaemonBench(under: try policy()), app = try RawApp(at: bench.path)
        try write(octets([.hello(Hello())]), from: "/bin/sh", to: app.descriptor)
        #expect(reason(try await app.listen().last) == .notAllowed)
    }

    @Test("A session allowed by a rule about a program ends when another process continues it")
    func takenOver() async throws {
        let bench = try DaemonBench(under: try policy()), app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        _ = try await app.listen { if case .welcome = $0 { true } else { false } }
        try write(octets([.request(1, .stopScan)]), from: "/bin/sh", to: app.descriptor)
        #expect(reason(try await app.listen().last) == .notAllowed)
    }

    @Test("Processes of one user may share a session if no rule names its program")
    func shared() async throws {
        let policy = try AppPolicy(json: Data(#"{"rules": [{"user": \#(geteuid())}]}"#.utf8), origin: "P")
        let bench = try DaemonBench(under: policy), app = try RawApp(at: bench.path)
        try write(octets([.hello(Hello())]), from: "/bin/sh", to: app.descriptor)
        app.say(.request(1, .stopScan))
        let messages = try await app.listen { if case .taken(1) = $0 { true } else { false } }
        #expect(reason(messages.last) == nil)
    }
}
