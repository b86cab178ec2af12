import BLEWire

/// A filter that recognizes repeated advertising reports.
///
/// When it is full, it drops its oldest entry.
struct DuplicateFilter: Sendable {
    /// The properties of a report that are compared; two reports with equal keys are duplicates.
    struct Key: Hashable, Sendable {
        let address: DeviceAddress
        /// The kind of report; for extended advertisements also the set and data identifiers.
        let detail: UInt64
    }

    static let capacity = 2_048

    private var known: Set<Key> = []
    private var order: [Key] = []
    private var oldest = 0

    /// Returns whether `key` has been recorded and not been dropped since.
    func contains(_ key: Key) -> Bool { known.contains(key) }

    /// Records `key` and returns whether it is new.
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
