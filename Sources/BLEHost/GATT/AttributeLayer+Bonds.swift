package import BLEWire

extension AttributeLayer {
    /// Says that the peer of a link is one that this host is bonded with, or has just been bonded with.
    ///
    /// What was kept of it counts from now on; ``Output/bondChanged(_:_:)`` tells of every change.
    package mutating func bonded(_ link: ConnectionHandle, _ bond: Bond, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].bond = bond
    }

    /// Changes what is kept of the peer of a link, and has it stored if it is another then.
    ///
    /// Does nothing if the peer is not bonded.
    mutating func changeBond(at index: Int, _ body: (inout Bond) -> Void) {
        guard let old = links[index].bond else { return }
        var bond = old
        body(&bond)
        guard bond != old else { return }
        links[index].bond = bond
        outbox.append(.bondChanged(links[index].peer, bond))
    }
}
