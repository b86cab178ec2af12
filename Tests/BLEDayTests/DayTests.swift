import Testing

@testable import BLEDay

@Suite("A day with three apps on one phone")
struct DayTests {
    @Test("Each call receives exactly the callbacks that Apple documents, for an hour", arguments: UInt64(0)..<16)
    func anHour(seed: UInt64) async {
        let outcome = await Day.run(seed: seed, hours: 1)
        #expect(outcome.violations == [])
        #expect(outcome.operations.values.reduce(0, +) > 100)
        #expect(outcome.callbacks.values.reduce(0, +) > 100)
    }

    @Test("The same seed gives the same day, and another seed another")
    func deterministic() async {
        let first = await Day.run(seed: 40, hours: 1), again = await Day.run(seed: 40, hours: 1)
        let other = await Day.run(seed: 41, hours: 1)
        #expect(first.hash == again.hash)
        #expect(first.callbacks == again.callbacks)
        #expect(first.hash != other.hash)
    }
}
