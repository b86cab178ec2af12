import Foundation

/// A value that several threads use, one at a time.
///
/// The lock is Foundation's, since the thread sanitizer does not see how a `Mutex` is handed over between threads that
/// compete for it, and a day is there to be watched by the sanitizer. Sendable because the lock guards the value.
final class Shared<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
