/// A dictionary with a limited capacity.
///
/// When it is full, it drops entries that have not been used for a long time.
///
/// Entries are in two generations. An entry of the older generation moves to the younger one when it is used. When the
/// younger generation is full, it becomes the older one, and the previous older one is dropped.
struct BoundedMap<Key: Hashable, Value> {
    private var currentGeneration: [Key: Value] = [:]
    private var previousGeneration: [Key: Value] = [:]
    private let generationSize: Int
    /// The number of times that the younger generation has replaced the older one.
    ///
    /// An entry is kept at least until this number has increased by two since its last use.
    private(set) var generationNumber = 0

    init(capacity: Int) {
        precondition(capacity >= 2, "the capacity must be at least 2")
        generationSize = capacity / 2
    }

    /// The value for `key`.
    ///
    /// Reading it counts as a use; setting `nil` removes the entry.
    subscript(key: Key) -> Value? {
        mutating get {
            if let value = currentGeneration[key] { return value }
            guard let value = previousGeneration.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            previousGeneration.removeValue(forKey: key)
            if let newValue { insert(newValue, for: key) } else { currentGeneration.removeValue(forKey: key) }
        }
    }

    /// Returns the value for `key`, or `nil` if there is none; the call does not count as a use.
    func peek(_ key: Key) -> Value? { currentGeneration[key] ?? previousGeneration[key] }

    mutating func removeAll() {
        currentGeneration.removeAll()
        previousGeneration.removeAll()
    }

    private mutating func insert(_ value: Value, for key: Key) {
        if currentGeneration.count >= generationSize, currentGeneration[key] == nil {
            previousGeneration = currentGeneration
            currentGeneration = [:]
            generationNumber += 1
        }
        currentGeneration[key] = value
    }
}
