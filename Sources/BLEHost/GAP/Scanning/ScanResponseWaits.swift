import BLEWire

/// The queue of advertisers whose advertisement waits for its scan response, so that clients get both together.
///
/// The advertiser that has waited longest comes first. Advertisers are identified by their position in
/// ``KnownAdvertisers``. Starting and ending a wait takes constant time.
struct ScanResponseWaits {
    /// The maximum time that an advertisement waits.
    ///
    /// A scan response follows its advertisement within a millisecond.
    static let maximumWait = Duration.milliseconds(10)

    private struct Node {
        /// The time of the advertisement; `nil` if the advertiser is not waiting.
        var since: Instant?
        /// The positions of the previous and next advertiser in the queue.
        var previous = ScanResponseWaits.nowhere, next = ScanResponseWaits.nowhere
    }

    private static let nowhere = -1

    /// The nodes, indexed by the position of their advertiser, up to the highest position that was ever in the queue.
    private var nodes: [Node] = []
    private var first = ScanResponseWaits.nowhere, last = ScanResponseWaits.nowhere
    private(set) var count = 0

    /// The advertiser that has waited longest, and the time at which it started to wait; `nil` if none is waiting.
    var oldest: (place: Int, since: Instant)? {
        guard first >= 0, let since = nodes[first].since else { return nil }
        return (first, since)
    }

    /// The time at which the longest wait ends; `nil` if no advertiser is waiting.
    var deadline: Instant? { oldest.map { $0.since + Self.maximumWait } }

    @inline(__always)
    func contains(_ place: Int) -> Bool { count > 0 && place < nodes.count && nodes[place].since != nil }

    /// Appends an advertiser that is not in the queue.
    mutating func begin(_ place: Int, at now: Instant) {
        while nodes.count <= place { nodes.append(Node()) }
        nodes[place] = Node(since: now, previous: last)
        if last >= 0 { nodes[last].next = place } else { first = place }
        last = place
        count += 1
    }

    /// Removes an advertiser; returns `false` if it was not in the queue.
    mutating func end(_ place: Int) -> Bool {
        guard contains(place) else { return false }
        let (previous, next) = (nodes[place].previous, nodes[place].next)
        nodes[place] = Node()
        if previous >= 0 { nodes[previous].next = next } else { first = next }
        if next >= 0 { nodes[next].previous = previous } else { last = previous }
        count -= 1
        return true
    }
}
