import Foundation

/// A value that several threads share, and access one at a time.
///
/// The lock is Foundation's, because the thread sanitizer does not understand a `Mutex` for which threads compete, and
/// BLEDay runs under the sanitizer. Sendable because the lock guards the value.
final class Shared<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
