extension Limits {
    /// Creates the limits for a machine with that much memory, in octets.
    ///
    /// Each 16 KiB allow one more received peer to be stored.
    ///
    /// The stored peers take 2 % of the memory with advertisements of 31 octets, and 4 % at most.
    package init(memory: Int) {
        self.init()
        advertisers = min(max(memory / 16_384, advertisers), 262_144)
    }
}
