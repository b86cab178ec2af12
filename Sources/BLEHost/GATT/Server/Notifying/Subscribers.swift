import BLEWire

/// The links whose peers are subscribed to each local characteristic.
struct Subscribers {
    private struct Entry {
        let configuration: AttributeHandle
        let link: ConnectionHandle
    }

    /// The entries in ascending order of configurations, and of links within each configuration.
    private var entries: [Entry] = []

    /// Records whether the peer of a link is subscribed to the characteristic with this configuration.
    mutating func set(_ isWanted: Bool, _ configuration: AttributeHandle, on link: ConnectionHandle) {
        var index = first(of: configuration)
        while let other = self.link(at: index, of: configuration), other < link { index += 1 }
        let isThere = self.link(at: index, of: configuration) == link
        if isThere, !isWanted { entries.remove(at: index) }
        if !isThere, isWanted { entries.insert(Entry(configuration: configuration, link: link), at: index) }
    }

    /// Returns the index of the first entry of a configuration, to be passed to ``link(at:of:)``.
    func first(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration.wire < configuration.wire }
    }

    /// Returns the link of the entry at `index`; `nil` if the entry does not belong to the configuration.
    @inline(__always)
    func link(at index: Int, of configuration: AttributeHandle) -> ConnectionHandle? {
        guard index < entries.count, entries[index].configuration.wire == configuration.wire else { return nil }
        return entries[index].link
    }
}
