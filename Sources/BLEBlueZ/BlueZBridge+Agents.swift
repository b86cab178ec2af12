import BLEHost
import BLEWire
import DBus

extension BlueZBridge {
    mutating func answerAgents(
        _ member: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        guard let path = body.first?.text else { throw .invalidArguments }
        switch member {
        case "RegisterAgent":
            guard clients[caller.sender]?.agent == nil else { throw .alreadyExists }
            guard let capability = Self.capability(body.last?.text ?? "") else { throw .invalidArguments }
            let key = SessionKey(caller.sender, .agent)
            _ = clients.update(caller.sender) { $0.agent = (path, capability) }
            request(key, .security(.setAgent(capability)))
            guard let state = sessions[key]?.state else {
                _ = sessions.update(key) { $0.starting.append(caller) }
                return nil
            }
            guard state != .unauthorized else {
                withdrawAgent(of: caller.sender)
                throw .notAuthorized
            }
        case "UnregisterAgent":
            guard clients[caller.sender]?.agent?.path == path else { throw .doesNotExist }
            withdrawAgent(of: caller.sender)
        default:
            // The daemon asks the latest agent; there is no further order among them.
            guard clients[caller.sender]?.agent?.path == path else { throw .doesNotExist }
        }
        return []
    }

    private static func capability(_ text: String) -> SMP.IOCapability? {
        if text.isEmpty { return .keyboardDisplay }
        return SMP.IOCapability.allCases.first { $0.description == text }
    }

    /// Removes the pairing agent of a program, and refuses a pending call to register it.
    mutating func withdrawAgent(of name: String) {
        guard clients[name]?.agent != nil else { return }
        _ = clients.update(name) { $0.agent = nil }
        let key = SessionKey(name, .agent)
        for caller in sessions[key]?.starting ?? [] { refuse(caller, .doesNotExist) }
        _ = sessions.update(key) { $0.starting = [] }
        guard isAgentSessionNeeded(by: name) else { return close(key) }
        request(key, .security(.setAgent(nil)))
    }

    /// Returns true while a program has an agent, is pairing, or is removing a bond.
    func isAgentSessionNeeded(by name: String) -> Bool {
        clients[name]?.agent != nil || removals.contains { $0.caller.sender == name }
            || devices.all.contains { $0.pairing[name] != nil }
    }

    mutating func receive(_ event: SecurityEvent, of key: SessionKey) {
        switch event {
        case .asked(let inquiry): ask(inquiry, key)
        case .withdrawn(let peer): withdrawQuestion(about: peer, to: key.client)
        case .paired(let peer, _, let isBonded): paired(peer, isBonded, key)
        case .failed(let peer, let failure): endPairing(key.client, peer, BlueZError(failure))
        case .secured(let peer, _, let isBonded): setPaired(peer, isBonded)
        case .bonds(let bonds):
            if key.isOwn {
                setBonds(bonds)
                finishRemovals()
            } else {
                // The daemon removes a bond only if it belongs to the program's user. The list of all bonds shows
                // whether it did.
                for index in removals.indices where removals[index].caller.sender == key.client {
                    removals[index].isProcessed = true
                }
                request(.own(.agent), .security(.listBonds))
            }
        case .outOfBandDataMade: break
        }
    }

    private mutating func paired(_ peer: PeerIdentifier, _ isBonded: Bool, _ key: SessionKey) {
        if let path = devices[peer]?.path { tree.set(path, BlueZ.device, "Paired", .boolean(true)) }
        if isBonded { setPaired(peer, true) }
        endPairing(key.client, peer)
    }

    private mutating func setPaired(_ peer: PeerIdentifier, _ isBonded: Bool) {
        guard let device = devices[peer], device.isBonded != isBonded, isBonded else { return }
        _ = devices.update(peer) { $0.isBonded = true }
        for name in ["Paired", "Bonded"] { tree.set(device.path, BlueZ.device, name, .boolean(true)) }
    }

    /// Adds the devices in `bonds` and marks them as paired; marks all other devices as not paired.
    private mutating func setBonds(_ bonds: [BondedPeer]) {
        for bond in bonds where addDevice(bond.peer, bond.identity, name: bond.name) { setPaired(bond.peer, true) }
        for device in devices.all where device.isBonded && !bonds.contains(where: { $0.peer == device.peer }) {
            _ = devices.update(device.peer) { $0.isBonded = false }
            for name in ["Paired", "Bonded"] { tree.set(device.path, BlueZ.device, name, .boolean(false)) }
        }
    }

    /// Answers the calls to `RemoveDevice` that the daemon has processed: with an error if the bond still exists.
    private mutating func finishRemovals() {
        let finished = removals.filter(\.isProcessed)
        removals.removeAll(where: \.isProcessed)
        for removal in finished {
            if devices[removal.peer]?.isBonded == true {
                refuse(removal.caller, .notAuthorized)
            } else {
                forget(removal.peer)
                reply(to: removal.caller)
            }
            let name = removal.caller.sender
            if !isAgentSessionNeeded(by: name) { close(SessionKey(name, .agent)) }
        }
    }

