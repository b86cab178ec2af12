import Foundation

/// A map from peripherals to the last data received from each, with the time of reception.
struct LRUMap<Entry> {
    /// The maximum number of entries.
    ///
    /// When it is exceeded, the entry with the oldest data is removed.
    static var limit: Int { 4_096 }

    private var entries: [(identifier: UUID, entry: Entry, time: Duration)] = []
    private var places: [UUID: Int] = [:]

    /// Records the newest data from a peripheral.
    ///
    /// `time` is the time since some fixed moment. It must not decrease from call to call.
    mutating func update(_ entry: Entry, of identifier: UUID, at time: Duration) {
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

    /// Returns the entries whose data is at most `age` old, with their ages.
    ///
    /// The entries are in the order in which their peripherals were added. A peripheral that replaces another one takes
    /// the place of the peripheral that it replaces.
    func recent(within age: Duration, at now: Duration) -> [(entry: Entry, age: Duration)] {
        entries.map { ($0.entry, now - $0.time) }.filter { $0.1 <= age }
    }
}
