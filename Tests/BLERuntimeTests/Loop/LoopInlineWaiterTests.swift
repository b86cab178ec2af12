import BLEWire
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BLERuntime

@Suite("Waiting in place of a loop", .timeLimit(.minutes(30)))
struct LoopInlineWaiterTests {
    /// A loop with a program at the other end, which answers at the looks that it is told to.
    final class Scene: Sendable {
        let loop = EventLoop("test-loop")
        let looks = Atomic(0)
        /// How many looks it takes until there is an answer, and whether it is there.
        let answerAfter: Int
        let isAnswered = Atomic(false)
        let notes = LoopTurnTests.Notes()
        /// When the turn wants to come again once there is an answer.
        let due: Duration?
        let rings = DispatchSemaphore(value: 0)

        init(answerAfter: Int = .max, due: Duration? = nil) {
            self.answerAfter = answerAfter
            self.due = due
            loop.start { [self] in turn() }
            loop.sync { [self] in
                loop.allowPolling { [self] in
                    guard looks.wrappingAdd(1, ordering: .relaxed).newValue == answerAfter else { return false }
                    isAnswered.store(true, ordering: .relaxed)
                    return true
                }
            }
            // From then on its thread sleeps, as one that found before that polling pays.
            LoopTurnTests.takeTurn(of: loop)
            loop.thread.inlineWaiter.isWanted = true
        }

        private func turn() -> Instant? {
            notes.turn(of: loop)
            rings.signal()
            return isAnswered.load(ordering: .relaxed) ? due.map { loop.clock.now + $0 } : nil
        }
    }

    @Test("The waiting thread sees the response and takes the turn for it", arguments: [1, 2, 20])
    func answered(looks: Int) {
        let scene = Scene(answerAfter: looks)
        // Where the processor is needed elsewhere the loop waits itself, and the next one stands in.
        var isDone = false
        while !isDone {
            scene.loop.thread.inlineWaiter.isWanted = true
            isDone = scene.loop.waitHere { scene.isAnswered.load(ordering: .relaxed) }
        }
        #expect(scene.notes.lastThread == UInt(pthread_self()) && scene.notes.hadPlace)
        #expect(!scene.loop.isCurrent)
        #expect(scene.looks.load(ordering: .relaxed) == looks)
        scene.loop.resumeOwnWaiting()
    }

    @Test("No thread waits when the loop itself would not poll")
    func unwanted() {
        let scene = Scene()
        scene.loop.thread.inlineWaiter.isWanted = false
        #expect(!scene.loop.waitHere { true })
        #expect(scene.looks.load(ordering: .relaxed) == 0)
    }

    @Test("A thread that waits in vain gives up, and the loop does not ask for another immediately")
    func inVain() {
        let scene = Scene()
        #expect(!scene.loop.waitHere { false })
        #expect(scene.looks.load(ordering: .relaxed) > 0)
        #expect(!scene.loop.thread.inlineWaiter.isWanted)
        #expect(!scene.loop.waitHere { true })
    }

    @Test("Work that other threads post meanwhile runs on the loop's own thread")
    func others() {
        let scene = Scene(), thread = Atomic<UInt>(0)
        let isDone = scene.loop.waitHere {
            thread.store(scene.loop.sync { UInt(pthread_self()) }, ordering: .relaxed)
            return true
        }
        #expect(isDone && thread.load(ordering: .relaxed) != UInt(pthread_self()))
        scene.loop.resumeOwnWaiting()
    }

    @Test("If a turn's next deadline is earlier than the loop would wake, the loop waits itself and meets it")
    func deadline() {
        let scene = Scene(answerAfter: 1, due: .milliseconds(2))
        #expect(!scene.loop.waitHere { scene.isAnswered.load(ordering: .relaxed) })
        let count = scene.notes.count
        while scene.notes.count < count + 3 { scene.rings.wait() }
        #expect(scene.notes.lastThread != UInt(pthread_self()))
    }

    @Test("The loop waits itself when told to, or when the waiting thread has been silent for a millisecond")
    func relief() {
        let scene = Scene()
        for tells in [true, false] {
            scene.loop.thread.inlineWaiter.isWanted = true
            #expect(scene.loop.waitHere { true })
            if tells { scene.loop.resumeOwnWaiting() }
            let isDone = DispatchSemaphore(value: 0)
            scene.loop.post { isDone.signal() }
            isDone.wait()
            LoopTurnTests.takeTurn(of: scene.loop)
        }
        #expect(scene.loop.thread.inlineWaiter.end(at: scene.loop.clock.now + .milliseconds(1)) == nil)
    }
}
