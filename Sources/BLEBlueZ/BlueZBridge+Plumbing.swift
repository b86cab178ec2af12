package import BLEHost
package import BLEWire
import DBus

/// A call that waits for its reply.
struct Caller: Equatable, Sendable {
    let sender: String
    let serial: UInt32
    let expectsNoReply: Bool

    init(_ call: BusMessage) {
        sender = call.sender ?? ""
        serial = call.serial
        expectsNoReply = call.expectsNoReply
    }
}

/// A call that the bridge has made.
struct PendingCall: Sendable {
    enum Purpose: Sendable {
        case credentials(of: String)
        case objects(ofApplication: UInt32)
        case properties(ofAdvertisement: UInt32)
        case monitorObjects(of: UInt32)
        /// A remote device reads a value of an application.
        case read(SessionKey, ServerTransaction)
        /// A remote device writes values of an application; the program has been called with the first one.
        case write(ApplicationWrites)
        /// A program is asked for the socket of an exported characteristic.
        case pipe(BlueZBridge.PipeNumber)
        case answer(ofAgent: String, PeerIdentifier, PairingQuestion)
        /// The result does not matter.
        case none

        typealias SessionKey = BlueZBridge.SessionKey
    }

    /// The bus name of the called program.
    let client: String
    let purpose: Purpose
    let deadline: Instant
}

extension BusReply.Refusal {
    static let tooMany = Self(name: "org.freedesktop.DBus.Error.LimitsExceeded", text: "The program does not answer")
    static let timedOut = Self(name: "org.freedesktop.DBus.Error.NoReply", text: "The program did not answer in time")
}

extension BlueZBridge {
    mutating func reply(to caller: Caller, _ values: [BusValue] = []) {
        flushSignals()
        countReply(to: caller)
        guard !caller.expectsNoReply else { return }
        act(.send(BusMessage(kind: .reply, replySerial: caller.serial, destination: caller.sender, body: values)))
    }

    mutating func refuse(_ caller: Caller, _ error: BlueZError) {
        countReply(to: caller)
        send(error, to: caller)
    }

    /// Counts one of the caller's pending calls as answered.
    mutating func countReply(to caller: Caller) {
        _ = clients.update(caller.sender) { $0.pending = max(0, $0.pending - 1) }
    }

    /// Sends an error to a program whose call was not carried out.
    mutating func send(_ error: BlueZError, to caller: Caller) {
        flushSignals()
        guard !caller.expectsNoReply else { return }
        var message = BusMessage(kind: .error, errorName: error.name, replySerial: caller.serial)
        message.destination = caller.sender
        message.body = [.string(error.text)]
        act(.send(message))
    }

    /// Calls a method that a program or the bus provides.
    ///
    /// If `purpose` is `.none`, the bridge expects no reply. Otherwise the call fails if no reply arrives within
    /// `time`. A call to a program fails immediately if too many calls to that program, or too many calls in total,
    /// have no reply yet.
    mutating func call(
        _ message: BusMessage,
        for purpose: PendingCall.Purpose,
        within time: Duration = Self.callTimeout
    ) {
        flushSignals()
        var message = message
        if case .none = purpose {
            message.expectsNoReply = true
            return act(.send(message))
        }
        let client = message.destination ?? ""
        let isAdmitted =
            calls.count < Limit.allCalls && calls.all.count(where: { $0.client == client }) < Limit.calls
        guard client == Self.bus || isAdmitted else {
            return finish(purpose, .refused(.tooMany))
        }
        lastCall &+= 1
        calls[lastCall] = PendingCall(client: client, purpose: purpose, deadline: now + time)
        wait(until: now + time)
        act(.call(lastCall, message))
    }

    /// Calls a method of an object that a program exports.
    mutating func call(
        _ client: String,
        _ path: String,
        _ interface: String,
        _ member: String,
        _ body: [BusValue] = [],
        for purpose: PendingCall.Purpose = .none,
        within time: Duration = Self.callTimeout
    ) {
        let message = BusMessage(
            kind: .call,
            path: path,
            interface: interface,
            member: member,
            destination: client,
            body: body
        )
        call(message, for: purpose, within: time)
    }

    /// Processes the result of a call that the bridge made for `purpose`; `sockets` is the number of sockets that came
    /// with it.
    mutating func finish(_ purpose: PendingCall.Purpose, _ reply: BusReply, _ sockets: Int = 0) {
        switch purpose {
        case .credentials(let client): identify(client, reply)
        case .objects(ofApplication: let number): addObjects(toApplication: number, reply)
        case .properties(ofAdvertisement: let number): advertise(number, reply)
        case .monitorObjects(of: let number): addMonitors(number, reply)
        case .read(let session, let transaction): respond(session, transaction, reply)
        case .write(let writes): respond(to: writes, reply)
        case .pipe(let number): acquired(number, reply, sockets)
        case .answer(ofAgent: let client, let peer, let question): takeAnswer(of: client, peer, question, reply)
        case .none: break
        }
    }

    /// Opens a session unless it is already open, or its program is not on the bus.
    mutating func open(_ key: SessionKey) {
        guard sessions[key] == nil else { return }
        let credentials = clients[key.client]?.credentials
        // A session without credentials has the bridge's own rights.
        guard key.isOwn || credentials != nil else { return }
        sessions[key] = Session()
        act(.open(key, key.isOwn ? nil : credentials))
    }

