import BLEHost

/// The advertising sets that a test suite has requested.
struct RequestedSets {
    private var count: UInt32 = 0
    private var starting: [AdvertisingSetID: Int] = [:]
    private var stopping: [(set: AdvertisingSetID, id: Int)] = []

    /// The numbers that requests to stop a set may contain: the numbers of all sets so far, or 1 if there are no sets.
    var range: ClosedRange<Int> { 1...max(Int(count), 1) }

    /// Records the request `id` to start a set, and returns the new set's identifier.
    mutating func start(_ id: Int) -> AdvertisingSetID {
        count += 1
        let set = AdvertisingSetID(rawValue: count)
        starting[set] = id
        return set
    }

    mutating func stop(_ number: Int, _ id: Int) -> AdvertisingSetID {
        let set = AdvertisingSetID(rawValue: UInt32(number))
        stopping.append((set, id))
        return set
    }

    /// Returns the answer to the request to start the set; `nil` if the request has already been answered.
    ///
    /// `failure` is the reason why the set could not be started; `nil` if it has been started.
    mutating func started(_ set: AdvertisingSetID, _ failure: Failure?) -> HostLine? {
        guard let id = starting.removeValue(forKey: set) else { return nil }
        return failure.map { .failure(id, "\($0)") } ?? .result(id, ["set": .number(Int(set.rawValue))])
    }

    /// Returns the answers to the requests to stop the set.
    mutating func ended(_ set: AdvertisingSetID) -> [HostLine] {
        let ids = stopping.filter { $0.set == set }.map(\.id)
        stopping.removeAll { $0.set == set }
        return ids.map { .result($0) }
    }
}
