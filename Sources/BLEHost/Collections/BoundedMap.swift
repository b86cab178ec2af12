/// A dictionary that forgets what was not used for longest, in two generations, instead of growing.
///
/// It holds at most `capacity` keys. What is found in the older generation moves to the younger; when that is full, it
/// becomes the older one, and the older one is dropped. Nothing iterates it.
struct BoundedMap<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generation: Int
    /// How often a generation has become the older one: what is used now is kept until this is two higher.
    private(set) var age = 0

    init(capacity: Int) {
        precondition(capacity >= 2, "a map has room for one key in each generation")
        generation = capacity / 2
    }

    /// The value of `key`; setting `nil` forgets it.
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

    /// The value of `key`, which this does not count as use.
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
