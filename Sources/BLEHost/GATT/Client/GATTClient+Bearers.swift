import BLEWire

// The bearers beside the unenhanced one, over which clients read and write while others wait.
extension GATTClient {
    /// The client's side of one enhanced bearer.
    struct EnhancedBearer {
        let id: ChannelID
        /// The largest packet that both ends take, in octets.
        var mtu: Int
        var transaction = ATTClientBearer()
        var running: Running?
    }

    /// Clients whose write commands have to wait, so that they pass none of their requests.
    var blocked: [ClientID] {
        if isCatchingUp || awaitsSecurity { return clients }
        if !isRunning, enhanced.isEmpty, stalled.isEmpty { return [] }
        var blocked = (enhanced.compactMap(\.running) + stalled).compactMap(\.owner.client)
        if running?.procedure.mayAskMore == true, let client = running?.owner.client { blocked.append(client) }
        return blocked
    }

    /// Takes out the next request that may begin on the unenhanced bearer.
    mutating func nextRequest() -> (client: ClientID, request: PeerRequest, isVoid: Bool)? {
        guard !enhanced.isEmpty || !stalled.isEmpty else { return waiting.next() }
        let admission = Admission(self)
        return waiting.next { admission.allows($1, of: $0, mtu: nil) }
    }

    /// Begins what can begin on an enhanced bearer; `false` if nothing can.
    mutating func proceedEnhanced(at now: Instant, into outbox: inout Outbox) -> Bool {
        guard !enhanced.isEmpty, !waiting.isEmpty, !isCatchingUp else { return false }
        let admission = Admission(self)
        for index in enhanced.indices where enhanced[index].running == nil && enhanced[index].transaction.isIdle {
            let mtu = enhanced[index].mtu
            let next = waiting.next { admission.allows($1, of: $0, mtu: mtu) }
            guard let (client, request, isVoid) = next else { continue }
            if isVoid {
                answerVoid(request, of: client, into: &outbox)
            } else {
                begin(request, for: client, onEnhanced: index, at: now, into: &outbox)
            }
            return true
        }
        return false
    }

    private mutating func begin(
        _ request: PeerRequest,
        for client: ClientID,
        onEnhanced index: Int,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        let procedure: Procedure
        switch request {
        case .read(let handle): procedure = .read(ValueReading(handle), handle)
        case .write(let handle, let value): procedure = .write(ValueWriting(value, to: handle), handle)
        case .readRSSI, .tune, .discoverServices, .discoverIncludedServices, .discoverCharacteristics,
            .discoverDescriptors, .forgetDatabase, .writeCommand, .subscribe, .openChannel:
            preconditionFailure("\(request) goes over the unenhanced bearer")
        }
        var running = Running(owner: .client(client), procedure: procedure, order: nextOrder(), security: security)
        let step = running.procedure.begin(&database, mtu: enhanced[index].mtu)
        enhanced[index].running = running
        take(step, onEnhanced: index, at: now, into: &outbox)
    }

    private mutating func take(
        _ step: ProcedureStep<Procedure.Outcome>,
        onEnhanced index: Int,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch step {
        case .request(let packet):
            enhanced[index].running?.isDisturbed = false
            enhanced[index].transaction.begin(packet.opcode, at: now)
            outbox.send(packet, on: .enhanced(enhanced[index].id), of: link)
        case .finished(let outcome):
            guard let finished = enhanced[index].running.take() else { return }
            conclude(finished, with: outcome, at: now, into: &outbox)
        }
    }

    /// Takes what an enhanced bearer made of a packet.
    mutating func take(
        _ event: ATTClientBearer.OnReceive,
        onEnhanced index: Int,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch event {
        case .ignored: outbox.append(.note(.lateAnswer(.attribute, link)))
        case .answered(let answer):
            if case .failure(.databaseOutOfSync) = answer {
                outOfSync(on: .enhanced(enhanced[index].id), at: now, into: &outbox)
            }
            let mtu = enhanced[index].mtu
            switch enhanced[index].running?.receive(answer, &database, mtu: mtu) {
            case nil, .leave: enhanced[index].running = nil
            case .go(let step): take(step, onEnhanced: index, at: now, into: &outbox)
            }
            proceed(at: now, into: &outbox)
        }
    }