    mutating func close(_ key: SessionKey) {
        guard sessions[key] != nil else { return }
        sessions[key] = nil
        act(.close(key))
    }

    /// Sends a request, and opens the session if necessary; does nothing if the session cannot be opened.
    mutating func request(_ key: SessionKey, _ request: ClientRequest) {
        open(key)
        if sessions[key] != nil { act(.request(key, request)) }
    }

    /// Sends a request to a peer, and opens the session if necessary; does nothing if the session cannot be opened.
    ///
    /// `purpose` says what to do with the result.
    mutating func request(
        _ key: SessionKey,
        _ peer: PeerIdentifier,
        _ request: AttributeRequest,
        for purpose: PeerPurpose
    ) {
        open(key)
        let number = sessions.update(key) { session in
            session.lastNumber = session.lastNumber.next
            session.requests[session.lastNumber] = PeerRequestRecord(peer: peer, purpose: purpose)
            return session.lastNumber
        }
        if let number { act(.request(key, .peer(peer, .attribute(request), number))) }
    }

    /// Processes an event that the daemon sends to a session.
    package mutating func receive(_ event: ClientEvent, of key: SessionKey, at time: Instant) -> [Action] {
        now = time
        if sessions[key] != nil { process(event, of: key) }
        return takeActions()
    }

    private mutating func process(_ event: ClientEvent, of key: SessionKey) {
        switch event {
        case .stateChanged(let state): sessionStateChanged(state, of: key)
        case .discovered(let report): receive(report, of: key)
        case .connected(let peer, let parameters): connected(peer, parameters, by: key)
        case .connectFailed(let peer, let failure): connectFailed(peer, failure, by: key)
        case .disconnected(let peer, _, let isReconnecting):
            if !isReconnecting { disconnected(peer, by: key) }
        case .peer(let peer, let event, answering: let number): receive(event, of: peer, number, key)
        case .server(let event): receive(event, of: key)
        case .security(let event): receive(event, of: key)
        case .featuresChanged(let features): if key.isOwn { setFeatures(features) }
        case .restored, .knownPeers, .systemLinks, .scanBegan, .tester, .channel, .alert: break
        }
    }

    private mutating func sessionStateChanged(_ state: HostState, of key: SessionKey) {
        // The host's state is not known yet; another event will report it.
        guard let old = sessions[key], state != .unknown else { return }
        _ = sessions.update(key) { session in
            session.state = state
            session.starting = []
            session.isReset = state != .poweredOn && (session.isReset || state == .resetting)
            // Commands and values are lost with the host, which then does not report that it has taken them.
            if state == .resetting || state == .unsupported { (session.commands, session.updates) = (0, 0) }
        }
        let error = Self.error(for: state)
        switch key.purpose {
        case .central: centralStateChanged(key, state, old)
        case .agent: agentStateChanged(key, state, old)
        case .application(let number):
            if error != nil { closeExportedPipes { $0.key == key } }
            if let error, let caller = applications[number]?.caller {
                removeApplication(number)
                refuse(caller, error)
            } else if old.isReset, state == .poweredOn {
                publish(number)
            }
        case .advertisement(let number):
            // The advertisement ends with the radio, and its program is notified.
            if let error { endAdvertisement(number, error) }
        }
    }

    private mutating func centralStateChanged(_ key: SessionKey, _ state: HostState, _ old: Session) {
        for caller in old.starting {
            if let error = Self.error(for: state) {
                endDiscovery(of: caller.sender)
                refuse(caller, error)
            } else {
                reply(to: caller)
            }
        }
        if let error = Self.error(for: state) {
            endSearches(of: key.client, error)
            loseLinks(of: key, error)
        }
        if key.isOwn {
            setPowered(state == .poweredOn)
        } else if state == .poweredOn {
            let isDiscoveryLost = old.isReset && clients[key.client]?.isDiscovering == true
            let isMonitoring = monitors.all.contains { $0.client == key.client }
            if isDiscoveryLost || isMonitoring { updateScan(of: key.client) }
        }
    }

    private mutating func agentStateChanged(_ key: SessionKey, _ state: HostState, _ old: Session) {
        if state == .unauthorized {
            withdrawAgent(of: key.client)
            for caller in old.starting { refuse(caller, .notAuthorized) }
        } else {
            for caller in old.starting { reply(to: caller) }
        }
        if let error = Self.error(for: state) {
            for device in devices.all { endPairing(key.client, device.peer, error) }
            for removal in removals where removal.caller.sender == key.client { refuse(removal.caller, error) }
            removals.removeAll { $0.caller.sender == key.client }
            return
        }
        if key.isOwn { request(key, .security(.listBonds)) }
        guard old.isReset, let agent = clients[key.client]?.agent else { return }
        request(key, .security(.setAgent(agent.capability)))
    }

    /// Throws an error if a session is open but cannot be used.
    func check(_ key: SessionKey) throws(BlueZError) {
        if let state = sessions[key]?.state, let error = Self.error(for: state) { throw error }
    }

    /// Returns the error for requests while the host is in a state; `nil` if requests can be carried out in that state.
    static func error(for state: HostState) -> BlueZError? {
        switch state {
        case .poweredOn: nil
        case .unauthorized: .notAuthorized
        case .unknown, .resetting, .unsupported, .poweredOff: .notReady
        }
    }
}
