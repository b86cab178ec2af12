import BLEWire
import Testing

@testable import BLERuntime

@Suite("Host time")
struct HostTimeTests {
    private func seconds(_ count: Int64) -> Instant { Instant() + .seconds(count) }

    @Test("Host time equals the loop's time as long as it was never stopped")
    func same() {
        var time = PausableClock()
        time.resume(at: seconds(4))
        #expect(time.time(at: seconds(5)) == seconds(5) && time.wake(for: seconds(9)) == seconds(9))
    }

    @Test("Host time stops while the controller is silent, and all deadlines move by that time")
    func stopped() {
        var time = PausableClock()
        time.stop(at: seconds(10))
        time.stop(at: seconds(12))
        #expect(time.time(at: seconds(10)) == seconds(10) && time.time(at: seconds(60)) == seconds(10))
        #expect(time.wake(for: seconds(11)) == nil)
        time.resume(at: seconds(40))
        #expect(time.time(at: seconds(41)) == seconds(11))
        #expect(time.wake(for: seconds(12)) == seconds(42))
    }

    @Test("The stopped periods add up, and host time never goes back", arguments: UInt64(1)...16)
    func sums(seed: UInt64) {
        var generator = SeededGenerator(seed: seed), time = PausableClock(), now = Instant(), last = Instant()
        for _ in 0..<1000 {
            now = now + .milliseconds(Int64(generator.below(500)))
            switch generator.below(3) {
            case 0: time.stop(at: now)
            case 1: time.resume(at: now)
            default: break
            }
            let next = time.time(at: now)
            #expect(last <= next && next <= now)
            if let wake = time.wake(for: next) { #expect(wake == now) }
            last = next
        }
    }
}
