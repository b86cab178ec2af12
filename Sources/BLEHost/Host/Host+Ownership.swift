import BLEWire

// Ownership: a session can act only on its own links and centrals, and learns only about those.
extension Host {
    /// Gives a session to another owner: an app that was launched again, or the same app with other rights.
    package mutating func transfer(_ client: ClientID, to owner: ClientOwner) {
        clients.transfer(client, to: owner)
        pairings.transfer(client, to: owner)
    }

    /// Returns the clients that use a link: centrals that are connected over it, and peripherals whose attributes or
    /// channels the peer has used.
    func clients(on link: ConnectionHandle) -> [ClientID] {
        clientConnections.entries(on: link).filter { $0.state.link != nil }.map(\.client)
            + layers.attributes.servedClients(on: link)
    }

    /// Returns the apps that use a link, together with the apps of the clients in `further`.
    func apps(on link: ConnectionHandle, and further: [ClientID] = []) -> LinkApps {
        LinkApps((clients(on: link) + further).compactMap { clients.owner(of: $0) })
    }

    /// Returns whether an app other than that of `client` uses a link.
    func isShared(_ link: ConnectionHandle, beyondAppOf client: ClientID) -> Bool {
        guard let owner = clients.owner(of: client) else { return true }
        return clients(on: link).contains { other in
            other != client && clients.owner(of: other).map { !$0.isSameApp(as: owner) } ?? false
        }
    }

    /// Returns the link to `peer` if the peer is a central that the client serves, otherwise `nil`.
    ///
    /// A client that belongs to the program in which the host runs serves every central.
    func link(of client: ClientID, toCentral peer: PeerIdentifier) -> ConnectionHandle? {
        guard let link = link(to: peer), links[link]?.role == .peripheral, let owner = clients.owner(of: client) else {
            return nil
        }
        return owner.isProgram || layers.attributes.servedClients(on: link).contains(client) ? link : nil
    }

    /// The clients to which a newly connected central belongs: those that advertise or publish something, if all of
    /// these clients belong to one app.
    ///
    /// If several apps advertise or publish, the host cannot know which one the central wants until the central uses
    /// something.
    var clientsOfNewCentrals: [ClientID] {
        let offering = clients.clients.filter { $0.role == .peripheral && offers($0.id) }
        guard let first = offering.first else { return [] }
        let areOfOneApp = offering.allSatisfy { $0.id == first.id || $0.owner.isSameApp(as: first.owner) }
        return areOfOneApp ? offering.map(\.id) : []
    }

    /// Records that a new central belongs to these clients, although it has not yet used anything that they publish.
    mutating func note(_ clients: [ClientID], on link: ConnectionHandle) {
        for client in clients where layers.withAttributes({ $0.noteUse(of: client, on: link) }) { centralUsed(client) }
    }

    private func offers(_ client: ClientID) -> Bool {
        advertiser.advertises(for: client) || layers.attributes.database.clients.contains(client)
            || layers.channels.publications.contains { $0.owner == .client(client) }
    }

    /// Returns the connected centrals of a client, in the order of their links.
    mutating func connectedCentrals(of client: ClientID) -> [ConnectedCentral] {
        let seesAll = clients.owner(of: client)?.isProgram ?? false
        return layers.attributes.links.compactMap { link in
            guard let state = links[link.handle], state.role == .peripheral, state.phase == .up,
                seesAll || link.server.clients.all.contains(client)
            else { return nil }
            return ConnectedCentral(link.remote, address: state.address)
        }
    }

    /// Sends a client the list of its connected centrals if the list has changed.
    ///
    /// A client that belongs to the program in which the host runs gets the list even if it is unchanged.
    mutating func announceCentrals(to client: ClientID) {
        let centrals = connectedCentrals(of: client), isProgram = clients.owner(of: client)?.isProgram ?? false
        let areOthers = clients.noteCentrals(centrals, toldTo: client)
        if areOthers || isProgram { report(to: client, .server(.centralsConnected(centrals))) }
    }

    /// Sends a client the list of its centrals, because a central has used the client's attributes or channels for the
    /// first time.
    ///
    /// Has no effect for a client that belongs to the program in which the host runs, because such a client has already
    /// received all centrals.
    mutating func centralUsed(_ client: ClientID) {
        guard clients.owner(of: client)?.isProgram == false else { return }
        announceCentrals(to: client)
    }

    /// Returns the connected devices to report to a client, in the order of their links.
    ///
    /// A device that connected to this host as a central is left out unless clients have discovered services on it or
    /// this client is connected to it. A client that belongs to the program in which the host runs gets all devices.
    mutating func systemLinks(for client: ClientID) -> [SystemLink] {
        let seesAll = clients.owner(of: client)?.isProgram ?? false
        var systemLinks: [SystemLink] = []
        for index in 0..<links.count where links.values[index].phase == .up {
            let peer = links.values[index].peer, services = peers.services(of: peer)
            let isDevice = links.values[index].role == .central || !services.isEmpty
            guard seesAll || isDevice || clientConnections[client, peer] != nil else { continue }
            systemLinks.append(SystemLink(peer: peer, name: peers.name(of: peer), services: services))
        }
        return systemLinks
    }
}
