import BLEHost

/// The events of the current turn, collected for each client until the turn ends.
struct PendingEvents {
    struct ClientEvents {
        let mailbox: ClientMailbox
        let client: ClientID
        var events: [ClientEvent] = []
    }

    /// The events of each client.
    ///
    /// They are removed when they are passed on at the end of a turn.
    var clients: [ClientEvents] = []

    mutating func open(_ mailbox: ClientMailbox) {
        clients.append(ClientEvents(mailbox: mailbox, client: mailbox.client))
    }

    mutating func close(_ mailbox: ClientMailbox) { clients.removeAll { $0.mailbox === mailbox } }

    /// Adds an event for a client; drops it if the client has closed its session.
    mutating func add(_ event: consuming ClientEvent, for client: ClientID) {
        guard let index = clients.firstIndex(where: { $0.client.rawValue == client.rawValue }) else { return }
        if event.isReceipt, let last = clients[index].events.indices.last, clients[index].events[last].absorb(event) {
            return
        }
        clients[index].events.append(event)
    }
}

extension ClientEvent {
    /// Adds the number of sent values that `receipt` reports to this event's number.
    ///
    /// Returns false, without any change, unless both events report values of the same kind and, for write commands, to
    /// the same peer.
    fileprivate mutating func absorb(_ receipt: ClientEvent) -> Bool {
        switch (self, receipt) {
        case (.peer(let peer, .writeCommandsTaken(let count), _), .peer(let other, .writeCommandsTaken(let more), _))
        where peer == other:
            self = .peer(peer, .writeCommandsTaken(count + more))
            return true
        case (.server(.updatesTaken(let count)), .server(.updatesTaken(let more))):
            self = .server(.updatesTaken(count + more))
            return true
        default: return false
        }
    }
}
