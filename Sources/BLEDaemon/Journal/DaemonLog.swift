import BLERuntime
import BLESession
import BLEWire

/// The journal of a daemon, which adds the time to each entry.
final class DaemonLog: Sendable {
    private let clock: MonotonicClock
    private let wall: WallClock
    private let journal = Locked(Journal())

    init(_ clock: MonotonicClock) {
        self.clock = clock
        wall = WallClock(at: clock.now)
    }

    /// Records an event that concerns an app or, if `app` is `nil`, the daemon itself.
    func note(_ text: String, of app: AppCredentials?) {
        let time = UInt64(clamping: wall.time(of: clock.now))
        journal.withLock { $0.note(text, of: app, at: time) }
    }

    /// Returns the lines with numbers above `number` that are about the daemon itself, or about an app of a user for
    /// whom `mayKnow` returns true.
    func lines(after number: UInt64, where mayKnow: (_ user: UInt32) -> Bool) -> [JournalLine] {
        journal.withLock { $0 }.lines(after: number, where: mayKnow)
    }
}
