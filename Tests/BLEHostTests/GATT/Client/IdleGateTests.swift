import BLEWire
import Testing

@testable import BLEHost

@Suite("Delay of the host's own requests")
struct IdleGateTests {
    func at(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("The host's own requests start 250 ms after the link is ready at the earliest")
    func beginning() {
        var idleGate = IdleGate()
        idleGate.postpone(at: at(10), isIdle: true)
        #expect(idleGate.begin == nil)
        idleGate.allow(at: at(20))
        #expect(idleGate.begin == at(270))
        #expect(idleGate.due == at(2_020))
    }

    @Test("Each client request delays the host's own requests, by two seconds in total at most")
    func postponing() {
        var idleGate = IdleGate()
        idleGate.allow(at: at(0))
        for time in stride(from: 100, through: 1_700, by: 100) {
            idleGate.postpone(at: at(time), isIdle: false)
            #expect(idleGate.begin == at(time + 250))
        }
        idleGate.postpone(at: at(1_900), isIdle: false)
        #expect(idleGate.begin == at(2_000))
        idleGate.startedOne(at: at(2_000))
        #expect(idleGate.due == at(2_250))
    }

    @Test("The delay counts from the last client request before there was something to do")
    func idle() {
        var idleGate = IdleGate()
        idleGate.allow(at: at(0))
        idleGate.postpone(at: at(5_000), isIdle: true)
        #expect(idleGate.begin == at(5_250))
        #expect(idleGate.due == at(7_000))
    }
}
