import BLEHost

/// What a turn of the runner brings each client, gathered until the turn ends.
struct Posts {
    private struct Draft {
        let mailbox: ClientMailbox
        var events: [ClientEvent] = []
    }

    private var drafts: [Draft] = []

    mutating func open(_ mailbox: ClientMailbox) { drafts.append(Draft(mailbox: mailbox)) }

    mutating func close(_ mailbox: ClientMailbox) { drafts.removeAll { $0.mailbox === mailbox } }

    /// Adds an event, unless the client is gone.
    mutating func add(_ event: ClientEvent, for client: ClientID) {
        guard let index = drafts.firstIndex(where: { $0.mailbox.client == client }) else { return }
        drafts[index].events.append(event)
    }

    /// Hands each client what there is for it; returns one that is so far behind that the controller must stop until it
    /// has caught up.
    mutating func deliver() -> ClientMailbox? {
        var crowd: ClientMailbox?
        for index in drafts.indices where !drafts[index].events.isEmpty {
            let count = drafts[index].mailbox.post(&drafts[index].events)
            if count > 4 * ClientMailbox.limit, crowd == nil { crowd = drafts[index].mailbox }
        }
        return crowd
    }
}