    /// A bearer is open.
    mutating func opened(_ id: ChannelID, mtu: Int, at now: Instant, into outbox: inout Outbox) {
        enhanced.append(EnhancedBearer(id: id, mtu: mtu))
        opening.opened()
        proceed(at: now, into: &outbox)
    }

    /// Packets of a bearer may have another size from now on.
    mutating func resized(_ id: ChannelID, mtu: Int) {
        guard let index = enhanced.firstIndex(where: { $0.id == id }) else { return }
        enhanced[index].mtu = mtu
    }

    /// Goes on without a bearer: what was read on it is read on another, since nothing comes of reading twice, but
    /// nobody knows whether what was written on it has been.
    mutating func closed(_ id: ChannelID, at now: Instant, into outbox: inout Outbox) {
        guard let index = enhanced.firstIndex(where: { $0.id == id }) else { return }
        if let lost = enhanced.remove(at: index).running {
            if case .read = lost.procedure, lost.owner.client != nil {
                stall(lost, into: &outbox)
            } else {
                fail(lost, with: .att(.unlikelyError), into: &outbox)
            }
        }
        proceed(at: now, into: &outbox)
    }

    /// Gives up bearers on which a transaction was not answered in time; the link and the other bearers go on.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    mutating func expireEnhanced(at now: Instant, into outbox: inout Outbox) {
        for index in enhanced.indices {
            switch enhanced[index].transaction.expire(at: now) {
            case .nothing: continue
            case .abandon: break
            }
            outbox.append(.note(.transactionTimedOut(link)))
            outbox.append(.bearer(.channel(enhanced[index].id, .close), of: link))
            guard let lost = enhanced[index].running else { continue }
            enhanced[index].running = nil
            fail(lost, with: .timedOut, into: &outbox)
        }
        take(opening.expire(at: now, hasBearers: !enhanced.isEmpty), into: &outbox)
    }

    /// Has the peer asked for bearers if there is use for them.
    ///
    /// Core 6.0, Vol 3, Part G, 5.3.1.
    mutating func considerBearers() {
        guard offersBearers, security >= .encrypted, !clients.isEmpty, enhanced.isEmpty, opening.want() == .inquire
        else { return }
        chores.append(.openBearers)
    }

    /// Takes what the peer's server says that it can do.
    mutating func inquired(_ features: UInt8?, into outbox: inout Outbox) {
        let isOffered = (features ?? 0) & GATT.enhancedBearersSupported != 0
        take(opening.inquired(isOffered: isOffered && security >= .encrypted && enhanced.isEmpty), into: &outbox)
    }

    mutating func take(_ event: BearerOpening.OnEvent, into outbox: inout Outbox) {
        switch event {
        case .nothing: break
        case .open: outbox.append(.bearer(.open(BearerOpening.count), of: link))
        }
    }
}

/// Which requests may begin, beside those that are under way.
///
/// Reads of one client may be under way together, and are answered in its order. All else waits until what the client
/// asked before is done: a peer carries out in any order what it hears on several bearers.
private struct Admission {
    private let running: [GATTClient.Running]
    private let commands: Fifo<GATTClient.Command>

    init(_ client: GATTClient) {
        running = ([client.running] + client.enhanced.map(\.running)).compactMap(\.self) + client.stalled
        commands = client.commands
    }

    /// Whether a request may begin on the unenhanced bearer, or on one whose packets have `mtu` octets.
    func allows(_ request: PeerRequest, of client: ClientID, mtu: Int?) -> Bool {
        for other in running where other.owner == .client(client) {
            guard case .read(let handle) = request, case .read(_, let earlier) = other.procedure, handle != earlier
            else {
                return false
            }
        }
        guard let mtu else { return !request.isWriteCommand }
        switch request {
        // Write commands go over the unenhanced bearer, and what follows them on another could pass them.
        case .read: return !hasCommands(of: client)
        // Prepared parts of all bearers share one queue at the peer: one value at a time is written in parts.
        case .write(_, let value): return value.count <= mtu - 3 && !hasCommands(of: client)
        case .readRSSI, .tune, .discoverServices, .discoverIncludedServices, .discoverCharacteristics,
            .discoverDescriptors, .forgetDatabase, .writeCommand, .subscribe, .openChannel:
            return false
        }
    }

    private func hasCommands(of client: ClientID) -> Bool { commands.contains { $0.client == client } }
}

extension GATTClient.Owner {
    fileprivate var client: ClientID? { if case .client(let client) = self { client } else { nil } }
}
