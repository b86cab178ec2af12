import BLECrypto
package import BLEWire

/// A whole Bluetooth LE host as a value: bytes, requests and time go in, bytes and events come out.
///
/// Whoever owns a host does three things, always on the same executor:
///
/// 1. calls one of the methods with `at:` when something happens;
/// 2. drains ``next()`` until it returns `nil`, and does what it says;
/// 3. arranges for ``wake(at:)`` at ``deadline``.
///
/// A host is not copyable: there is one owner, and no second truth about a link.
package struct Host: ~Copyable {
    /// Something that the owner must do.
    package enum Output: Equatable, Sendable {
        /// Send a whole H4 packet to the controller, its indicator included.
        case packet([UInt8])
        /// Tell a client.
        case event(ClientEvent, for: ClientID)
        /// Store this over what is stored of the same peer, for ``Configuration/knownPeers`` of the next run.
        indirect case remember(PeerRecord)
        /// Give ``Host/recall(_:)`` what was stored of peers on this radio.
        case recall(VirtualRadio)
        /// The controller does not answer any more: close the transport and open it anew.
        case resetTransport
        /// Log it, count it, or forget it.
        case note(Note)
    }

    /// How far the controller is.
    enum Phase {
        /// There is none, or it is of no use; nothing is sent to it.
        case idle
        case settingUp(ControllerSetup)
        case ready(ControllerDescription)
    }

    let configuration: Configuration
    /// The random address for controllers without a public one.
    let fallbackAddress: DeviceAddress

    var phase = Phase.idle {
        didSet { isReady = if case .ready = phase { true } else { false } }
    }
    /// Whether the controller is ready; beside the phase, which is large, since each packet asks.
    private(set) var isReady = false
    /// What clients were told last.
    var state = HostState.unknown
    /// Who made the controller that was ready last, as it says.
    var controllerMaker: CompanyIdentifier?
    /// The virtual radio that was used last; `nil` if the controller is real, or does not say its run.
    package internal(set) var virtualRadio: VirtualRadio?
    /// Whether the controller has been reset because it did not answer, and has not come up since.
    var isRecovering = false
    /// The commands that the controller claims to know and does not; each once.
    var unknownCommands: [HCI.Opcode] = []

    var clients = ClientTable()
    var peers: PeerTable
    var commands: CommandQueue
    var scheduler: ACLScheduler
    var links = ConnectionTable<LinkState>()
    var discovery: Discovery
    var early = EarlyData()
    var reports: ReportReassembler
    var scanner = Scanner()
    /// How often somebody has begun to scan.
    var scanEpoch = 0
    var attachments = Attachments()
    /// Whether a link may end as soon as what was accepted for it has gone.
    var hasParting = false
    var alarm = Alarm.unknown
    var initiator = Initiator()
    var turns = RadioTurns()
    var advertiser = Advertiser()
    var testerSets = TesterSets()
    var listeners = Listeners()
    /// Keeps this host private, if it is to be.
    var privacy: LocalPrivacy?
    var pairings: Pairings
    var layers: HostLayers
    var outbox = HostOutbox()

    /// Creates a host without a controller.
    ///
    /// - Parameters:
    ///   - configuration: Who this host is, and how much it takes on.
    ///   - random: Where all that is random comes from; the same numbers give the same host.
    package init(configuration: Configuration, random: any RandomNumberGenerator & Sendable) {
        let limits = configuration.limits
        self.configuration = configuration
        fallbackAddress =
            configuration.staticAddress ?? HostIdentity.staticAddress(secret: configuration.identifierSecret)
        peers = PeerTable(secret: configuration.identifierSecret, records: configuration.knownPeers, limits: limits)
        commands = CommandQueue(limit: limits.queuedCommands)
        scheduler = ACLScheduler(queueLimit: limits.queuedFrames)
        discovery = Discovery(limits: limits, secret: configuration.identifierSecret)
        reports = ReportReassembler(limit: limits.partialReports)
        privacy = configuration.isPrivate ? .init(lifetime: configuration.addressLifetime, random: random) : nil
        var pairing = configuration.pairing
        pairing.leastKeySize = configuration.leastKeySize
        pairings = Pairings(random: random, configuration: pairing, limits: limits)
        let offersBearers = configuration.offersEnhancedBearers
        let channels = ChannelLayer(limits: limits, bearerMTU: offersBearers ? configuration.preferredMTU : nil)
        let attributes = AttributeLayer(
            configuration: .init(
                deviceName: configuration.name,
                appearance: configuration.appearance,
                preferredMTU: configuration.preferredMTU,
                leastKeySize: configuration.leastKeySize,
                offersEnhancedBearers: offersBearers,
                resolvesAddresses: configuration.isPrivate,
                limits: limits
            )
        )
        layers = HostLayers(attributes, channels)
    }

    /// Returns the next thing to do, oldest first; `nil` when there is nothing left.
    package mutating func next() -> Output? { outbox.next() }

    /// Exchanges what is empty for all that there is to do, oldest first, and for the packets to send, which are not
    /// among that; what follows from doing it comes after that.
    package mutating func takeAll(into outputs: inout [Output], _ packets: inout OutgoingPackets) {
        outbox.takeAll(into: &outputs, &packets)
    }

    /// Takes what was stored of peers on the virtual radio that the host is about to use.
    package mutating func recall(_ records: [PeerRecord]) {
        guard let virtualRadio else { return }
        peers.recall(records, on: virtualRadio.address)
        for client in clients.centrals { tell(client, .knownPeers(peers.knownPeers)) }
    }

    /// Whether the peers that are to be remembered may be met again in another run.
    ///
    /// Those of a virtual radio are not: who has an address there is another one each time. A virtual controller says
    /// that nobody made it.
    package var hasLastingPeers: Bool { controllerMaker != CompanyIdentifier.none }
}

