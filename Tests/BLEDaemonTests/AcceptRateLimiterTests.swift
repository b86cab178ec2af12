import BLEWire
import Testing

@testable import BLEDaemon

@Suite("Accept rate limiter")
struct AcceptRateLimiterTests {
    private var limiter = AcceptRateLimiter<Int>(
        burst: 3,
        then: .milliseconds(5),
        mostWaitingOfUser: 2,
        mostWaiting: 5
    )

    private static func instant(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    /// What becomes of a connection, in a word.
    private mutating func accept(_ number: Int = 0, of user: UInt32?, at milliseconds: Int) -> String {
        switch limiter.accept(number, of: user, at: Self.instant(milliseconds)) {
        case .serve(let connection): connection == number ? "serve" : "another"
        case .wait: "wait"
        case .refuse(_, isFirst: true): "refuse first"
        case .refuse(_, isFirst: false): "refuse"
        }
    }

    @Test(
        "Connections within the burst are served immediately, later ones wait, and those beyond the limit are refused"
    )
    mutating func burst() {
        for start in [1_000, 60_000] {
            let outcomes = (0..<7).map { accept($0, of: 1, at: start) }
            #expect(outcomes == ["serve", "serve", "serve", "wait", "wait", "refuse first", "refuse"])
            #expect(limiter.deadline == Self.instant(start + 5))
            #expect(limiter.takeDue(at: Self.instant(start + 5) + .nanoseconds(-1)) == [])
            #expect(limiter.takeDue(at: Self.instant(start + 5)) == [3])
            #expect(limiter.takeDue(at: Self.instant(start + 10)) == [4])
            #expect(limiter.deadline == nil)
        }
    }

    @Test("Connections of one user never delay those of another")
    mutating func others() {
        for _ in 0..<1_000 { _ = accept(of: 1, at: 1_000) }
        let other = accept(of: 2, at: 1_000), unknown = accept(of: nil, at: 1_000)
        #expect([other, unknown] == ["serve", "serve"])
    }

    @Test("Waiting connections are served in turn, even after they have waited too long")
    mutating func late() {
        for number in 0..<5 { _ = accept(number, of: 1, at: 1_000) }
        for number in 10..<14 { _ = accept(number, of: 2, at: 1_001) }
        #expect(limiter.takeDue(at: Self.instant(9_000)) == [3, 4, 13])
    }

    @Test("Waiting connections of all users share one limit, and serving some makes room again")
    mutating func all() {
        for user in 1...3 as ClosedRange<UInt32> { for _ in 0..<5 { _ = accept(of: user, at: 1_000) } }
        for _ in 0..<3 { _ = accept(of: 4, at: 1_000) }
        let full = accept(of: 4, at: 1_000)
        #expect(full == "refuse first")
        #expect(limiter.takeDue(at: Self.instant(1_010)).count == 5)
        for _ in 0..<3 { _ = accept(of: 4, at: 1_010) }
        let room = accept(of: 4, at: 1_010)
        #expect(room == "wait")
    }

    @Test("Thousands of departed users leave room for others")
    mutating func many() {
        for user in 0..<5_000 as Range<UInt32> { _ = accept(of: user, at: 1_000 + 10 * Int(user)) }
        let next = accept(of: 9_999, at: 60_000)
        #expect(next == "serve")
    }
}
