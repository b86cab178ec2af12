/// Storage for at most one large value, which is changed in place.
///
/// The storage is kept when the value is removed, so that the next one needs no allocation.
struct InPlace<Value> {
    /// At most one element.
    private var values: [Value] = []

    /// A copy of the value.
    var value: Value? { values.first }

    /// Inserts a value; the slot must be empty.
    mutating func put(_ value: consuming Value) {
        precondition(values.isEmpty, "the slot is already occupied")
        values.append(value)
    }

    /// Removes and returns the value.
    mutating func take() -> Value? { values.popLast() }

    /// Changes the value in place; returns `nil` if there is none.
    @discardableResult mutating func update<Result>(_ change: (inout Value) -> Result) -> Result? {
        values.isEmpty ? nil : change(&values[0])
    }
}

extension InPlace: Sendable where Value: Sendable {}
