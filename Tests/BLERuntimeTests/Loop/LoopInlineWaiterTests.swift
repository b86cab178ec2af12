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

    @Test("Who waits sees the answer, and takes the turn that it calls for", arguments: [1, 2, 20])
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
        scene.loop.stopWaiting()
    }

    @Test("Nobody waits where the loop itself would not ask")
    func unwanted() {
        let scene = Scene()
        scene.loop.thread.inlineWaiter.isWanted = false
        #expect(!scene.loop.waitHere { true })
        #expect(scene.looks.load(ordering: .relaxed) == 0)
    }

    @Test("Who waits in vain gives up, and is not wanted again at once")
    func inVain() {
        let scene = Scene()
        #expect(!scene.loop.waitHere { false })
        #expect(scene.looks.load(ordering: .relaxed) > 0)
        #expect(!scene.loop.thread.inlineWaiter.isWanted)
        #expect(!scene.loop.waitHere { true })
    }

    @Test("What somebody else leaves for the loop is done meanwhile, by its own thread")
    func others() {
        let scene = Scene(), thread = Atomic<UInt>(0)
        let isDone = scene.loop.waitHere {
            thread.store(scene.loop.sync { UInt(pthread_self()) }, ordering: .relaxed)
            return true
        }
        #expect(isDone && thread.load(ordering: .relaxed) != UInt(pthread_self()))
        scene.loop.stopWaiting()
    }

    @Test("A turn that wants to come again sooner than the loop would wake has the loop wait itself, and comes")
    func deadline() {
        let scene = Scene(answerAfter: 1, due: .milliseconds(2))
        #expect(!scene.loop.waitHere { scene.isAnswered.load(ordering: .relaxed) })
        let count = scene.notes.count
        while scene.notes.count < count + 3 { scene.rings.wait() }
        #expect(scene.notes.lastThread != UInt(pthread_self()))
    }

    @Test("The loop waits itself when it is told to, and when nobody has said for a millisecond that he waits")
    func relief() {
        let scene = Scene()
        for tells in [true, false] {
            scene.loop.thread.inlineWaiter.isWanted = true
            #expect(scene.loop.waitHere { true })
            if tells { scene.loop.stopWaiting() }
            let isDone = DispatchSemaphore(value: 0)
            scene.loop.post { isDone.signal() }
            isDone.wait()
            LoopTurnTests.takeTurn(of: scene.loop)
        }
        #expect(scene.loop.thread.inlineWaiter.end(at: scene.loop.clock.now + .milliseconds(1)) == nil)
    }
}