extension Host {
    /// There is a controller: it is reset and set up, and clients hear when it is ready.
    package mutating func transportOpened(at now: Instant) {
        tearDown(at: now, isSwitchedOff: state == .poweredOff)
        if state == .poweredOn { changeState(to: .resetting) }
        isRecovering = false
        unknownCommands = []
        setUp(at: now)
        proceed(at: now)
    }

    /// The controller went away: every pending request is answered, links end, and clients hear that it is being reset.
    package mutating func transportClosed(at now: Instant) {
        tearDown(at: now)
        changeState(to: .resetting)
        proceed(at: now)
    }

    /// Why there is no controller.
    package enum Absence: Equatable, Sendable {
        /// None is there.
        case missing
        /// There is one that this host may not use.
        case forbidden
        /// There is one that was switched off.
        case switchedOff
    }

    /// There is no controller, and none is to be expected.
    package mutating func transportAbsent(_ absence: Absence = .missing, at now: Instant) {
        tearDown(at: now, isSwitchedOff: absence == .switchedOff)
        switch absence {
        case .missing: changeState(to: .unsupported)
        case .forbidden: changeState(to: .unauthorized)
        case .switchedOff: changeState(to: .poweredOff)
        }
        proceed(at: now)
    }

    /// The user switched Bluetooth off: the same, but it stays off until the transport is opened.
    package mutating func transportSwitchedOff(at now: Instant) {
        tearDown(at: now, isSwitchedOff: true)
        changeState(to: .poweredOff)
        proceed(at: now)
    }

