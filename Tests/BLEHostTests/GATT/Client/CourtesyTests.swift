import BLEWire
import Testing

@testable import BLEHost

@Suite("When a host does something for itself")
struct CourtesyTests {
    func at(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("Is never before the link is ready, and a quarter of a second after that")
    func beginning() {
        var courtesy = Courtesy()
        courtesy.postpone(at: at(10), isIdle: true)
        #expect(courtesy.begin == nil)
        courtesy.allow(at: at(20))
        #expect(courtesy.begin == at(270))
        #expect(courtesy.due == at(2_020))
    }

    @Test("Is put off by each wish of a client, for two seconds in all")
    func postponing() {
        var courtesy = Courtesy()
        courtesy.allow(at: at(0))
        for time in stride(from: 100, through: 1_700, by: 100) {
            courtesy.postpone(at: at(time), isIdle: false)
            #expect(courtesy.begin == at(time + 250))
        }
        courtesy.postpone(at: at(1_900), isIdle: false)
        #expect(courtesy.begin == at(2_000))
        courtesy.indulge(at: at(2_000))
        #expect(courtesy.due == at(2_250))
    }

    @Test("Is counted from the last wish before there was something to do")
    func idle() {
        var courtesy = Courtesy()
        courtesy.allow(at: at(0))
        courtesy.postpone(at: at(5_000), isIdle: true)
        #expect(courtesy.begin == at(5_250))
        #expect(courtesy.due == at(7_000))
    }
}
