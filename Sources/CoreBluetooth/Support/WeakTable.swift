/// Objects by key, which are there as long as somebody else keeps them.
///
/// Entries of objects that are gone are swept out whenever the table has doubled, so it takes no more room than a
/// constant factor of what the app keeps.
struct WeakTable<Key: Hashable, Object: AnyObject> {
    private struct Entry {
        weak var object: Object?
        /// Entries that were put in later have a greater one.
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

    /// The objects that are still there, in the order in which they were put in.
    ///
    /// Apps hear of what happens to each in that order, so that a simulated world is the same in each process.
    var objects: [Object] { entries.values.sorted { $0.number < $1.number }.compactMap(\.object) }

    /// How many entries there are, with those of objects that are gone.
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
