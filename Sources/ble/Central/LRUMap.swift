import Foundation

/// A list of peripherals with the last data of each and when it was received.
struct LRUMap<Entry> {
    /// The maximum number of entries.
    ///
    /// Above it, the entry that was not heard for the longest time is removed.
    static var limit: Int { 4_096 }

    private var entries: [(identifier: UUID, entry: Entry, time: Duration)] = []
    private var places: [UUID: Int] = [:]

    /// Records an entry.
    ///
    /// `time` counts from any fixed moment and never decreases.
    mutating func hear(_ entry: Entry, of identifier: UUID, at time: Duration) {
        if let place = places[identifier] {
            entries[place] = (identifier, entry, time)
            return
        }
        if entries.count >= Self.limit, let oldest = entries.indices.min(by: { entries[$0].time < entries[$1].time }) {
            places[entries[oldest].identifier] = nil
            entries[oldest] = (identifier, entry, time)
            places[identifier] = oldest
        } else {
            places[identifier] = entries.count
            entries.append((identifier, entry, time))
        }
    }

    /// Returns the entries that were heard within `age`, in the order in which they were first heard, with their ages.
    func heard(within age: Duration, at now: Duration) -> [(entry: Entry, age: Duration)] {
        entries.map { ($0.entry, now - $0.time) }.filter { $0.1 <= age }
    }
}
