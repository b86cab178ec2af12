/// Objects by key, which are there as long as somebody else keeps them.
///
/// Entries of objects that are gone are swept out whenever the table has doubled, so it takes no more room than a
/// constant factor of what the app keeps.
struct WeakTable<Key: Hashable, Object: AnyObject> {
    private struct Entry {
        weak var object: Object?
    }

    private static var smallest: Int { 64 }
    private var entries: [Key: Entry] = [:]
    private var sweepAt = smallest

    subscript(key: Key) -> Object? {
        get { entries[key]?.object }
        set {
            entries[key] = newValue.map { Entry(object: $0) }
            if entries.count >= sweepAt { sweep() }
        }
    }

    /// The objects that are still there, in no order.
    var objects: [Object] { entries.values.compactMap(\.object) }

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
