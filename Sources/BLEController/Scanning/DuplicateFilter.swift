import BLEWire

/// Remembers whose advertisements have been reported; beyond its capacity it forgets the oldest.
struct DuplicateFilter: Sendable {
    /// What makes two reports the same.
    struct Key: Hashable, Sendable {
        let address: DeviceAddress
        /// The kind of report, with the set and the data that extended advertisements name.
        let detail: UInt64
    }

    static let capacity = 2_048

    private var known: Set<Key> = []
    private var order: [Key] = []
    private var oldest = 0

    /// Whether `key` was noted before and not forgotten since.
    func contains(_ key: Key) -> Bool { known.contains(key) }

    /// Notes `key`, and returns whether it is new.
    mutating func insert(_ key: Key) -> Bool {
        guard known.insert(key).inserted else { return false }
        if order.count < Self.capacity {
            order.append(key)
        } else {
            known.remove(order[oldest])
            order[oldest] = key
            oldest = (oldest + 1) % Self.capacity
        }
        return true
    }

    mutating func removeAll() {
        known.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
        oldest = 0
    }
}
