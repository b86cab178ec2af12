import CoreBluetooth
import Dispatch
import Testing

@testable import BLEDay

@Suite("What apps of several processes know in common")
struct BulletinTests {
    /// Two apps with the same bulletin, and the bulletin of a third.
    private func withApps(_ body: (Chronicle, Chronicle, Bulletin) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let boards = try (0..<3).map { _ in try #require(Bulletin(path: path)) }
        try body(Chronicle(boards[0]), Chronicle(boards[1]), boards[2])
    }

    @Test("A value that one server took is known to the others, and comes twice there")
    func taken() throws {
        try withApps { one, other, _ in
            #expect(!other.wasTaken(7))
            #expect(one.take(7))
            #expect(other.wasTaken(7))
            #expect(!other.take(7))
            #expect(!other.wasTaken(8))
        }
    }

    @Test("A change of services is known to all, for the server that changed them, or for one of unknown name")
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

    @Test("Whoever asks while another thread reads what was posted hears of it as well")
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

    @Test("An app that was killed owes answers no more, and has changed the services of its machine")
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

    @Test("Stages follow one another; lines that are not complete, and words that nobody knows, change nothing")
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
