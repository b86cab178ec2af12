import BLEWire
import Glibc
import Testing

@testable import BLERuntime

@Suite("Deadlines of a loop")
struct LoopAgendaTests {
    private static let begin = Instant() + .seconds(1)
    private var agenda = LoopAgenda()
    private var results: [pollfd] = []

    /// The owner has taken a turn, and the thread waits; returns until when.
    private mutating func wait(for due: Instant?, at now: Instant = begin) -> Instant? {
        agenda.due = due
        agenda.prepare(for: 0, at: now, into: &results)
        return agenda.until
    }

    /// Another thread has taken a turn; returns whether the thread has to wait for something else.
    private mutating func takeTurn(due: Instant?) -> Bool {
        agenda.due = due
        return agenda.waitsForOther()
    }

    @Test("Another thread's turn wakes the loop's thread only for an earlier deadline")
    mutating func earlier() {
        #expect(wait(for: Self.begin + .seconds(30)) == Self.begin + .seconds(30))
        for due in [Self.begin + .seconds(30), Self.begin + .seconds(31), nil] {
            let isOutdated = takeTurn(due: due)
            #expect(!isOutdated, "\(String(describing: due))")
        }
        let isOutdated = takeTurn(due: Self.begin + .seconds(29))
        #expect(isOutdated)
    }

    @Test("A deadline that comes and goes wakes the thread once, and is waited for")
    mutating func comesAndGoes() {
        let (late, soon) = (Self.begin + .seconds(30), Self.begin + .milliseconds(250))
        _ = wait(for: late)
        var isOutdated = takeTurn(due: soon)
        #expect(isOutdated)
        for _ in 0..<3 {
            #expect(wait(for: late) == soon)
            isOutdated = takeTurn(due: soon)
            #expect(!isOutdated)
        }
        #expect(wait(for: late, at: soon) == late)
    }

    @Test("A deadline that was given up is still waited for once", arguments: [nil, 40] as [Int?])
    mutating func givenUp(next: Int?) {
        let deadline = Self.begin + .seconds(30), next = next.map { Self.begin + .seconds($0) }
        _ = wait(for: deadline)
        #expect(wait(for: next) == deadline)
        #expect(wait(for: next, at: deadline) == next)
    }
}
