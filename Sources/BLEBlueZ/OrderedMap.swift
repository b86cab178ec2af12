/// A dictionary that is iterated in the order in which keys were added.
struct OrderedMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private(set) var keys: [Key] = []
    private var values: [Key: Value] = [:]

    var count: Int { keys.count }
    var isEmpty: Bool { keys.isEmpty }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if let newValue {
                if values.updateValue(newValue, forKey: key) == nil { keys.append(key) }
            } else if values.removeValue(forKey: key) != nil {
                keys.removeAll { $0 == key }
            }
        }
    }

    /// The values in the order of their keys.
    var all: [Value] { keys.compactMap { values[$0] } }

    /// Changes the value of a key, and returns the result of the change; `nil` if the key has no value.
    mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard var value = values.removeValue(forKey: key) else { return nil }
        defer { values[key] = value }
        return change(&value)
    }

    /// Removes the values for which `isRemoved` returns true.
    mutating func removeAll(where isRemoved: (Value) -> Bool) {
        var rest: [Key] = []
        for key in keys {
            if let value = values[key], isRemoved(value) { values[key] = nil } else { rest.append(key) }
        }
        keys = rest
    }
}
