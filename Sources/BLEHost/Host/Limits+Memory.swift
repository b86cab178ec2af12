extension Limits {
    /// Creates the limits for a machine with this much memory, in octets.
    ///
    /// The host stores one received peer for each 16 KiB of memory, but no fewer than the default of ``advertisers``
    /// and no more than 262,144. The stored peers take 2 % of the memory if advertisements have 31 octets, and at most
    /// 4 %.
    package init(memory: Int) {
        self.init()
        advertisers = min(max(memory / 16_384, advertisers), 262_144)
    }
}
