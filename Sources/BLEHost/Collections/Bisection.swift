package import BLEWire

extension Range<Int> {
    /// Returns the first index for which `precedes` is false, by binary search; the upper bound if there is none.
    ///
    /// `precedes` is called about as many times as the binary logarithm of the count. It must return true for all
    /// indices before the returned one, and false for all others.
    @inline(__always)
    package func bisected(while precedes: (Int) -> Bool) -> Int {
        var low = lowerBound, high = upperBound
        while low < high {
            let middle = low + (high - low) / 2
            if precedes(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Instant? {
    /// Replaces this instant with `other` if `other` is earlier, or if this is `nil`.
    package mutating func bringForward(to other: Instant?) {
        guard let other, self.map({ other < $0 }) ?? true else { return }
        self = other
    }
}
