import BLEWire
import Testing

@testable import BLEHost

@Suite("Turns of scanning and connecting")
struct RadioTurnsTests {
    func at(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("Are nobody's while both may go on")
    func free() {
        var turns = RadioTurns()
        let turn = turns.turn(isContended: false, at: at(0))
        #expect(turn == nil && turns.deadline == nil)
    }

    @Test("Begin with connecting, last a second, and go to and fro")
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

    @Test("Begin anew when they were not needed meanwhile")
    func anew() {
        var turns = RadioTurns()
        _ = turns.turn(isContended: true, at: at(0))
        _ = turns.turn(isContended: true, at: at(1_000))
        _ = turns.turn(isContended: false, at: at(1_100))
        let turn = turns.turn(isContended: true, at: at(1_200))
        #expect(turn == .connecting && turns.deadline == at(2_200))
    }
}