    /// Passes a question about pairing to the agent of the program that the session belongs to.
    ///
    /// If a pairing that the program itself has started needs only consent and replaces no bond, the bridge consents
    /// without asking. If the program has no agent, the bridge cancels all other pairings. If it has an agent but the
    /// device is not known yet, the bridge keeps the question until the device is known.
    private mutating func ask(_ inquiry: PairingInquiry, _ key: SessionKey) {
        let peer = inquiry.peer
        guard let agent = clients[key.client]?.agent else {
            // A program that calls Pair but has no agent agrees to a pairing without authentication.
            if case .consent(replacesBond: false) = inquiry.question, devices[peer]?.pairing[key.client] != nil {
                return request(key, .security(.answer(peer, .confirm(true))))
            }
            return request(key, .security(.answer(peer, .cancel)))
        }
        guard let device = devices[peer] else { return hold(inquiry, key) }
        let member: String, arguments: [BusValue]
        switch inquiry.question {
        case .consent(let replacesBond):
            guard device.pairing[key.client] == nil || replacesBond else {
                return request(key, .security(.answer(peer, .confirm(true))))
            }
            (member, arguments) = ("RequestAuthorization", [])
        case .display(let passkey): (member, arguments) = ("DisplayPasskey", [.uint32(passkey), .uint16(0)])
        case .enterPasskey: (member, arguments) = ("RequestPasskey", [])
        case .compare(let number): (member, arguments) = ("RequestConfirmation", [.uint32(number)])
        }
        call(
            key.client,
            agent.path,
            BlueZ.agent,
            member,
            [.path(device.path)] + arguments,
            for: .answer(ofAgent: key.client, peer, inquiry.question),
            within: .seconds(60)
        )
    }

    /// Cancels the pairing question that a program's agent was asked about a peer, unless the agent has answered.
    ///
    /// An agent that shows a passkey counts as having answered, because bluetoothctl 5.66 aborts if it then receives
    /// `Cancel`.
    private mutating func withdrawQuestion(about peer: PeerIdentifier, to client: String) {
        heldInquiries.removeAll { $0.inquiry.peer == peer && $0.key.client == client }
        for number in calls.keys {
            guard case .answer(ofAgent: client, peer, let question)? = calls[number]?.purpose else { continue }
            calls[number] = nil
            act(.forget(number))
            if case .display = question { continue }
            if let agent = clients[client]?.agent { call(client, agent.path, BlueZ.agent, "Cancel") }
        }
    }

    /// Sends the daemon an agent's answer to a pairing question.
    ///
    /// If the agent has shown a passkey without an error, there is no answer to send.
    mutating func takeAnswer(
        of client: String,
        _ peer: PeerIdentifier,
        _ question: PairingQuestion,
        _ reply: BusReply
    ) {
        let key = SessionKey(client, .agent), answer: PairingReply
        guard sessions[key] != nil else { return }
        switch (reply, question) {
        case (.values, .display): return
        case (.values, .consent), (.values, .compare): answer = .confirm(true)
        case (.values(let values, _), .enterPasskey):
            answer = values.first?.integer.flatMap(UInt32.init(exactly:)).map(PairingReply.passkey) ?? .cancel
        case (.refused(let refusal), .consent), (.refused(let refusal), .compare):
            answer = refusal.name == "org.bluez.Error.Rejected" ? .confirm(false) : .cancel
        case (.refused, .display), (.refused, .enterPasskey): answer = .cancel
        }
        request(key, .security(.answer(peer, answer)))
    }
}

/// A pairing question about a device whose connection has not been reported yet.
struct HeldInquiry: Sendable {
    /// The maximum time for which a question is held.
    static let period = Duration.seconds(2)
    /// The maximum number of held questions; further questions are not held, and their pairings are cancelled.
    static let most = 64

    let inquiry: PairingInquiry
    let key: BlueZBridge.SessionKey
    let deadline: Instant
}

extension BlueZBridge {
    /// Keeps a question until the device is known.
    ///
    /// Each session has its own connection to the daemon, so a question about a central may arrive before another
    /// session reports that the central has connected.
    private mutating func hold(_ inquiry: PairingInquiry, _ key: SessionKey) {
        heldInquiries.removeAll { $0.inquiry.peer == inquiry.peer && $0.key == key }
        guard heldInquiries.count < HeldInquiry.most else {
            return request(key, .security(.answer(inquiry.peer, .cancel)))
        }
        heldInquiries.append(HeldInquiry(inquiry: inquiry, key: key, deadline: now + HeldInquiry.period))
        wait(until: now + HeldInquiry.period)
    }

    /// Asks the held questions about a device that is now known.
    mutating func askHeldInquiries(about peer: PeerIdentifier) {
        let held = heldInquiries.filter { $0.inquiry.peer == peer }
        heldInquiries.removeAll { $0.inquiry.peer == peer }
        for one in held where sessions[one.key] != nil && devices[peer] != nil { ask(one.inquiry, one.key) }
    }

    /// Cancels the pairings with devices that have not become known in time.
    mutating func expireHeldInquiries() {
        let expired = heldInquiries.filter { $0.deadline <= now }
        heldInquiries.removeAll { $0.deadline <= now }
        for one in expired where sessions[one.key] != nil {
            request(one.key, .security(.answer(one.inquiry.peer, .cancel)))
        }
    }
}
