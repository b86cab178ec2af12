extension Range<Int> {
    /// Returns the first index for which `precedes` is false, by binary search.
    ///
    /// The number of calls of `precedes` is about the binary logarithm of the count. It must be true for all indices
    /// before the returned one, and false for all others.
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
