/// A dictionary with a capacity, which drops entries that were not used for long, in two generations.
///
/// It holds at most `capacity` keys. An entry of the older generation moves to the younger one when it is used. When
/// the younger one is full, it becomes the older one, and the older one is dropped. It is never iterated.
struct BoundedMap<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generation: Int
    /// The number of times that a generation became the older one.
    ///
    /// A used entry is kept until this has increased by two.
    private(set) var age = 0

    init(capacity: Int) {
        precondition(capacity >= 2, "the capacity must be at least 2")
        generation = capacity / 2
    }

    /// The value of `key`; setting `nil` removes it.
    subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            old.removeValue(forKey: key)
            if let newValue { insert(newValue, for: key) } else { young.removeValue(forKey: key) }
        }
    }

    /// Returns the value of `key` without counting it as a use.
    func peek(_ key: Key) -> Value? { young[key] ?? old[key] }

    mutating func removeAll() {
        young.removeAll()
        old.removeAll()
    }

    private mutating func insert(_ value: Value, for key: Key) {
        if young.count >= generation, young[key] == nil {
            old = young
            young = [:]
            age += 1
        }
        young[key] = value
    }
}
