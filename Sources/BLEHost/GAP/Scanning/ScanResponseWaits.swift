import BLEWire

/// The advertisers whose advertisement waits for a scan response, so that clients hear of both at once; the one that
/// has waited for longest first.
///
/// An advertiser is the number of its place. To begin and to end a wait costs the same however many wait.
struct ScanResponseWaits {
    /// How long an advertisement waits for its scan response, which follows it on the air within a millisecond.
    static let patience = Duration.milliseconds(10)

    private struct Node {
        /// When the advertisement was heard, if it waits.
        var since: Instant?
        /// Its neighbours in the queue.
        var previous = ScanResponseWaits.nowhere, next = ScanResponseWaits.nowhere
    }

    private static let nowhere = -1

    /// By place, as far as somebody ever waited.
    private var nodes: [Node] = []
    private var first = ScanResponseWaits.nowhere, last = ScanResponseWaits.nowhere
    private(set) var count = 0

    /// The one that waits for longest, and since when.
    var oldest: (place: Int, since: Instant)? {
        guard first >= 0, let since = nodes[first].since else { return nil }
        return (first, since)
    }

    /// When the first of them has waited for long enough.
    var deadline: Instant? { oldest.map { $0.since + Self.patience } }

    @inline(__always)
    func contains(_ place: Int) -> Bool { count > 0 && place < nodes.count && nodes[place].since != nil }

    /// Puts an advertiser that does not wait at the end of the queue.
    mutating func begin(_ place: Int, at now: Instant) {
        while nodes.count <= place { nodes.append(Node()) }
        nodes[place] = Node(since: now, previous: last)
        if last >= 0 { nodes[last].next = place } else { first = place }
        last = place
        count += 1
    }

    /// Takes an advertiser out of the queue; `false` if it was not there.
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
