import BLEWire

/// Which links' peers want to hear of each characteristic of the own server.
struct Subscribers {
    private struct Entry {
        let configuration: AttributeHandle
        let link: ConnectionHandle
    }

    /// In ascending order of configurations, and of links for each.
    private var entries: [Entry] = []

    /// Notes whether the peer of a link has written something other than zero to a configuration.
    mutating func set(_ isWanted: Bool, _ configuration: AttributeHandle, on link: ConnectionHandle) {
        var index = first(of: configuration)
        while let other = self.link(at: index, of: configuration), other < link { index += 1 }
        let isThere = self.link(at: index, of: configuration) == link
        if isThere, !isWanted { entries.remove(at: index) }
        if !isThere, isWanted { entries.insert(Entry(configuration: configuration, link: link), at: index) }
    }

    /// Where the first is of those who have written to a configuration, if there is one.
    func first(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration.wire < configuration.wire }
    }

    /// The link at a place from ``first(of:)`` on; `nil` behind the last of the configuration.
    @inline(__always)
    func link(at index: Int, of configuration: AttributeHandle) -> ConnectionHandle? {
        guard index < entries.count, entries[index].configuration.wire == configuration.wire else { return nil }
        return entries[index].link
    }
}
