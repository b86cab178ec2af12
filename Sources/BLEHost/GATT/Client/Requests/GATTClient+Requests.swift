import BLEWire

extension GATTClient {
    /// Starts or queues a request from an attached client.
    ///
    /// A write command is sent immediately, unless an earlier request from the same client is queued or may need
    /// another packet, or the client has too many unsent write commands. So a write command may be sent before an
    /// earlier request has its response, but never before the request itself.
    mutating func perform(
        _ request: AttributeRequest,
        for requester: Requester,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        let client = requester.client
        if case .writeCommand(let handle, let value) = request, !waiting.holdsRequests(of: client),
            !blocked.contains(client), commands.hasRoom(for: client)
        {
            return send(value, to: handle, for: client, into: &outbox)
        }
        guard !bearers.all[0].hasTimedOut else { return answer(request, of: requester, with: .timedOut, into: &outbox) }
        if mayBeginFast {
            begin(request, for: requester, at: now, into: &outbox)
            if !bearers.all[0].isRunning { proceed(at: now, into: &outbox) }
            return
        }
        guard waiting.append(request, for: requester) else {
            outbox.append(.note(.limitReached(.queuedRequests(link))))
            return answer(request, of: requester, with: .limitReached, into: &outbox)
        }
        proceed(at: now, into: &outbox)
    }

    /// True if the fast path may start a client's request: nothing is queued, and the unenhanced bearer is free.
    var mayBeginFast: Bool {
        mutating get {
            guard bearers.all[0].isFree else { return false }
            return nothingIsQueued
        }
    }

    /// True if no request and no result is waiting, the link has no enhanced bearers, and neither a recovery of the
    /// database nor a wait for security is in progress.
    ///
    /// A request may be in progress on the unenhanced bearer.
    var nothingIsQueued: Bool {
        mutating get {
            guard waiting.isEmpty, ownRequests.isEmpty, bearers.isPlain, answers.isEmpty else { return false }
            return !recovery.isUnderWay && !awaitsSecurity
        }
    }

    /// Starts the requests that are due when a link has been established.
    mutating func linkUp(at now: Instant, into outbox: inout Outbox) {
        if negotiation.isSettled { negotiated(.settled, at: now, into: &outbox) }
        proceed(at: now, into: &outbox)
    }

    /// Starts all waiting requests that can start now, and sends all waiting write commands that can be sent.
    mutating func proceed(at now: Instant, into outbox: inout Outbox) {
        while !awaitsSecurity {
            if waiting.beginsWithCommand {
                let blocked = blocked
                sendCommands(into: &outbox) { !blocked.contains($0) }
            }
            if proceedUnenhanced(at: now, into: &outbox) { continue }
            guard proceedEnhanced(at: now, into: &outbox) else { return }
        }
    }

    /// Starts the next request on the unenhanced bearer; returns `false` if none can start.
    private mutating func proceedUnenhanced(at now: Instant, into outbox: inout Outbox) -> Bool {
        guard bearers.all[0].isFree else { return false }
        guard !recovery.isUnderWay else { return proceedRecovery(at: now, into: &outbox) }
        if let procedure = bearers.nextToRepeat() {
            start(procedure, on: 0, at: now, into: &outbox)
        } else if let request = ownRequests.nextUrgent(checksCache: role == .central || !waiting.isEmpty) {
            begin(request, at: now, into: &outbox)
        } else if !waiting.isEmpty, let request = ownRequests.nextOverdue(at: now) {
            begin(request, at: now, into: &outbox)
        } else if beginNext(on: 0, at: now, into: &outbox) {
            return true
        } else if let request = ownRequests.next(at: now) {
            begin(request, at: now, into: &outbox)
        } else {
            return false
        }
        return true
    }

    /// Starts the next request on an enhanced bearer; returns `false` if none can start.
    private mutating func proceedEnhanced(at now: Instant, into outbox: inout Outbox) -> Bool {
        guard bearers.enhancedCount > 0, !waiting.isEmpty, !recovery.isUnderWay else { return false }
        for index in bearers.indices.dropFirst() where bearers.all[index].isFree {
            if beginNext(on: index, at: now, into: &outbox) { return true }
        }
        return false
    }

    /// Starts the next client request that can run on the bearer at `index`, or fails the request if its attribute no
    /// longer exists.
    ///
    /// Returns `false` if there is no such request.
    private mutating func beginNext(on index: Int, at now: Instant, into outbox: inout Outbox) -> Bool {
        guard let (requester, request, isAboutRemoved) = nextRequest(on: index) else { return false }
        if isAboutRemoved {
            answerRemoved(request, of: requester, into: &outbox)
        } else {
            begin(request, for: requester, on: index, at: now, into: &outbox)
        }
        return true
    }

    /// Removes and returns the next request that can run on the bearer at `index`; `nil` if there is none.
    ///
    /// `isAboutRemoved` is true if the request's attribute no longer exists.
    private mutating func nextRequest(on index: Int) -> (
        requester: Requester, request: AttributeRequest, isAboutRemoved: Bool
    )? {
        if bearers.isPlain { return waiting.next { !$1.isWriteCommand } }
        let (bearers, commands) = (bearers, commands)
        return waiting.next { bearers.admits($1, of: $0, at: index, behind: commands) }
    }

    /// The clients whose write commands must wait because they would otherwise overtake the clients' earlier requests.
    private var blocked: [ClientID] { recovery.isUnderWay || awaitsSecurity ? clients : bearers.blocked }

