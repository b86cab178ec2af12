/// A small, fast random number generator (SplitMix64) whose output depends only on its seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose numbers depend only on `seed`.
    ///
    /// The same seed gives the same numbers on every machine.
    package init(seed: UInt64) { state = seed }

    /// Returns the next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `bound` − 1, or 0 if `bound` is not positive.
    ///
    /// The numbers are not exactly equally likely: the relative error of each probability is below `bound` ÷ 2⁶⁴.
    @inline(__always)
    package mutating func below(_ bound: Int64) -> Int64 {
        guard bound > 0 else { return 0 }
        return Int64(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Returns true with the given probability.
    ///
    /// If `probability` is at most 0 or at least 1, the result is certain, and the generator does not advance.
    @inline(__always)
    package mutating func happens(_ probability: Double) -> Bool {
        if probability <= 0 { return false }
        if probability >= 1 { return true }
        return Double(next() >> 11) * 0x1p-53 < probability
    }
}
