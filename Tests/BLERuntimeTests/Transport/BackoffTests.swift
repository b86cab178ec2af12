import Testing

@testable import BLERuntime

@Suite("Back-off")
struct BackoffTests {
    @Test("Pauses grow from 100 ms to 5 s and stay there")
    func delays() {
        var backoff = Backoff()
        let delays = (0..<9).map { _ in backoff.failed().delay }
        #expect(delays == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000].map { .milliseconds($0) })
    }

    @Test("A controller that was never there is absent immediately, and that is reported once")
    func neverThere() {
        var backoff = Backoff()
        #expect((0..<2_000).map { _ in backoff.failed().isAbsent } == [true] + [Bool](repeating: false, count: 1_999))
    }

    @Test("A lost controller is absent after the third attempt")
    func lost() {
        var backoff = Backoff()
        _ = backoff.failed()
        backoff.succeeded()
        #expect((0..<5).map { _ in backoff.failed().isAbsent } == [false, false, true, false, false])
    }

    @Test("Connections to something that is not a controller count as failed attempts")
    func nobody() {
        var backoff = Backoff()
        let steps = (0..<4).map { _ in
            backoff.connected()
            return backoff.failed()
        }
        #expect(steps.map(\.delay) == [100, 200, 400, 800].map { .milliseconds($0) })
        #expect(steps.map(\.isAbsent) == [false, false, true, false])
        #expect(backoff.isAbsent)
        backoff.succeeded()
        #expect(!backoff.isAbsent)
    }

    @Test("The pauses are short again after a connection")
    func shortAgain() {
        var backoff = Backoff()
        for _ in 0..<5 { _ = backoff.failed() }
        backoff.succeeded()
        #expect(backoff.failed().delay == .milliseconds(100))
    }
}
