import DBus

// The programs on the bus: from their first call until they leave.
extension BlueZBridge {
    /// Asks the bus for the credentials of a program that calls for the first time.
    mutating func admit(_ sender: String, with call: BusMessage) {
        let unidentified = clients.all.count { $0.credentials == nil }
        guard unidentified < Limit.unidentifiedClients else { return send(.limitReached, to: Caller(call)) }
        var client = Client()
        client.pendingCalls = [call]
        clients[sender] = client
        var question = BusMessage(
            kind: .call,
            path: "/org/freedesktop/DBus",
            interface: Self.bus,
            member: "GetConnectionCredentials",
            destination: Self.bus
        )
        question.body = [.string(sender)]
        self.call(question, for: .credentials(of: sender))
    }

    /// Processes the credentials of a program, and carries out the calls that waited for them.
    mutating func identify(_ sender: String, _ reply: BusReply) {
        guard var client = clients[sender] else { return }
        let held = client.pendingCalls
        guard case .values(let values, _) = reply, let facts = values.first,
            let user = facts[key: "UnixUserID"]?.integer.flatMap(UInt32.init(exactly:))
        else {
            clients[sender] = nil
            for call in held { send(.notAuthorized, to: Caller(call)) }
            return
        }
        let identified = clients.all.compactMap(\.credentials)
        // With a limit for each user, one user cannot take the places of all others.
        guard identified.count < Limit.clients,
            user == 0 || identified.count(where: { $0.user == user }) < Limit.userClients
        else {
            clients[sender] = nil
            for call in held { send(.limitReached, to: Caller(call)) }
            return
        }
        let process = facts[key: "ProcessID"]?.integer.flatMap(UInt32.init(exactly:))
        client.credentials = Credentials(user: user, process: process)
        client.pendingCalls = []
        clients[sender] = client
        for call in held { perform(call) }
    }

    /// Ends everything that belongs to a program that has left the bus, except the connections that no other session
    /// of its user has.
    mutating func removeClient(_ name: String) {
        guard let client = clients[name] else { return }
        if client.isDiscovering { endDiscovery(of: name) }
        endSearches(of: name)
        withdrawAgent(of: name)
        for (number, application) in applications.keys.map({ ($0, applications[$0]) })
        where application?.client == name {
            removeApplication(number)
        }
        for (number, advertisement) in advertisements.keys.map({ ($0, advertisements[$0]) })
        where advertisement?.client == name {
            removeAdvertisement(number)
        }
        removeMonitors(of: name)
        endNotifications(of: name)
        let central = SessionKey(name, .central)
        let isNeeded = devices.all.contains { $0.links.contains(central) && !hasOtherLink($0, central) }
        guard isNeeded else {
            loseLinks(of: central, .connectionAborted)
            close(central)
            clients[name] = nil
            return
        }
        _ = clients.update(name) { $0.isGone = true }
    }

    /// Returns true if another session of the same user is connected to the device.
    private func hasOtherLink(_ device: Device, _ key: SessionKey) -> Bool {
        let user = clients[key.client]?.credentials?.user
        return device.links.contains { $0 != key && clients[$0.client]?.credentials?.user == user }
    }
}
