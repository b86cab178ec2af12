import BLEWire
import Testing

@testable import BLERuntime

@Suite("Expected response time of a program")
struct ResponseTimeEstimateTests {
    /// Asks so often, looks every two microseconds when that is worth while, and hears parts so many microseconds after
    /// each question; returns how often it looked in vain, and how often it heard something, for the last half of them.
    private func converse(_ delay: inout ResponseTimeEstimate, parts: [Int64], rounds: Int = 400) -> (
        vain: Int, heard: Int
    ) {
        var now = Instant(), vain = 0, heard = 0
        for round in 0..<rounds {
            let begin = now
            var left = parts[...]
            delay.sent(12, at: begin)
            while !left.isEmpty {
                now = now.later(byNanoseconds: 2_000)
                guard delay.isOver(at: now) else { continue }
                let there = left.prefix { begin.later(byNanoseconds: 1_000 * $0) <= now }.count
                left = left.dropFirst(there)
                if there > 0 { delay.received(30 * there, at: now) } else { delay.receivedNothing() }
                guard round >= rounds / 2 else { continue }
                if there > 0 { heard += 1 } else { vain += 1 }
            }
            now = now.later(byNanoseconds: 5_000)
        }
        return (vain, heard)
    }

    @Test("A response with a constant delay is polled for with hardly any misses", arguments: [4, 20, 50, 90])
    func steady(microseconds: Int64) {
        var delay = ResponseTimeEstimate()
        let (vain, heard) = converse(&delay, parts: [microseconds])
        #expect(heard == 200 && vain <= 400)
        #expect(abs(delay.expected - 1_000 * microseconds) <= 100 * microseconds + 2_000)
    }

    @Test("Waiting for an intermediate packet and the response takes at most three polls")
    func parts() {
        var delay = ResponseTimeEstimate()
        let (vain, heard) = converse(&delay, parts: [15, 50])
        #expect(vain + heard <= 600)
        #expect((40_000...52_000).contains(delay.expected))
    }

    @Test("No response is expected after more than 100 µs, and later faster responses lower the expectation")
    func bounds() {
        var delay = ResponseTimeEstimate()
        _ = converse(&delay, parts: [5_000], rounds: 50)
        #expect(delay.expected == ResponseTimeEstimate.most)
        _ = converse(&delay, parts: [10], rounds: 200)
        #expect(delay.expected < 15_000)
    }

    @Test("A program that continues sending polls as soon as its first packet may be answered")
    func goesOn() {
        var delay = ResponseTimeEstimate()
        _ = converse(&delay, parts: [50])
        var now = Instant(nanoseconds: 1_000_000_000)
        delay.sent(12, at: now)
        #expect(!delay.isOver(at: now))
        for _ in 0..<10 {
            now = now.later(byNanoseconds: 10_000)
            delay.sent(12, at: now)
        }
        #expect(delay.isOver(at: now))
    }

    @Test(
        "A program that sends more than a request polls immediately",
        arguments: [[1_025], [1_000, 25], [256, 256, 256, 256, 32]]
    )
    func streams(writes: [Int]) {
        var delay = ResponseTimeEstimate()
        _ = converse(&delay, parts: [50])
        let now = Instant(nanoseconds: 1_000_000_000)
        for write in writes.dropLast() {
            delay.sent(write, at: now)
            #expect(!delay.isOver(at: now))
        }
        delay.sent(writes[writes.count - 1], at: now)
        #expect(delay.isOver(at: now))
    }

    @Test("Data that is more than a response is not expected the next time", arguments: [[1_025], [1_000, 25]])
    func heardStream(parts: [Int]) {
        var delay = ResponseTimeEstimate()
        _ = converse(&delay, parts: [50])
        var now = Instant(nanoseconds: 1_000_000_000)
        for _ in 0..<2 {
            delay.sent(12, at: now)
            for part in parts {
                now = now.later(byNanoseconds: 90_000)
                delay.received(part, at: now)
            }
        }
        #expect(delay.expected == 0 && delay.receivesStream)
        delay.sent(12, at: now)
        #expect(!delay.receivesStream)
        #expect(delay.isOver(at: now))
    }
}
