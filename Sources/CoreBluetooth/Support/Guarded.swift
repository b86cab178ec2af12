import Foundation

/// A value that any thread may read while a manager's queue changes it.
///
/// `Mutex` would require that nobody else can reach what it holds. Delegates belong to the app and our own classes are
/// not `Sendable`, as Apple's are not, so this type takes that promise upon itself: the lock makes each access whole,
/// and only the manager's queue calls into what it hands out. No code of an app runs while the lock is held.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value
    private var watchers: Watchers?

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        let (result, watchers) = try lock.withLock { (try body(&value), self.watchers) }
        watchers?.look()
        return result
    }

    /// Has `watchers` look whenever the value may have changed; outside of the lock.
    func tell(_ watchers: Watchers) { lock.withLock { self.watchers = watchers } }

    /// The value as it is now.
    var current: Value { lock.withLock { value } }
}