    /// Takes one whole H4 packet from the controller, its indicator included.
    ///
    /// A malformed packet is dropped with a note; it never ends a link.
    package mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        guard isReady, packet.count > 1 else { return receiveInFull(packet, at: now) }
        if packet[0] == HCI.PacketType.acl.wire { return receiveDataAtOnce(packet, at: now) }
        // ``HCI/EventCode/leMeta``
        if packet[1] == 0x3E { receiveReportAtOnce(packet, at: now) } else { completedAtOnce(packet, at: now) }
    }

    /// Takes one whole packet by the long way, which is right for all of them.
    @inline(never)
    mutating func receiveInFull(_ packet: Span<UInt8>, at now: Instant) {
        alarm = .unknown
        if HCI.LEAdvertisingReport.begins(packet), receiveReports(packet, at: now) { return }
        if receiveWhole(packet, at: now) { proceed(at: now) } else { flush(at: now) }
    }

    /// Begins a session of an app; the client is told at once which peers are known and, if that is known, how the
    /// radio is.
    package mutating func open(
        _ client: ClientID,
        role: ClientRole,
        of owner: ClientOwner = .program,
        at now: Instant
    ) {
        clients.open(client, role: role, of: owner)
        introduce(client, role)
        proceed(at: now)
    }

    /// The app of a client has ended, and the session waits for its next launch.
    ///
    /// Nobody waits for answers any more: what peers asked of the app is refused, and its channels end. What it asked
    /// for to stay goes on: its scan, connections and subscriptions, its services and its advertisement.
    package mutating func appEnded(_ client: ClientID, at now: Instant) {
        guard clients.role(of: client) != nil else { return note(.unknownClient(client)) }
        withLayers(at: now) { attributes, channels in
            channels.clientClosed(client, at: now)
            attributes.appEnded(client, at: now)
        }
        for handle in links.handles { answerErrands(of: client, on: handle, at: now) }
        proceed(at: now)
    }

    /// The app of a client was launched again: it hears what every new session does.
    package mutating func appReturned(_ client: ClientID, at now: Instant) {
        guard let role = clients.role(of: client) else { return note(.unknownClient(client)) }
        introduce(client, role)
        proceed(at: now)
    }

    /// Tells a client which peers are known and how the radio is.
    private mutating func introduce(_ client: ClientID, _ role: ClientRole) {
        switch role {
        case .central:
            tell(client, .knownPeers(peers.strangers + peers.knownPeers))
            let links = systemLinks(for: client)
            if !links.isEmpty { tell(client, .systemLinks(links)) }
        case .peripheral:
            let centrals = connectedCentrals(of: client)
            _ = clients.noteCentrals(centrals, toldTo: client)
            if !centrals.isEmpty { tell(client, .server(.centralsConnected(centrals))) }
        case .agent, .tester: break
        }
        if state != .unknown { announceState(to: client, role) }
    }

    /// Ends a session: what this client alone wanted is dropped, and it is told nothing more.
    package mutating func close(_ client: ClientID, at now: Instant) {
        guard clients.close(client) else { return note(.unknownClient(client)) }
        stopScanning(client)
        _ = advertiser.stop(client)
        testerSets.stopAll(of: client)
        listeners.stop(client)
        pairings.leave(client)
        abandon(client, at: now)
        withLayers(at: now) { attributes, channels in
            channels.clientClosed(client, at: now)
            attributes.clientClosed(client, at: now)
        }
        proceed(at: now)
    }

    /// Carries out a client's request.
    ///
    /// A request that the client's role may not make fails. The fast path needs no such check: it only serves clients
    /// that own the attribute, the question or the connection, and only the right role can get one of those.
    package mutating func perform(_ request: ClientRequest, for client: ClientID, at now: Instant) {
        if performAtOnce(request, for: client, at: now) {
            if scheduler.maySend { flush(at: now) }
            return
        }
        guard let role = clients.role(of: client) else { return note(.unknownClient(client)) }
        guard request.isAllowed(to: role) else {
            note(.wrongRole(client, role))
            return refuse(request, of: client, for: .notSupported)
        }
        carryOut(request, for: client, at: now)
        if request.steersController { proceed(at: now) } else { flush(at: now) }
    }

    /// Lets every timer that is due expire; does nothing if none is.
    package mutating func wake(at now: Instant) {
        expire(at: now)
        proceed(at: now)
    }

    /// When to call ``wake(at:)``, or earlier: nothing is looked at unless something has happened that may change it.
    package mutating func nextWake() -> Instant? {
        if case .known(let instant) = alarm { return instant }
        let deadline = deadline
        alarm = .known(deadline)
        return deadline
    }

    /// When to call ``wake(at:)``, if nothing happens before; `mutating` so that links are looked at where they lie.
    package var deadline: Instant? {
        mutating get {
            var least = layers.deadline
            least.bringForward(to: commands.deadline)
            least.bringForward(to: discovery.deadline)
            least.bringForward(to: attachments.deadline)
            least.bringForward(to: pairings.deadline)
            for index in 0..<links.count { least.bringForward(to: links.values[index].deadline) }
            if case .ready = phase {
                least.bringForward(to: scanner.deadline)
                least.bringForward(to: initiator.deadline)
                least.bringForward(to: turns.deadline)
                least.bringForward(to: advertiser.deadline)
                least.bringForward(to: testerSets.deadline)
                least.bringForward(to: privacy?.deadline)
            }
            return least
        }
    }
}
