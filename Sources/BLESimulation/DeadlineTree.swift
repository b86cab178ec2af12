import BLEWire

/// A set of deadlines of which few change at a time: the earliest is known immediately, and due ones are found without
/// a search.
///
/// A binary tree in an array: each node has the earlier one of its children, and the deadlines are the leaves.
struct DeadlineTree {
    private static let never = Instant(nanoseconds: .max)

    /// The number of leaves, a power of two, which is also the index of the first one.
    private var width = 1
    private var places = [never, never]

    /// The earliest deadline.
    var first: Instant? { places[1] == Self.never ? nil : places[1] }

    /// The deadline with this index, which is at least 0.
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

    /// Returns the lowest index from `start` on whose deadline is not after `now`.
    func next(from start: Int, by now: Instant) -> Int? {
        guard start < width else { return nil }
        var place = width + start
        while places[place] > now {
            // Up to where something lies to the right that was not looked at, and there.
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
