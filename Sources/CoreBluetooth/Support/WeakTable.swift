/// A table that finds objects by their keys and references them weakly.
///
/// Whenever the table has doubled in size, the entries of released objects are removed, so its size stays within a
/// constant factor of the number of live objects.
struct WeakTable<Key: Hashable, Object: AnyObject> {
    private struct Entry {
        weak var object: Object?
        /// The position in the order of insertion, by which objects are sorted.
        let number: UInt64
    }

    private static var smallest: Int { 64 }
    private var entries: [Key: Entry] = [:]
    private var sweepAt = smallest
    private var lastNumber: UInt64 = 0

    subscript(key: Key) -> Object? {
        get { entries[key]?.object }
        set {
            lastNumber += 1
            entries[key] = newValue.map { Entry(object: $0, number: lastNumber) }
            if entries.count >= sweepAt { sweep() }
        }
    }

    /// The live objects in the order of insertion.
    ///
    /// Apps receive events about the objects in this order, so that a simulated world runs the same way in every
    /// process.
    var objects: [Object] { entries.values.sorted { $0.number < $1.number }.compactMap(\.object) }

    /// The number of entries, including those of released objects.
    var entryCount: Int { entries.count }

    mutating func removeAll() {
        entries = [:]
        sweepAt = Self.smallest
    }

    private mutating func sweep() {
        entries = entries.filter { $0.value.object != nil }
        sweepAt = max(Self.smallest, entries.count * 2)
    }
}
