import BLEWire

/// A set of deadlines that is efficient if few of them change at a time.
///
/// The earliest deadline is known immediately, and due deadlines are found without a search through all of them.
///
/// It is a binary tree in an array: the deadlines are the leaves, and each node holds the earlier deadline of its two
/// children.
struct DeadlineTree {
    private static let never = Instant(nanoseconds: .max)

    /// The number of leaves: a power of two.
    ///
    /// It is also the index of the first leaf.
    private var width = 1
    private var places = [never, never]

    /// The earliest deadline; `nil` if there is none.
    var first: Instant? { places[1] == Self.never ? nil : places[1] }

    /// The deadline at an index, from 0; `nil` if there is none.
    subscript(index: Int) -> Instant? {
        get {
            guard index < width, places[width + index] != Self.never else { return nil }
            return places[width + index]
        }
        set {
            while index >= width { grow() }
            var place = width + index
            places[place] = newValue ?? Self.never
            while place > 1 {
                place /= 2
                let earliest = min(places[2 * place], places[2 * place + 1])
                guard places[place] != earliest else { return }
                places[place] = earliest
            }
        }
    }

    /// Returns the lowest index, at least `start`, with a deadline that is not after `now`; `nil` if there is none.
    func next(from start: Int, by now: Instant) -> Int? {
        guard start < width else { return nil }
        var place = width + start
        while places[place] > now {
            // Go up until the node is a left child, then to its right sibling.
            while place % 2 == 1 { place /= 2 }
            guard place > 0 else { return nil }
            place += 1
        }
        while place < width {
            place *= 2
            if places[place] > now { place += 1 }
        }
        return place - width
    }

    private mutating func grow() {
        let leaves = places[width...]
        let wider = [Instant](repeating: Self.never, count: 4 * width)
        (places, width) = (wider, 2 * width)
        for (index, leaf) in leaves.enumerated() where leaf != Self.never { self[index] = leaf }
    }
}
