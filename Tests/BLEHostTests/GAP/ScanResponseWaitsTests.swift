import BLEWire
import Testing

@testable import BLEHost

@Suite("Waiting for scan responses")
struct ScanResponseWaitsTests {
    @Test(
        "The queue keeps advertisers in the order in which they began to wait, whichever leave it",
        arguments: UInt64(0)..<16
    )
    func queue(seed: UInt64) {
        var random = SeededGenerator(seed: seed), waits = ScanResponseWaits()
        var model: [(place: Int, since: Instant)] = []
        for step in 0..<2_000 {
            let place = Int.random(in: 0..<16, using: &random), now = Instant(nanoseconds: Int64(step))
            let index = model.firstIndex { $0.place == place }
            #expect(waits.contains(place) == (index != nil))
            let waited = waits.end(place)
            #expect(waited == (index != nil))
            if let index {
                model.remove(at: index)
            } else {
                model.append((place, now))
                waits.begin(place, at: now)
            }
            #expect(waits.oldest?.place == model.first?.place && waits.oldest?.since == model.first?.since)
            #expect(waits.deadline == model.first.map { $0.since + ScanResponseWaits.maximumWait })
            #expect(waits.count == model.count)
        }
    }

    @Test("An unknown advertiser is not waiting")
    func unknown() {
        var waits = ScanResponseWaits()
        let waited = waits.end(7)
        #expect(!waited && !waits.contains(7) && waits.deadline == nil && waits.count == 0)
    }
}
