import BLESimulation
import XCTest

/// The right column of the table of timers in docs/TESTING.md; ``AppTimerTests`` has the left one.
final class AppTimerXCTests: XCTestCase {
    @MainActor
    func testTimersFireWhileTheWorldsTimeIsSpread() async {
        for timer in AppTimer.allCases {
            let world = World(seed: 1), fired = Flag()
            timer.start { fired.raise() }
            let hasFired = await world.advance(atMost: .seconds(60), spreadOver: .seconds(60)) { fired.isRaised }
            XCTAssertTrue(hasFired, "\(timer)")
        }
    }

    @MainActor
    func testTimersFireInRealTime() async {
        for timer in AppTimer.allCases {
            let world = World(seed: 1)
            world.runInRealTime()
            await withCheckedContinuation { done in timer.start { done.resume() } }
        }
    }
}
