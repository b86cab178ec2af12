extension Limits {
    /// The limits of a host on a machine with so many octets of memory, of which each 16 KiB let one more peer be known
    /// that was seen on the air.
    ///
    /// What is kept of all of them comes to 2 % of the memory where advertisements have 31 octets, and to 4 % at most.
    package init(memory: Int) {
        self.init()
        advertisers = min(max(memory / 16_384, advertisers), 262_144)
    }
}
