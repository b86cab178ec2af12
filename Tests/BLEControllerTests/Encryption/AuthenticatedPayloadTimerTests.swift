import BLEWire
import Testing

@testable import BLEController

@Suite("Authenticated payload timer")
struct AuthenticatedPayloadTimerTests {
    let timeout = Duration.seconds(2)

    static func at(_ nanoseconds: Int64) -> Instant { Instant(nanoseconds: nanoseconds) }

    @Test("The controller pings the peer after half of the timeout, and notifies the host after all of it")
    func expiry() {
        var timer = AuthenticatedPayloadTimer()
        #expect(timer.deadline(timeout: timeout) == nil)
        timer.restart(at: Self.at(0))
        #expect(timer.deadline(timeout: timeout) == nil)
        timer.start(at: Self.at(0))
        #expect(timer.deadline(timeout: timeout) == Self.at(1_000_000_000))
        let steps: [(nanoseconds: Int64, expected: AuthenticatedPayloadTimer.OnExpire)] = [
            (999_999_999, .nothing), (1_000_000_000, .ping), (1_999_999_999, .nothing), (2_000_000_000, .report),
            (2_999_999_999, .nothing), (3_000_000_000, .ping), (4_000_000_000, .report),
        ]
        for (nanoseconds, expected) in steps {
            let outcome = timer.expire(at: Self.at(nanoseconds), timeout: timeout)
            #expect(outcome == expected, "\(nanoseconds)")
        }
    }

    @Test("An authenticated packet restarts the timer")
    func restart() {
        var timer = AuthenticatedPayloadTimer()
        timer.start(at: Self.at(0))
        _ = timer.expire(at: Self.at(1_000_000_000), timeout: timeout)
        timer.restart(at: Self.at(1_500_000_000))
        let outcome = timer.expire(at: Self.at(2_499_999_999), timeout: timeout)
        #expect(outcome == .nothing)
        #expect(timer.deadline(timeout: timeout) == Self.at(2_500_000_000))
    }
}
