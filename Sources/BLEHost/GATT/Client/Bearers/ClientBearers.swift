import BLEWire

/// The bearers on which clients make requests to one peer, with the procedures in progress and the procedures to be
/// repeated.
///
/// The first one is the unenhanced bearer, which always exists and accepts any request. The enhanced bearers only
/// accept requests that can run at the same time as others without any effect that apps could notice.
///
/// Core 6.0, Vol 3, Part F, 3.3.2; Part G, 5.3.
struct ClientBearers {
    var all = [ClientBearer(.unenhanced)]
    /// The procedures to be repeated, because the peer rejected them or their bearer was closed, in the order in which
    /// they first started.
    private var toRepeat: [ClientProcedure] = []

    /// The number of enhanced bearers.
    var enhancedCount: Int { all.count - 1 }

    var indices: Range<Int> { all.indices }

    func index(of id: BearerID) -> Int? { all.firstIndex { $0.id == id } }

    /// Returns `time`, at which waiting requests may start, if the unenhanced bearer is free; otherwise `nil`.
    mutating func startTime(atEarliest time: Instant?) -> Instant? { all[0].isFree ? time : nil }

    /// True if there are no enhanced bearers and no procedures to be repeated.
    var isPlain: Bool { all.count == 1 && toRepeat.isEmpty }

    mutating func open(_ id: ChannelID, mtu: Int) { all.append(ClientBearer(.enhanced(id), mtu: mtu)) }

    mutating func resize(_ id: ChannelID, mtu: Int) {
        guard let index = index(of: .enhanced(id)) else { return }
        all[index].mtu = mtu
    }

    /// Removes a bearer; returns the procedure that was in progress on the bearer, or `nil` if there was none.
    mutating func close(_ id: ChannelID) -> ClientProcedure? {
        guard let index = index(of: .enhanced(id)) else { return nil }
        var bearer = all.remove(at: index)
        return bearer.end()
    }

    /// The earliest time at which a transaction times out; `nil` if none is in progress.
    var deadline: Instant? {
        mutating get {
            var least: Instant?
            for index in all.indices { least.bringForward(to: all[index].deadline) }
            return least
        }
    }

    /// The clients whose write commands must wait because they would otherwise overtake the clients' earlier requests.
    var blocked: [ClientID] {
        var blocked = (all.dropFirst().compactMap(\.running) + toRepeat).compactMap(\.client)
        if let first = all[0].running, first.procedure.mayNeedMoreRequests, let client = first.client {
            blocked.append(client)
        }
        return blocked
    }

    /// Returns whether the write commands of `client` must wait because the peer has only received parts of a value
    /// that `client` writes, or because a request from `client` is to be repeated.
    func blocksCommands(of client: ClientID) -> Bool {
        let holdsParts = all[0].running.map { $0.client == client && $0.procedure.holdsParts } ?? false
        return holdsParts || toRepeat.contains { $0.client == client }
    }

    /// Returns whether `client` still waits for a procedure that started before the procedure with number `order`.
    func isUnderWay(before order: UInt64, for client: ClientID) -> Bool {
        func precedes(_ other: ClientProcedure) -> Bool { other.client == client && other.order < order }
        return all.contains { $0.running.map(precedes) ?? false } || toRepeat.contains(where: precedes)
    }

    /// Returns the unfinished procedures of a client, or of all clients if `client` is `nil`, in the order in which the
    /// procedures started.
    func underWay(for client: ClientID?) -> [ClientProcedure] {
        (all.compactMap(\.running) + toRepeat)
            .filter { one in one.client.map { client ?? $0 == $0 } ?? false }
            .sorted { $0.order < $1.order }
    }

    /// Removes the client from the procedure with number `order`, because the request fails with `failure`.
    ///
    /// A procedure that waits to be repeated is dropped. A procedure in progress continues, and its result is
    /// discarded.
    mutating func withdraw(_ order: UInt64, with failure: Failure) {
        toRepeat.removeAll { $0.order == order }
        for index in all.indices where all[index].running?.order == order {
            all[index].update { $0.withdraw(failure) }
        }
    }

    /// Ends all procedures without reporting results.
    mutating func endAll() {
        toRepeat = []
        for index in all.indices { _ = all[index].end() }
    }
}

// Procedures to be repeated.
extension ClientBearers {
    var hasProceduresToRepeat: Bool { !toRepeat.isEmpty }

    mutating func queueForRepetition(_ procedure: ClientProcedure) {
        let place = toRepeat.firstIndex { $0.order > procedure.order } ?? toRepeat.endIndex
        toRepeat.insert(procedure, at: place)
    }

    /// Removes and returns the procedure to be repeated next; `nil` if there is none.
    mutating func nextToRepeat() -> ClientProcedure? {
        guard !toRepeat.isEmpty else { return nil }
        var next = toRepeat.removeFirst()
        next.renew()
        return next
    }

    /// Removes the procedures for which `isGone` returns true from the procedures to be repeated, and returns them.
    mutating func removeProceduresToRepeat(where isGone: (ClientProcedure) -> Bool) -> [ClientProcedure] {
        let gone = toRepeat.filter(isGone)
        if !gone.isEmpty { toRepeat.removeAll(where: isGone) }
        return gone
    }
}

// Requests that may run at the same time.
//
// Reads of different values by one client may run at the same time; the client gets their results in the order of its
// requests. Any other request waits until the client's earlier requests have ended, because a peer may process requests
// on different bearers in any order.
extension ClientBearers {
    /// Returns whether a request can start now on the bearer at `index`.
    ///
    /// `commands` are the write commands that the controller has not accepted yet.
    func admits(_ request: AttributeRequest, of client: ClientID, at index: Int, behind commands: WriteCommands) -> Bool
    {
        guard admits(request, of: client) else { return false }
        guard let mtu = all[index].mtu else { return !request.isWriteCommand }
        switch request {
        // Write commands use the unenhanced bearer. A request on another bearer could overtake them.
        case .read: return !commands.contains(client)
        // The peer has one queue for the prepared parts of all bearers, so only one value may be written in parts at a
        // time.
        case .write(_, let value): return value.count <= mtu - 3 && !commands.contains(client)
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .forgetDatabase, .readWithoutPairing, .writePart, .writeCommand, .subscribe:
            return false
        }
    }

    private func admits(_ request: AttributeRequest, of client: ClientID) -> Bool {
        func mayBeBeside(_ other: ClientProcedure) -> Bool {
            guard other.client == client else { return true }
            guard case .read(let handle) = request, case .read(_, let earlier) = other.procedure else { return false }
            return handle != earlier
        }
        return all.allSatisfy { $0.running.map(mayBeBeside) ?? true } && toRepeat.allSatisfy(mayBeBeside)
    }
}
