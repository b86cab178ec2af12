import BLEHost
import BLEWire

/// The translation of a test suite's JSON lines into requests to a host, and of the host's events into JSON lines.
///
/// Requests are performed in order, once the host is ready.
struct HostConversation {
    /// An action to perform.
    enum Output: Equatable {
        case line(HostLine)
        case request(ClientRequest)
    }

    private var outputs: [Output] = []
    private var state = HostState.unknown
    /// The requests that wait until the host is ready.
    private var waiting: [HostCall] = []
    private var resets: [Int] = []
    private var addresses: [Int] = []
    private var scans: [Int] = []
    private var reportsLegacyOnly = false
    private var sets = RequestedSets()
    private var links = ConnectedLinks()
    private var attributes = AttributeCalls()
    /// The connection requests that wait for the host to report the peer identifier for an address.
    private var sought: [(id: Int, address: DeviceAddress, ownAddress: OwnAddressKind?)] = []
    private var connecting: [(id: Int, peer: PeerIdentifier)] = []

    /// Returns and removes the actions to perform, in order.
    mutating func takeOutputs() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    mutating func receive(_ line: String) {
        do throws(HostCall.Refusal) {
            let call = try HostCall(line: line)
            if state == .poweredOn, resets.isEmpty { carryOut(call) } else { hold(call) }
        } catch {
            sendLine(.failure(error.id, error.reason))
        }
    }

    private mutating func hold(_ call: HostCall) {
        switch state {
        case .unsupported, .unauthorized, .poweredOff:
            sendLine(.failure(call.id, "the controller cannot be used: \(state)"))
        case .unknown, .resetting, .poweredOn: waiting.append(call)
        }
    }

    private mutating func carryOut(_ call: HostCall) {
        do { try perform(call) } catch { sendLine(.failure(call.id, "\(error)")) }
    }

    private mutating func ask(_ request: ClientRequest) { outputs.append(.request(request)) }

    private mutating func sendLine(_ line: HostLine) { outputs.append(.line(line)) }

    private mutating func perform(_ call: HostCall) throws {
        switch call.name {
        case "factory_reset":
            resets.append(call.id)
            ask(.security(.setAgent(nil)))
            ask(.tester(.reset))
        case "read_local_address":
            addresses.append(call.id)
            ask(.tester(.readLocalAddress))
        case "advertise":
            let request = try call.advertisingSet()
            ask(.tester(.startSet(sets.start(call.id), request)))
        case "stop_advertising":
            ask(.tester(.stopSet(sets.stop(try call.neededNumber("set", in: sets.range), call.id))))
        case "scan":
            let scan = try call.scan()
            reportsLegacyOnly = scan.isLegacy
            scans.append(call.id)
            ask(.tester(.listen(scan.parameters)))
        case "stop_scan":
            ask(.tester(.stopListening))
            sendLine(.result(call.id))
        case "connect":
            let address = try call.address()
            sought.append((call.id, address, try call.ownAddress()))
            ask(.tester(.find(address)))
        case "disconnect":
            let link = try links.link(call)
            links.end(link.handle, call.id)
            ask(link.role == .central ? .cancelConnection(link.peer) : .server(.disconnect(link.peer)))
        case "secure": try secure(call)
        case "discover", "read", "write", "subscribe": follow(try attributes.begin(call, on: try links.link(call)))
        case "on_pairing":
            ask(.security(.setAgent(try call.capability())))
            sendLine(.result(call.id))
        case "pairing_reply":
            let peer = try links.link(call).peer
            var reply = try call.pairingReply()
            // If no question waits for a reply, a refusal cancels the pairing in progress.
            if reply == .confirm(false), !links.isAsked(about: peer) { reply = .cancel }
            links.ask(peer, false)
            ask(.security(.answer(peer, reply)))
            sendLine(.result(call.id))
        default: throw InvalidInput("op: “\(call.name)” is not known")
        }
    }

    private mutating func secure(_ call: HostCall) throws {
        let link = try links.link(call), level = try call.neededNumber("level", in: 1...4)
        let present = links.level(of: link.handle)
        guard present < level else { return sendLine(.result(call.id, ["level": .number(present)])) }
        links.secure(link.handle, level, call.id)
        ask(
            .security(
                .setPolicy(level == 4 ? PairingPolicy(requiresSecureConnections: true, leastKeySize: 16) : .init())
            )
        )
        ask(.tester(.secure(link.peer, needsAuthentication: level > 2)))
    }

