extension Limits {
    /// Creates the limits for a machine with this much memory, in octets.
    ///
    /// The host stores one received peer for each 16 KiB of memory, at least the default of ``advertisers`` and at most
    /// 262,144. The stored peers take 2 % of the memory with advertisements of 31 octets, and 4 % at most.
    package init(memory: Int) {
        self.init()
        advertisers = min(max(memory / 16_384, advertisers), 262_144)
    }
}
