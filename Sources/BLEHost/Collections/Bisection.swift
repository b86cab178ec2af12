extension Range<Int> {
    /// Returns the first index for which `precedes` is false, by binary search.
    ///
    /// The number of calls is the number of binary digits of the count.
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
