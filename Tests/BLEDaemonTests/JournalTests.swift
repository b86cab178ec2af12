import BLEHost
import BLERuntime
import BLESession
import BLEWire
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Journal", .timeLimit(.minutes(30)))
struct JournalTests {
    private static func app(_ process: Int32, user: UInt32 = 1) -> AppCredentials {
        AppCredentials(user: user, groups: [], process: process, program: "/usr/bin/sensor")
    }

    @Test("Lines are returned in order, with increasing numbers, starting at any number")
    func order() {
        var journal = Journal()
        for index in 1...5 { journal.note("line \(index)", of: Self.app(7), at: UInt64(index)) }
        #expect(journal.lines(after: 0) { _ in true }.map(\.text) == (1...5).map { "line \($0)" })
        #expect(journal.lines(after: 3) { _ in true }.map(\.number) == [4, 5])
        #expect(journal.lines(after: 5) { _ in true } == [])
        #expect(journal.lines(after: 9) { _ in true }.count == 5, "a number of an earlier daemon says nothing")
    }

    @Test("The oldest line is dropped when there are too many")
    func bound() {
        var journal = Journal()
        for index in 1...Journal.most + 10 { journal.note("line \(index)", of: nil, at: 0) }
        let lines = journal.lines(after: 0) { _ in true }
        #expect(lines.count == Journal.most)
        #expect(lines.first?.text == "line 11")
    }

    @Test("A repeated event of an app updates its single line, and other apps have their own lines")
    func again() {
        var journal = Journal()
        for _ in 0..<5_000 { for text in ["came", "went"] { journal.note(text, of: Self.app(7), at: 0) } }
        journal.note("came", of: Self.app(8), at: 9)
        let lines = journal.lines(after: 0) { _ in true }
        #expect(lines.map(\.text) == ["came", "went", "came"])
        #expect(lines.map(\.count) == [5_000, 5_000, 1])
        #expect(lines.map(\.number) == [9_999, 10_000, 10_001])
    }

    @Test("Long texts are truncated to valid text")
    func long() {
        var journal = Journal()
        journal.note(String(repeating: "ü", count: 1_000), of: nil, at: 0)
        #expect(journal.lines(after: 0) { _ in true }.first?.text == String(repeating: "ü", count: 120))
    }

    @Test("A user does not see the lines of other users, and everyone sees the lines about no user")
    func users() {
        var journal = Journal()
        journal.note("one", of: Self.app(7, user: 1), at: 0)
        journal.note("two", of: Self.app(8, user: 2), at: 0)
        journal.note("all", of: nil, at: 0)
        #expect(journal.lines(after: 0) { $0 == 2 }.map(\.text) == ["two", "all"])
    }

    @Test("A journal of maximum length fits into one response")
    func size() throws {
        var journal = Journal()
        let app = AppCredentials(user: 1, groups: [], process: 1, program: String(repeating: "p", count: 9_000))
        for index in 0..<Journal.most { journal.note("\(index)" + String(repeating: "t", count: 900), of: app, at: 0) }
        let answer = DaemonMessage.answer(.journal(journal.lines(after: 0) { _ in true }))
        #expect(answer.encoded.count < FrameReader.mostOctets)
        #expect(try DaemonMessage(decoding: answer.encoded) == answer)
    }

    private func lines(at path: String, after number: UInt64 = 0) throws -> [JournalLine] {
        guard case .journal(let lines) = try DaemonQuery(at: path).ask(.journal(after: number)) else { return [] }
        return lines
    }

    @Test("The daemon records which sessions began, were rejected and ended, and why")
    func sessions() async throws {
        let bench = try DaemonBench(), app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        _ = try await app.listen { if case .event(.stateChanged(.poweredOn)) = $0 { true } else { false } }
        app.say(.close)
        _ = try await app.listen()
        let stranger = try RawApp(at: bench.path)
        stranger.say(.hello(Hello(.central, radio: "hci:9")))
        _ = try await stranger.listen()
        try bench.current.apply(.none)
        let lines = try lines(at: bench.path)
        let texts = lines.map(\.text)
        let expected = [
            "session began: central on world", "radio is poweredOn", "session ended: the app closed it",
            "refused: there is no radio “hci:9”, only “world”", "the policy was reloaded",
        ]
        #expect(texts == expected)
        #expect(lines.map(\.process) == Array(repeating: UInt32(bitPattern: getpid()), count: 4) + [nil])
        #expect(lines.allSatisfy { $0.time > 1_700_000_000_000_000_000 })
        #expect(try self.lines(at: bench.path, after: lines[3].number).count == 1)
    }
}
