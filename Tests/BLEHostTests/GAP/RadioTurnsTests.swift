import BLEWire
import Testing

@testable import BLEHost

@Suite("Alternating scanning and connecting")
struct RadioTurnsTests {
    func at(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("There are no turns while both can run at the same time")
    func free() {
        var turns = RadioTurns()
        let turn = turns.turn(isContended: false, at: at(0))
        #expect(turn == nil && turns.deadline == nil)
    }

    @Test("Turns begin with connecting, last a second, and alternate")
    func alternating() {
        var turns = RadioTurns()
        let expected: [(Int, RadioTurns.Turn)] = [
            (0, .connecting), (999, .connecting), (1_000, .scanning), (1_500, .scanning), (2_000, .connecting),
        ]
        for (time, turn) in expected {
            let next = turns.turn(isContended: true, at: at(time))
            #expect(next == turn, "after \(time) ms")
        }
        #expect(turns.deadline == at(3_000))
    }

    @Test("Turns begin again with connecting after they were not needed for a while")
    func anew() {
        var turns = RadioTurns()
        _ = turns.turn(isContended: true, at: at(0))
        _ = turns.turn(isContended: true, at: at(1_000))
        _ = turns.turn(isContended: false, at: at(1_100))
        let turn = turns.turn(isContended: true, at: at(1_200))
        #expect(turn == .connecting && turns.deadline == at(2_200))
    }
}
