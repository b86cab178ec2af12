/// Room for one value that is too large to be moved about: it is put in, changed where it lies, and taken out.
///
/// The room is kept once it was needed, so that the next value takes no memory of its own.
struct Slot<Value> {
    /// At most one.
    private var values: [Value] = []

    /// A copy of what is there.
    var value: Value? { values.first }

    /// Puts a value in, which must be empty.
    mutating func put(_ value: consuming Value) {
        precondition(values.isEmpty, "a slot holds one value")
        values.append(value)
    }

    /// Takes out what is there.
    mutating func take() -> Value? { values.popLast() }

    /// Changes what is there; `nil` if nothing is.
    @discardableResult mutating func update<Result>(_ change: (inout Value) -> Result) -> Result? {
        values.isEmpty ? nil : change(&values[0])
    }
}

extension Slot: Sendable where Value: Sendable {}
