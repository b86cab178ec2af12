/// A value that several threads can share, read and change, because a lock protects it.
final class LockedBox<Value>: Sendable {
    private let content: Protected<Value>

    init(_ value: Value) { content = Protected(value) }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        try content.withLock(body)
    }

    /// The current value.
    var current: Value { content.current }
}
