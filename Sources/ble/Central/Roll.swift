import Foundation

/// Who was heard, what was heard last of each, and when.
struct Roll<Entry> {
    /// How many are kept; of more, the one that was not heard for longest gives way.
    static var limit: Int { 4_096 }

    private var entries: [(identifier: UUID, entry: Entry, time: Duration)] = []
    private var places: [UUID: Int] = [:]

    /// Takes note of what was heard; times are since whenever, and do not go back.
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

    /// What was heard no longer ago than `age`, in the order in which it was heard first, and how long ago that is.
    func heard(within age: Duration, at now: Duration) -> [(entry: Entry, age: Duration)] {
        entries.map { ($0.entry, now - $0.time) }.filter { $0.1 <= age }
    }
}
