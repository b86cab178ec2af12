import BLEHost
import BLERuntime
import BLESession
import BLEWire
import Foundation
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Sessions on behalf of others", .timeLimit(.minutes(30)))
struct OnBehalfTests {
    private func policy(_ rules: String) throws -> AppPolicy {
        try AppPolicy(json: Data(#"{"rules": [\#(rules)]}"#.utf8), origin: "P")
    }

    /// The first message that the daemon sends to a program which greets it on behalf of another one.
    private func answer(to hello: Hello, under policy: AppPolicy) async throws -> DaemonMessage? {
        let bench = try DaemonBench(under: policy), app = try RawApp(at: bench.path)
        app.say(.hello(hello))
        return try await app.listen { _ in true }.first
    }

    private static let user: UInt32 = 54_321

    /// Rules, the role of the session, and its outcome for a program of this user.
    private static let cases: [(rules: String, role: ClientRole, isWelcome: Bool)] = [
        (#"{"user": 54321}"#, .central, true),
        (#"{"user": 54321, "roles": ["central"]}"#, .central, true),
        (#"{"user": 54321, "roles": ["central"]}"#, .peripheral, false),
        (#"{"user": 54321, "roles": ["central"]}"#, .agent, false),
        (#"{"user": 54321, "roles": ["central", "peripheral"]}"#, .peripheral, true),
        (#"{"user": 54322}"#, .central, false),
        (#"{"user": 54321, "radios": ["other"]}"#, .central, false),
        (#"{"program": "/usr/bin/other"}"#, .central, false),
        ("{}", .agent, true),
        ("", .central, false),
    ]

    @Test("A session has the rights of the program that it is for, not of the one that opens it", arguments: cases)
    func rights(rules: String, role: ClientRole, isWelcome: Bool) async throws {
        // The program that runs the tests may do nothing itself.
        let own = #"{"user": \#(geteuid()), "roles": []}"#
        let hello = Hello(role, onBehalfOf: Principal(user: Self.user, process: 0))
        let policy = try policy(rules.isEmpty ? own : own + ", " + rules)
        switch try await answer(to: hello, under: policy) {
        case .welcome?: #expect(isWelcome)
        case .refused(let refusal)?: #expect(!isWelcome && refusal.reason == .notAllowed)
        case let message: Issue.record("\(String(describing: message))")
        }
    }

    @Test("A rule about a program holds for a process only with the user that the bus reports")
    func program() async throws {
        let program = try #require(SystemFile.target(of: "/proc/self/exe"))
        let policy = try policy(#"{"program": "\#(program)"}"#)
        let process = UInt32(getpid())
        let own = Hello(.central, onBehalfOf: Principal(user: geteuid(), process: process))
        guard case .welcome? = try await answer(to: own, under: policy) else {
            Issue.record("the process of the user is refused")
            return
        }
        for principal in [Principal(user: Self.user, process: process), Principal(user: geteuid(), process: 0)] {
            let message = try await answer(to: Hello(.central, onBehalfOf: principal), under: policy)
            guard case .refused? = message else {
                Issue.record("\(principal) is admitted")
                continue
            }
        }
    }

    @Test("Root and the user of the daemon open sessions on behalf of others, and no rule lets anyone else")
    func speakers() throws {
        for (user, isAllowed) in [(0, true), (geteuid(), true), (Self.user, false)] as [(UInt32, Bool)] {
            let app = AppCredentials(user: user, groups: [], process: 1, program: "/usr/bin/a")
            #expect(app.ownsDaemon == isAllowed)
        }
        let app = AppCredentials(user: Self.user, groups: [], process: 1, program: "/usr/bin/a")
        #expect(try policy(#"{"user": 54321, "admin": true}"#).grant(to: app).isAdministrator)
        #expect(!app.ownsDaemon)
    }

    @Test("Sessions on behalf of a user count for its limit, not for that of the program that opens them")
    func limits() async throws {
        let bench = try DaemonBench(limits: Daemon.Limits(connectionsOfUser: 2))
        var apps: [RawApp] = []
        for (user, isWelcome) in [(1, true), (1, true), (1, false), (2, true)] as [(UInt32, Bool)] {
            let app = try RawApp(at: bench.path)
            app.say(.hello(Hello(.central, onBehalfOf: Principal(user: 60_000 + user, process: 0))))
            let message = try await app.listen { _ in true }.first
            if case .welcome? = message { #expect(isWelcome) } else { #expect(!isWelcome) }
            apps.append(app)
        }
    }
}