    mutating func receive(_ event: ClientEvent) {
        switch event {
        case .stateChanged(let state): moved(to: state)
        case .connected(let peer, _):
            connected(peer)
            follow(attributes.connected(peer))
        case .disconnected(let peer, let failure, _): follow(attributes.disconnected(peer, failure))
        case .peer(let peer, let event, let number):
            follow(attributes.receive(event, of: peer, answering: number))
        case .connectFailed(let peer, let failure):
            for one in connecting where one.peer == peer { sendLine(.failure(one.id, "\(failure)")) }
            connecting.removeAll { $0.peer == peer }
            follow(attributes.disconnected(peer, failure))
        case .tester(let event): receive(event)
        case .security(let event): receive(event)
        case .restored, .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered, .server, .channel,
            .alert:
            break
        }
    }

    private mutating func follow(_ steps: [AttributeCalls.Step]) {
        for step in steps {
            switch step {
            case .sendLine(let line): sendLine(line)
            case .ask(let request): ask(request)
            }
        }
    }

    private mutating func moved(to state: HostState) {
        self.state = state
        guard state == .poweredOn else {
            follow(attributes.lost("the controller cannot be used: \(state)"))
            for line in links.lost() { sendLine(line) }
            let unanswered = sought.map(\.id) + addresses + scans
            for id in unanswered { sendLine(.failure(id, "the controller cannot be used: \(state)")) }
            (sought, addresses, scans) = ([], [], [])
            if state != .resetting {
                for call in waiting { sendLine(.failure(call.id, "the controller cannot be used: \(state)")) }
                waiting = []
            }
            return
        }
        for id in resets { sendLine(.result(id)) }
        resets = []
        let calls = waiting
        waiting = []
        for call in calls { if resets.isEmpty { carryOut(call) } else { waiting.append(call) } }
    }

    private mutating func connected(_ peer: PeerIdentifier) {
        guard let handle = links.handle(to: peer) else { return }
        for one in connecting where one.peer == peer {
            sendLine(.result(one.id, ["connection": .number(Int(handle.wire))]))
        }
        connecting.removeAll { $0.peer == peer }
    }

    private mutating func receive(_ event: TesterEvent) {
        switch event {
        case .localAddress(let address):
            for id in addresses { sendLine(.result(id, address.values)) }
            addresses = []
        case .found(let peer, let address):
            guard let index = sought.firstIndex(where: { $0.address == address }) else { return }
            let one = sought.remove(at: index)
            connecting.append((one.id, peer))
            ask(.connect(peer, ConnectRequest(ownAddress: one.ownAddress)))
        case .setStarted(let set, let failure): if let line = sets.started(set, failure) { sendLine(line) }
        case .setEnded(let set): for line in sets.ended(set) { sendLine(line) }
        case .listening(let failure):
            guard !scans.isEmpty else { return }
            let id = scans.removeFirst()
            sendLine(failure.map { .failure(id, "\($0)") } ?? .result(id))
        case .received(let packet): if packet.packet.isLegacy || !reportsLegacyOnly { sendLine(packet.line) }
        case .linkMade(let link):
            links.add(link)
            sendLine(link.line)
        case .linkEnded(let handle, let status): for line in links.ended(handle, status) { sendLine(line) }
        }
    }

    private mutating func receive(_ event: SecurityEvent) {
        switch event {
        case .asked(let inquiry):
            guard let handle = links.handle(to: inquiry.peer) else { return }
            links.ask(inquiry.peer, true)
            sendLine(inquiry.question.line(on: handle))
        case .secured(let peer, let strength, let isBonded):
            for line in links.secured(peer, strength, isBonded: isBonded) { sendLine(line) }
        case .failed(let peer, let failure): for line in links.failed(peer, failure) { sendLine(line) }
        case .withdrawn(let peer): links.ask(peer, false)
        case .paired, .bonds, .outOfBandDataMade: break
        }
    }
}
