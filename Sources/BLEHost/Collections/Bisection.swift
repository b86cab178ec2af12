extension Range<Int> {
    /// Where something is or belongs in what is ordered: the first index of which `precedes` does not hold.
    ///
    /// It takes as many questions as the number of indices has binary digits.
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
