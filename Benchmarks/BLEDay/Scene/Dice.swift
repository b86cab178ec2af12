/// The random choices of a day, which are the same for the same seed in every process (SplitMix64).
struct Dice {
    private var state: UInt64

    /// Creates the choices of one participant in the day with this seed.
    ///
    /// Participants with different names make different choices.
    init(seed: UInt64, _ name: String) {
        state = name.utf8.reduce(seed &* 0x9E37_79B9_7F4A_7C15) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    /// Returns a random number from 0 to `count` - 1.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }

    /// Returns a random number in the range.
    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    /// Returns true with a probability of `percent`.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    mutating func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[below(list.count)] }
}
