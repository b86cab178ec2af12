import BLEWire

/// A queue of the advertisers whose advertisement waits for a scan response, so that clients get both together.
///
/// The longest wait comes first.
///
/// Advertisers are identified by their position. Starting and ending a wait takes constant time.
struct ScanResponseWaits {
    /// The maximum wait.
    ///
    /// A scan response follows its advertisement within a millisecond.
    static let patience = Duration.milliseconds(10)

    private struct Node {
        /// The time of the advertisement, if it waits.
        var since: Instant?
        /// The neighbours in the queue.
        var previous = ScanResponseWaits.nowhere, next = ScanResponseWaits.nowhere
    }

    private static let nowhere = -1

    /// By position, as far as any has waited.
    private var nodes: [Node] = []
    private var first = ScanResponseWaits.nowhere, last = ScanResponseWaits.nowhere
    private(set) var count = 0

    /// The longest wait and its start.
    var oldest: (place: Int, since: Instant)? {
        guard first >= 0, let since = nodes[first].since else { return nil }
        return (first, since)
    }

    /// The end of the longest wait.
    var deadline: Instant? { oldest.map { $0.since + Self.patience } }

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
