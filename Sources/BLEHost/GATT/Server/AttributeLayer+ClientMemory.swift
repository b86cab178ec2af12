import BLEWire

// The state that the server stores about bonded clients between their links.
extension AttributeLayer {
    /// Stores the state that the server keeps about the peer of the link at `index`, if the peer has proven its bond.
    mutating func rememberClient(at index: Int) {
        guard links[index].client.bond.isProven else { return }
        let server = links[index].server
        var memory = ClientMemory()
        memory.configurations = server.configurations.active.compactMap { handle in
            guard case .configuration(let about)? = database.attribute(at: handle)?.content,
                let type = database.attribute(at: about.value)?.type
            else { return nil }
            return .init(handle: handle, characteristic: type, bits: server.configurations[handle])
        }
        memory.features = server.features
        memory.databaseHash = database.hash
        memory.isAware = server.awareness.isAware
        memory.pendingChange = server.pendingChange
        changeBond(at: index) { $0.client = memory }
    }

    /// Restores the state that was stored about the peer on its last link.
    ///
    /// `isCurrent` is true if the local database has not changed since.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1, 3.3.3.3 and 7.1.
    mutating func restore(_ memory: ClientMemory, isCurrent: Bool, at index: Int, _ now: Instant) {
        links[index].server.setFeatures(links[index].server.features.union(memory.features))
        for entry in memory.configurations { restore(entry, at: index) }
        if !isCurrent || !memory.isAware { links[index].server.awareness.databaseChanged() }
        if let range = isCurrent ? memory.pendingChange : .all { announceChange(of: range, at: index, now) }
    }

    /// Restores a subscription of the peer, if the characteristic still exists.
    private mutating func restore(_ entry: ClientMemory.Configuration, at index: Int) {
        guard links[index].server.configurations[entry.handle] == 0, entry.bits != 0,
            case .configuration(let about)? = database.attribute(at: entry.handle)?.content,
            database.attribute(at: about.value)?.type == entry.characteristic,
            entry.bits & ~about.properties.configurationBits == 0
        else { return }
        configure(entry.handle, entry.bits, at: index)
        guard let owner = about.owner else { return }
        report(to: owner.client, .subscribed(links[index].remote, to: owner.id), at: index)
    }
}
