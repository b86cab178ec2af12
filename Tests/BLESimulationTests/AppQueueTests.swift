import Dispatch
import Testing

@testable import BLESimulation

@Suite("App queues")
struct AppQueueTests {
    @Test("The main queue is one queue, whichever object represents it")
    func mainQueue() {
        #expect(AppQueue(.main) == AppQueue(DispatchQueue.main))
        #expect(AppQueue(.main).isMain)
        #expect(AppQueue.main.isMain)
    }

    @Test("Different queues are unequal even with one label, and each equals itself")
    func others() {
        let one = DispatchQueue(label: "app"), other = DispatchQueue(label: "app"),
            behind = DispatchQueue(label: "app", target: .main)
        #expect(AppQueue(one) == AppQueue(one))
        #expect(AppQueue(one) != AppQueue(other))
        #expect(AppQueue(behind) != AppQueue.main)
        #expect(![one, other, behind].contains { AppQueue($0).isMain })
    }

    @Test("A caller is on an app queue only if that queue was registered")
    func current() {
        let app = DispatchQueue(label: "app"), other = DispatchQueue(label: "other")
        _ = AppQueue(app)
        #expect(app.sync { AppQueue.isCurrent })
        #expect(DispatchQueue(label: "behind", target: app).sync { AppQueue.isCurrent })
        #expect(!other.sync { AppQueue.isCurrent })
    }
}
