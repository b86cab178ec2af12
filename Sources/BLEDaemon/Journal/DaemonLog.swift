import BLERuntime
import BLESession
import BLEWire

/// The journal of a daemon, with the time of each line.
final class DaemonLog: Sendable {
    private let clock: MonotonicClock
    private let wall: WallClock
    private let journal = Locked(Journal())

    init(_ clock: MonotonicClock) {
        self.clock = clock
        wall = WallClock(at: clock.now)
    }

    /// Notes what has happened to an app; to the daemon, if it is `nil`.
    func note(_ text: String, of app: AppCredentials?) {
        let time = UInt64(clamping: wall.time(of: clock.now))
        journal.withLock { $0.note(text, of: app, at: time) }
    }

    /// What somebody may see who may know of those users.
    func lines(after number: UInt64, where mayKnow: (_ user: UInt32) -> Bool) -> [JournalLine] {
        journal.withLock { $0 }.lines(after: number, where: mayKnow)
    }
}
