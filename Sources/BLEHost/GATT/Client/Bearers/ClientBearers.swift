import BLEWire

/// The bearers of a link on which this host's clients ask, what is under way on each, and what is to be begun once
/// more.
///
/// The first is the unenhanced one, which is always there. Any request may begin on it, and on the others what may be
/// under way beside that without any app being able to tell.
///
/// Core 6.0, Vol 3, Part F, 3.3.2; Part G, 5.3.
struct ClientBearers {
    var all = [ClientBearer(.unenhanced)]
    /// What was refused, or lost with its bearer, in ascending order of when it was begun first.
    private var stalled: [ClientProcedure] = []

    /// How many there are beside the unenhanced one.
    var enhancedCount: Int { all.count - 1 }

    var indices: Range<Int> { all.indices }

    func index(of id: BearerID) -> Int? { all.firstIndex { $0.id == id } }

    /// When requests may begin on the unenhanced bearer that wait until then; `nil` if something is under way there.
    mutating func begin(at deadline: Instant?) -> Instant? { all[0].isFree ? deadline : nil }

    /// Whether there is but one bearer, and nothing is to be begun once more.
    var isPlain: Bool { all.count == 1 && stalled.isEmpty }

    mutating func open(_ id: ChannelID, mtu: Int) { all.append(ClientBearer(.enhanced(id), mtu: mtu)) }

    mutating func resize(_ id: ChannelID, mtu: Int) {
        guard let index = index(of: .enhanced(id)) else { return }
        all[index].mtu = mtu
    }

    /// Goes on without a bearer; hands out what was under way on it.
    mutating func close(_ id: ChannelID) -> ClientProcedure? {
        guard let index = index(of: .enhanced(id)) else { return nil }
        var bearer = all.remove(at: index)
        return bearer.end()
    }

    /// When a transaction is overdue.
    var deadline: Instant? {
        mutating get {
            var least: Instant?
            for index in all.indices { least.bringForward(to: all[index].deadline) }
            return least
        }
    }

    /// Clients whose write commands have to wait, so that they pass none of their requests.
    var blocked: [ClientID] {
        var blocked = (all.dropFirst().compactMap(\.running) + stalled).compactMap(\.client)
        if let first = all[0].running, first.procedure.mayAskMore, let client = first.client {
            blocked.append(client)
        }
        return blocked
    }

    /// Whether the peer has only parts of a value that `client` writes, or has refused for the time being what it asks.
    func holdsUp(_ client: ClientID) -> Bool {
        let holdsParts = all[0].running.map { $0.client == client && $0.procedure.holdsParts } ?? false
        return holdsParts || stalled.contains { $0.client == client }
    }

    /// Whether `client` waits for something that began before what has this number.
    func isUnderWay(before order: UInt64, for client: ClientID) -> Bool {
        func precedes(_ other: ClientProcedure) -> Bool { other.client == client && other.order < order }
        return all.contains { $0.running.map(precedes) ?? false } || stalled.contains(where: precedes)
    }

    /// Everything that is under way for a client, or for any, in the order in which it was begun.
    func underWay(for client: ClientID?) -> [ClientProcedure] {
        (all.compactMap(\.running) + stalled)
            .filter { one in one.client.map { client ?? $0 == $0 } ?? false }
            .sorted { $0.order < $1.order }
    }

    /// Leaves what comes of a client's request to nobody.
    mutating func withdraw(_ order: UInt64, with failure: Failure) {
        stalled.removeAll { $0.order == order }
        for index in all.indices where all[index].running?.order == order {
            all[index].update { $0.withdraw(failure) }
        }
    }

    /// Gives up everything; what is under way is answered to nobody.
    mutating func giveUp() {
        stalled = []
        for index in all.indices { _ = all[index].end() }
    }
}

// What is begun once more.
extension ClientBearers {
    var hasStalled: Bool { !stalled.isEmpty }

    mutating func stall(_ procedure: ClientProcedure) {
        let place = stalled.firstIndex { $0.order > procedure.order } ?? stalled.endIndex
        stalled.insert(procedure, at: place)
    }

    /// Hands out what was begun first of all that is to be begun once more.
    mutating func nextStalled() -> ClientProcedure? {
        guard !stalled.isEmpty else { return nil }
        var next = stalled.removeFirst()
        next.renew()
        return next
    }

    /// Hands out what is not to be begun once more.
    mutating func removeStalled(where isGone: (ClientProcedure) -> Bool) -> [ClientProcedure] {
        let gone = stalled.filter(isGone)
        if !gone.isEmpty { stalled.removeAll(where: isGone) }
        return gone
    }
}

// Which requests may begin beside those that are under way.
//
// Reads of one client may be under way together, and are answered in its order. All else waits until what the client
// asked before is done: a peer carries out in any order what it hears on several all.
extension ClientBearers {
    /// Whether a request may begin on the bearer at `index`.
    func admits(_ request: AttributeRequest, of client: ClientID, at index: Int, behind commands: WriteCommands) -> Bool
    {
        guard admits(request, of: client) else { return false }
        guard let mtu = all[index].mtu else { return !request.isWriteCommand }
        switch request {
        // Write commands go over the unenhanced bearer, and what follows them on another could pass them.
        case .read: return !commands.contains(client)
        // Prepared parts of all bearers share one queue at the peer: one value at a time is written in parts.
        case .write(_, let value): return value.count <= mtu - 3 && !commands.contains(client)
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .forgetDatabase, .writeCommand, .subscribe:
            return false
        }
    }

    private func admits(_ request: AttributeRequest, of client: ClientID) -> Bool {
        func mayBeBeside(_ other: ClientProcedure) -> Bool {
            guard other.client == client else { return true }
            guard case .read(let handle) = request, case .read(_, let earlier) = other.procedure else { return false }
            return handle != earlier
        }
        return all.allSatisfy { $0.running.map(mayBeBeside) ?? true } && stalled.allSatisfy(mayBeBeside)
    }
}
