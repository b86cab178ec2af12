/// Storage for at most one large value, which can be changed without copying it.
///
/// The storage remains allocated when the value is removed, so that the next value needs no allocation.
struct InPlace<Value> {
    /// The value as the only element; empty if there is none.
    private var values: [Value] = []

    /// A copy of the value; `nil` if there is none.
    var value: Value? { values.first }

    /// Stores a value.
    ///
    /// There must be none yet.
    mutating func put(_ value: consuming Value) {
        precondition(values.isEmpty, "the slot must be empty")
        values.append(value)
    }

    /// Removes and returns the value; `nil` if there is none.
    mutating func take() -> Value? { values.popLast() }

    /// Changes the value in place, and returns the result of `change`; `nil` if there is no value.
    @discardableResult mutating func update<Result>(_ change: (inout Value) -> Result) -> Result? {
        values.isEmpty ? nil : change(&values[0])
    }
}

extension InPlace: Sendable where Value: Sendable {}
