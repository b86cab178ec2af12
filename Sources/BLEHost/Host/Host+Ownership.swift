import BLEWire

// What belongs to whom: a session acts on its own links and centrals only, and learns only of those.
extension Host {
    /// Gives a session to another app: the one that was launched again, or the same one with other rights.
    package mutating func give(_ client: ClientID, to owner: ClientOwner) {
        clients.give(client, to: owner)
        pairings.give(client, to: owner)
    }

    /// The clients that use a link: as centrals that are connected over it, or as peripherals whose attributes or
    /// channels the other end has used.
    func clients(on link: ConnectionHandle) -> [ClientID] {
        attachments.on(link).filter { $0.state.link != nil }.map(\.client) + layers.attributes.servedClients(on: link)
    }

    /// The apps that use a link, and those of further clients.
    func apps(on link: ConnectionHandle, and further: [ClientID] = []) -> LinkApps {
        LinkApps((clients(on: link) + further).compactMap { clients.owner(of: $0) })
    }

    /// Returns whether another app than that of a client uses a link as well.
    func isShared(_ link: ConnectionHandle, beyondAppOf client: ClientID) -> Bool {
        guard let owner = clients.owner(of: client) else { return true }
        return clients(on: link).contains { other in
            other != client && clients.owner(of: other).map { !$0.isSameApp(as: owner) } ?? false
        }
    }

    /// The link to a central that belongs to a client; `nil` if there is none.
    func link(of client: ClientID, toCentral peer: PeerIdentifier) -> ConnectionHandle? {
        guard let link = link(to: peer), links[link]?.role == .peripheral, let owner = clients.owner(of: client) else {
            return nil
        }
        return owner.isProgram || layers.attributes.servedClients(on: link).contains(client) ? link : nil
    }

    /// The clients to whom a central belongs that has just connected: those that offer something, if they are of one
    /// app.
    ///
    /// If several apps advertise or publish, it is not known which one the central wants until it uses something.
    var clientsOfNewCentrals: [ClientID] {
        let offering = clients.clients.filter { $0.role == .peripheral && offers($0.id) }
        guard let first = offering.first else { return [] }
        let areOfOneApp = offering.allSatisfy { $0.id == first.id || $0.owner.isSameApp(as: first.owner) }
        return areOfOneApp ? offering.map(\.id) : []
    }

    /// Notes that a central belongs to these clients from the beginning.
    mutating func note(_ clients: [ClientID], on link: ConnectionHandle) {
        for client in clients where layers.atOnce({ $0.noteUse(of: client, on: link) }) { centralUsed(client) }
    }

    private func offers(_ client: ClientID) -> Bool {
        advertiser.advertises(for: client) || layers.attributes.database.clients.contains(client)
            || layers.channels.publications.contains { $0.owner == .client(client) }
    }

    /// The connected centrals of a client, in the order of their links.
    mutating func connectedCentrals(of client: ClientID) -> [ConnectedCentral] {
        let seesAll = clients.owner(of: client)?.isProgram ?? false
        return layers.attributes.links.compactMap { link in
            guard let state = links[link.handle], state.role == .peripheral, state.phase == .up,
                seesAll || link.server.clients.all.contains(client)
            else { return nil }
            return ConnectedCentral(link.remote, address: state.address)
        }
    }

    /// Tells a client its connected centrals, if they have changed; a client of this program in any case.
    mutating func announceCentrals(to client: ClientID) {
        let centrals = connectedCentrals(of: client), isProgram = clients.owner(of: client)?.isProgram ?? false
        let areOthers = clients.noteCentrals(centrals, toldTo: client)
        if areOthers || isProgram { tell(client, .server(.centralsConnected(centrals))) }
    }

    /// Tells a client its centrals, since one of them has used something of it for the first time.
    ///
    /// The sessions of this program have been told of all centrals before that.
    mutating func centralUsed(_ client: ClientID) {
        guard clients.owner(of: client)?.isProgram == false else { return }
        announceCentrals(to: client)
    }

    /// The devices that a client is told are connected, in the order of their links.
    ///
    /// Centrals of other apps are not among them, unless an app uses their services.
    mutating func systemLinks(for client: ClientID) -> [SystemLink] {
        let seesAll = clients.owner(of: client)?.isProgram ?? false
        var systemLinks: [SystemLink] = []
        for index in 0..<links.count where links.values[index].phase == .up {
            let peer = links.values[index].peer, services = peers.services(of: peer)
            let isDevice = links.values[index].role == .central || !services.isEmpty
            guard seesAll || isDevice || attachments[client, peer] != nil else { continue }
            systemLinks.append(SystemLink(peer: peer, name: peers.name(of: peer), services: services))
        }
        return systemLinks
    }
}
