package import BLEWire

extension AttributeLayer {
    /// Says that the peer of a link is one that this host is bonded with, or has just been bonded with: it has shown
    /// that by the key of the bond.
    ///
    /// What was kept of it counts from now on, and so does what it did on this link before;
    /// ``Output/bondChanged(_:_:)`` tells of every change.
    package mutating func bonded(_ link: ConnectionHandle, _ bond: Bond, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.prove(bond)
        database.refreshHash()
        if let hash = bond.client.databaseHash {
            restore(bond.client, isCurrent: hash == database.hash, at: index, now)
        }
        rememberClient(at: index)
        links[index].client.bonded(bond.database, at: now, into: &outbox)
    }

    /// Says how far a link can be trusted from now on; `keySize` is the length of the key in octets, if there is one.
    package mutating func secure(_ link: ConnectionHandle, _ security: LinkSecurity, keySize: Int = 16) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.secure(security, keySize: keySize, leastKeySize: configuration.leastKeySize)
    }

    /// How far a link can be trusted; `nil` if there is no such link.
    package mutating func trust(of link: ConnectionHandle) -> LinkTrust? {
        index(of: link).map { links[$0].client.trust }
    }

    /// Answers ``Output/secure(_:for:)``, or says that nobody has to wait any more for the proof of a bond.
    package mutating func securityAnswered(_ link: ConnectionHandle, _ answer: SecurityAnswer, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.securityAnswered(answer, at: now, into: &outbox)
    }

    /// Lets the peer of a link do what needs an authorisation, or no more.
    package mutating func authorize(_ link: ConnectionHandle, _ isAuthorized: Bool = true) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.authorize(isAuthorized)
    }

    /// Changes what is kept of the peer of a link, if that is bonded.
    mutating func changeBond(at index: Int, _ body: (inout Bond) -> Void) {
        let peer = links[index].peer
        links[index].client.bond.change(of: peer, into: &outbox, body)
    }

    /// Keeps what the server knows of its client, if that is bonded.
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

    /// Goes on with a client where it was when its last link ended.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1, 3.3.3.3 and 7.1.
    private mutating func restore(_ memory: ClientMemory, isCurrent: Bool, at index: Int, _ now: Instant) {
        links[index].server.understands(links[index].server.features.union(memory.features))
        for entry in memory.configurations { restore(entry, at: index) }
        if !isCurrent || !memory.isAware { links[index].server.awareness.databaseChanged() }
        if let range = isCurrent ? memory.pendingChange : .all { announceChange(of: range, at: index, now) }
    }

    /// Has the peer hear again of what it wanted to hear of, if that is still there.
    private mutating func restore(_ entry: ClientMemory.Configuration, at index: Int) {
        guard links[index].server.configurations[entry.handle] == 0, entry.bits != 0,
            case .configuration(let about)? = database.attribute(at: entry.handle)?.content,
            database.attribute(at: about.value)?.type == entry.characteristic,
            entry.bits & ~about.properties.configurationBits == 0
        else { return }
        configure(entry.handle, entry.bits, at: index)
        guard let owner = about.owner else { return }
        outbox.tell(owner.client, of: .server(.subscribed(links[index].remote, to: owner.id)))
    }
}
