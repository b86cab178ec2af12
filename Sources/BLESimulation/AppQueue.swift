import BLERuntime
import Dispatch

/// A dispatch queue of an app, identified by a number.
///
/// Several objects may represent the same queue: Dispatch creates a new object whenever the main queue is requested.
struct AppQueue: Hashable, Sendable {
    private static let key = DispatchSpecificKey<Int>()
    private static let latest: Locked<Int> = {
        DispatchQueue.main.setSpecific(key: key, value: 0)
        return Locked(0)
    }()

    static let main = AppQueue(.main)

    let queue: DispatchQueue
    private let number: Int

    init(_ queue: DispatchQueue) {
        self.queue = queue
        number = Self.latest.withLock { latest in
            if let number = queue.getSpecific(key: Self.key) { return number }
            latest += 1
            queue.setSpecific(key: Self.key, value: latest)
            return latest
        }
    }

    /// True if the caller runs on the queue of an app.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

    /// True for the main queue.
    var isMain: Bool { number == 0 }

    static func == (one: Self, other: Self) -> Bool { one.number == other.number }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
