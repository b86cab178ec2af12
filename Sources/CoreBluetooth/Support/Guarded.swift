/// A value of its own that any thread may read and change, for those who pass it on.
final class Guarded<Value>: Sendable {
    private let content: Protected<Value>

    init(_ value: Value) { content = Protected(value) }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        try content.withLock(body)
    }

    /// The value as it is now.
    var current: Value { content.current }
}
