import BLEHost

/// The advertising sets that a test suite has asked for.
struct RequestedSets {
    private var count: UInt32 = 0
    private var starting: [AdvertisingSetID: Int] = [:]
    private var stopping: [(set: AdvertisingSetID, id: Int)] = []

    /// The numbers of sets there have been.
    var range: ClosedRange<Int> { 1...max(Int(count), 1) }

    /// Names a set that a request asks for.
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

    /// The answer to whoever asked for the set.
    mutating func started(_ set: AdvertisingSetID, _ failure: Failure?) -> HostLine? {
        guard let id = starting.removeValue(forKey: set) else { return nil }
        return failure.map { .failure(id, "\($0)") } ?? .result(id, ["set": .number(Int(set.rawValue))])
    }

    /// The answers to those who wanted it to end.
    mutating func ended(_ set: AdvertisingSetID) -> [HostLine] {
        let ids = stopping.filter { $0.set == set }.map(\.id)
        stopping.removeAll { $0.set == set }
        return ids.map { .result($0) }
    }
}
