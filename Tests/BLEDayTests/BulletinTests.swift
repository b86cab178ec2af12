import CoreBluetooth
import Dispatch
import Testing

@testable import BLEDay

@Suite("Facts that apps in several processes share")
struct BulletinTests {
    /// Two apps with the same bulletin, and the bulletin of a third.
    private func withApps(_ body: (Chronicle, Chronicle, Bulletin) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let boards = try (0..<3).map { _ in try #require(Bulletin(path: path)) }
        try body(Chronicle(boards[0]), Chronicle(boards[1]), boards[2])
    }

    @Test("A value taken by one server is known to the others, and cannot be taken twice")
    func taken() throws {
        try withApps { one, other, _ in
            #expect(!other.wasTaken(7))
            #expect(one.take(7))
            #expect(other.wasTaken(7))
            #expect(!other.take(7))
            #expect(!other.wasTaken(8))
        }
    }

    @Test("A change of services is known to all apps, for the named server or for an unknown name")
    func rebuilt() throws {
        try withApps { one, other, _ in
            one.rebuilt("lock")
            let soon = one.now + .seconds(10)
            #expect(!other.hasRebuilt("lock", since: soon))
            one.rebuilt("lamp")
            for name in ["lamp", "lock", "unknown", nil] { #expect(other.hasRebuilt(name, since: one.now)) }
            #expect(!other.hasLostApp("lamp", since: .zero))
        }
    }

    @Test("A query sees what was posted even while another thread reads it")
    func threads() throws {
        for _ in 0..<16 {
            try withApps { one, _, board in
                board.post("rebuilt", "lamp", "5000")
                for number in 0..<2_000 { board.post("taken", "\(number)", "0") }
                let missed = Shared(0)
                DispatchQueue.concurrentPerform(iterations: 8) { _ in
                    if !one.hasRebuilt("lamp", since: .nanoseconds(5_000)) { missed.withLock { $0 += 1 } }
                }
                #expect(missed.withLock { $0 } == 0)
            }
        }
    }

    @Test("A killed app owes no more responses, and its machine's services count as changed")
    func died() throws {
        try withApps { one, other, board in
            board.post("died", "phone", "5000")
            for chronicle in [one, other] {
                #expect(chronicle.hasLostApp("phone", since: .nanoseconds(5_000)))
                #expect(!chronicle.hasLostApp("phone", since: .nanoseconds(5_001)))
                #expect(chronicle.hasRebuilt("phone", since: .nanoseconds(5_001)))
            }
        }
    }

    @Test("Stages follow one another, and incomplete lines and unknown words are ignored")
    func stages() throws {
        try withApps { one, other, board in
            #expect(one.stage == .busy)
            board.post("stage", "calm")
            board.post("stage", "unknown")
            board.post("rebuilt", "lamp", "soon")
            #expect(one.stage == .calm)
            #expect(other.stage == .calm)
            board.post("stage", "over")
            #expect(one.stage == .over)
        }
    }
}
