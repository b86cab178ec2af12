import BLEWire

/// The deadlines of many, of which few change at a time: the earliest is known at once, and those that are due are
/// found without a look at the others.
///
/// A binary tree in an array: each place has the earliest of the two below it, and the deadlines are the leaves.
struct DeadlineTree {
    private static let never = Instant(nanoseconds: .max)

    /// How many leaves there are, a power of two; the first of them is at this place.
    private var width = 1
    private var places = [never, never]

    /// The earliest of all.
    var first: Instant? { places[1] == Self.never ? nil : places[1] }

    /// The deadline of whoever has this index, which is at least 0.
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

    /// The lowest index, from `start` on, whose deadline is no later than `now`.
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
