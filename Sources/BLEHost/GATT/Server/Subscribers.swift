import BLEWire

/// Which links' peers want to hear of each characteristic of the own server.
struct Subscribers {
    private struct Entry {
        let configuration: AttributeHandle
        /// In ascending order, and not empty.
        var links: [ConnectionHandle]
    }

    /// In ascending order.
    private var entries: [Entry] = []

    /// Notes whether the peer of a link has written something other than zero to a configuration.
    mutating func set(_ isWanted: Bool, _ configuration: AttributeHandle, on link: ConnectionHandle) {
        let index = position(of: configuration)
        guard index < entries.count, entries[index].configuration == configuration else {
            if isWanted { entries.insert(Entry(configuration: configuration, links: [link]), at: index) }
            return
        }
        entries[index].links.removeAll { $0 == link }
        if isWanted {
            let place = entries[index].links.firstIndex { $0 > link } ?? entries[index].links.endIndex
            entries[index].links.insert(link, at: place)
        } else if entries[index].links.isEmpty {
            entries.remove(at: index)
        }
    }

    /// Where those who have written to a configuration are; `nil` if nobody has.
    func place(of configuration: AttributeHandle) -> Int? {
        let index = position(of: configuration)
        return index < entries.count && entries[index].configuration == configuration ? index : nil
    }

    /// How many there are at a place that ``place(of:)`` gave.
    func count(at place: Int) -> Int { entries[place].links.count }

    func link(_ index: Int, at place: Int) -> ConnectionHandle { entries[place].links[index] }

    private func position(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration.wire < configuration.wire }
    }
}