    /// Sends the write commands of the clients that `mayGo` allows, if no earlier request from the same client is
    /// queued.
    ///
    /// If `isLimited` is true, stops when the clients have too many unsent write commands.
    private mutating func sendCommands(
        into outbox: inout Outbox,
        isLimited: Bool = true,
        where mayGo: (ClientID) -> Bool
    ) {
        while let command = nextCommand(isLimited: isLimited, where: mayGo) {
            send(command.value, to: command.handle, for: command.client, into: &outbox)
        }
    }

    private mutating func nextCommand(
        isLimited: Bool,
        where mayGo: (ClientID) -> Bool
    ) -> (client: ClientID, handle: AttributeHandle, value: [UInt8])? {
        let commands = commands
        return waiting.nextCommand { mayGo($0) && (!isLimited || commands.hasRoom(for: $0)) }
    }

    /// Sends a write command, or drops it with a note if it does not fit into the MTU.
    mutating func send(
        _ value: [UInt8],
        to handle: AttributeHandle,
        for client: ClientID,
        into outbox: inout Outbox
    ) {
        guard value.count <= mtu - 3 else {
            outbox.append(.note(.oversizedCommand(handle, link)))
            return outbox.report(to: client, .peer(peer, .writeCommandsTaken(1)))
        }
        let receipt = outbox.makeReceipt(for: link)
        commands.append(receipt, of: client)
        let packet = ATTPacket.writeCommand(.init(handle: handle, value: value))
        outbox.send(packet, on: .unenhanced, of: link, receipt: receipt)
    }

    /// Records that the controller has accepted the packet with this receipt and all earlier ones, and sends write
    /// commands that waited for that.
    mutating func sent(_ receipt: SendReceipt, at now: Instant, into outbox: inout Outbox) {
        while let client = commands.nextTaken(upTo: receipt) {
            outbox.report(to: client, .peer(peer, .writeCommandsTaken(1)))
        }
        if waiting.beginsWithCommand { proceed(at: now, into: &outbox) }
    }

    /// Reports to a client that its request has failed.
    func answer(
        _ request: AttributeRequest,
        of requester: Requester,
        with failure: Failure,
        into outbox: inout Outbox
    ) {
        deliver(to: requester, answer(to: request, of: requester.client, failure), into: &outbox)
    }

    /// Fails a request about a removed attribute once the client has the results of its earlier requests.
    mutating func answerRemoved(_ request: AttributeRequest, of requester: Requester, into outbox: inout Outbox) {
        deliver(
            to: requester,
            answer(to: request, of: requester.client, .notFound),
            order: answers.next(),
            into: &outbox
        )
    }

    private func answer(to request: AttributeRequest, of client: ClientID, _ failure: Failure) -> PeerEvent {
        guard case .subscribe(_, let handle, _) = request else { return request.answer(failure) }
        return .subscriptionChanged(handle, subscriptions.subscription(of: client, to: handle), failure)
    }

    /// Fails all requests from `client`, and removes the client.
    ///
    /// The client's write commands at the start of its queue are sent first, unless they must wait for an earlier
    /// request. If other clients use the link, only as many are sent as the client's share allows. All its other queued
    /// requests are cancelled, including later write commands. So the peer gets everything that the client wrote up to
    /// some point, without gaps.
    mutating func detach(_ client: ClientID, at now: Instant, into outbox: inout Outbox) {
        guard isAttached(client) else { return }
        // The link of a central ends when its last client has left it, so no other client can be delayed.
        cancelRequests(of: client, isLimited: role == .peripheral || clients != [client], into: &outbox)
        unsubscribe(client)
        remove(client)
        proceed(at: now, into: &outbox)
    }

    /// Fails all requests from `client`, which keeps its subscriptions.
    mutating func appEnded(_ client: ClientID, at now: Instant, into outbox: inout Outbox) {
        guard isAttached(client) else { return }
        cancelRequests(of: client, into: &outbox)
        proceed(at: now, into: &outbox)
    }

    /// Returns whether the unsent write commands of `client` must wait, because the database is being recovered, the
    /// link is being secured, the peer has received only parts of an earlier write, or an earlier request is to be
    /// repeated.
    private func mustDelayCommands(of client: ClientID) -> Bool {
        recovery.isUnderWay || awaitsSecurity || bearers.blocksCommands(of: client)
    }

    private mutating func cancelRequests(of client: ClientID, isLimited: Bool = true, into outbox: inout Outbox) {
        if !mustDelayCommands(of: client) { sendCommands(into: &outbox, isLimited: isLimited) { $0 == client } }
        failRunning(of: client, with: .cancelled, into: &outbox)
        for (number, request) in waiting.removeAll(of: client) {
            answer(request, of: Requester(client, number), with: .cancelled, into: &outbox)
        }
        answerCommands(of: client, into: &outbox)
    }

    private mutating func answerCommands(of client: ClientID, into outbox: inout Outbox) {
        let count = commands.removeAll(of: client)
        if count > 0 { outbox.report(to: client, .peer(peer, .writeCommandsTaken(count))) }
    }

    /// Fails all requests from all clients.
    mutating func failAll(with failure: Failure, into outbox: inout Outbox) {
        failRunning(with: failure, into: &outbox)
        bearers.endAll()
        recovery.stop()
        awaitsSecurity = false
        for (requester, request) in waiting.removeAll() {
            answer(request, of: requester, with: failure, into: &outbox)
        }
        ownRequests.removeAll()
    }

    /// Fails all requests and write commands because the link has ended.
    mutating func close(_ failure: Failure, into outbox: inout Outbox) {
        failAll(with: failure, into: &outbox)
        for client in clients { answerCommands(of: client, into: &outbox) }
    }
}
