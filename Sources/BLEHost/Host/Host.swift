import BLECrypto
package import BLEWire

/// A complete Bluetooth LE host as a value: bytes, requests and time go in, bytes and events come out.
///
/// The owner of a host does three things, always on the same executor:
///
/// 1. calls one of the methods with `at:` when something happens;
/// 2. drains ``next()`` until it returns `nil`, and carries out the actions;
/// 3. arranges for ``wake(at:)`` at ``deadline``.
///
/// A host is not copyable, so that there is only one owner, and only one state for each link.
package struct Host: ~Copyable {
    /// An action for the owner.
    package enum Output: Equatable, Sendable {
        /// Send an H4 packet, including its indicator, to the controller.
        case packet([UInt8])
        /// Deliver an event to a client.
        case event(ClientEvent, for: ClientID)
        /// Store this record in place of the stored record of the same peer. Pass it to the next run in
        /// ``Configuration/knownPeers``.
        indirect case remember(PeerRecord)
        /// Pass the stored records of this radio's peers to ``Host/loadPeers(_:)``.
        case loadPeers(VirtualRadio)
        /// Close and reopen the transport, because the controller does not respond.
        case resetTransport
        /// Log this note.
        case note(Note)
    }

    /// The state of the controller.
    enum Phase {
        /// There is no usable controller. The host sends nothing.
        case idle
        case settingUp(ControllerSetup)
        case ready(ControllerDescription)
    }

    let configuration: Configuration
    /// The random static address of this host, for controllers without a public address.
    let fallbackAddress: DeviceAddress

    var phase = Phase.idle {
        didSet { isReady = if case .ready = phase { true } else { false } }
    }
    /// True if the controller is ready.
    ///
    /// Stored in addition to the phase because every packet checks it, and the phase is large.
    private(set) var isReady = false
    /// The last state that was reported to clients.
    var state = HostState.unknown
    /// The manufacturer of the last controller.
    var controllerManufacturer: CompanyIdentifier?
    /// The virtual radio that was used last; `nil` if the last controller was real, or did not report the number of its
    /// run.
    package internal(set) var virtualRadio: VirtualRadio?
    /// True if the controller was reset because it misbehaved, and is not ready yet.
    var isRecovering = false
    /// The commands that the controller lists as supported but rejects, without duplicates.
    var unknownCommands: [HCI.Opcode] = []

    var clients = ClientTable()
    var peers: PeerTable
    var commands: CommandQueue
    var scheduler: ACLScheduler
    var links = ConnectionTable<LinkState>()
    var discovery: Discovery
    var preConnectionData = PreConnectionData()
    var reports: ReportReassembler
    var scanner = Scanner()
    /// The number of scans started so far.
    var scanEpoch = 0
    var clientConnections = ClientConnections()
    var linkShortage = LinkShortage()
    /// True if a link may have been released, which means that it ends once its accepted data have been sent
    /// (``release(_:at:)``).
    var mayHaveReleased = false
    var nextDeadline = CachedDeadline.unknown
    var initiator = Initiator()
    var turns = RadioTurns()
    var advertiser = Advertiser()
    var testerSets = TesterAdvertisingSets()
    var listeners = PacketListeners()
    /// The private addresses and the resolving list of this host; `nil` if the host uses no private addresses.
    var privacy: LocalPrivacy?
    var pairings: Pairings
    var layers: HostLayers
    var outbox = HostOutbox()

    /// Creates a host without a controller.
    ///
    /// - Parameters:
    ///   - configuration: The identity and the settings of this host.
    ///   - random: The source of all random numbers; the same numbers give the same behaviour.
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

    /// Returns the next action, oldest first; `nil` when there is none.
    package mutating func next() -> Output? { outbox.next() }

    /// Moves all pending actions and packets into the caller's empty collections.
    ///
    /// If the owner causes new actions by carrying these out, the next call returns the new actions.
    package mutating func takeAll(into outputs: inout [Output], _ packets: inout OutgoingPackets) {
        outbox.takeAll(into: &outputs, &packets)
    }

    /// Adds the stored peers of the virtual radio that the host is about to use.
    package mutating func loadPeers(_ records: [PeerRecord]) {
        guard let virtualRadio else { return }
        peers.load(records, on: virtualRadio.address)
        for client in clients.centrals { report(to: client, .knownPeers(peers.knownPeers)) }
    }

    /// True if a later run can meet the known peers again.
    ///
    /// False for a virtual radio, where the same address belongs to another device in each run. A controller without a
    /// manufacturer is virtual.
    package var hasLastingPeers: Bool { controllerManufacturer != CompanyIdentifier.none }
}

extension Host {
    /// Resets and sets up a controller; clients receive an event when it is ready.
    package mutating func transportOpened(at now: Instant) {
        tearDown(at: now, isSwitchedOff: state == .poweredOff)
        if state == .poweredOn { changeState(to: .resetting) }
        isRecovering = false
        unknownCommands = []
        setUp(at: now)
        proceed(at: now)
    }

    /// Records that the controller is lost: pending requests fail, links end, and clients receive the state
    /// ``HostState/resetting``.
    package mutating func transportClosed(at now: Instant) {
        tearDown(at: now)
        changeState(to: .resetting)
        proceed(at: now)
    }

    /// The reason why there is no controller.
    package enum Absence: Equatable, Sendable {
        /// No controller was found.
        case missing
        /// The operating system does not allow this program to use the controller.
        case forbidden
        /// The controller was switched off.
        case switchedOff
    }

    /// Records that there is no controller, and that none is expected.
    package mutating func transportAbsent(_ absence: Absence = .missing, at now: Instant) {
        tearDown(at: now, isSwitchedOff: absence == .switchedOff)
        switch absence {
        case .missing: changeState(to: .unsupported)
        case .forbidden: changeState(to: .unauthorized)
        case .switchedOff: changeState(to: .poweredOff)
        }
        proceed(at: now)
    }

    /// Records that the user switched Bluetooth off.
    ///
    /// Bluetooth stays off until the transport is opened.
    package mutating func transportSwitchedOff(at now: Instant) {
        tearDown(at: now, isSwitchedOff: true)
        changeState(to: .poweredOff)
        proceed(at: now)
    }

    /// Processes an H4 packet, including its indicator, from the controller.
    ///
    /// A malformed packet is dropped with a note; it never ends a link.
    package mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        guard isReady, packet.count > 1 else { return receiveInFull(packet, at: now) }
        if packet[0] == HCI.PacketType.acl.wire { return receiveDataFast(packet, at: now) }
        // The event code ``HCI/EventCode/leMeta``.
        if packet[1] == 0x3E { receiveReportFast(packet, at: now) } else { completedFast(packet, at: now) }
    }

    /// Processes a packet of any kind on the general path.
    @inline(never)
    mutating func receiveInFull(_ packet: Span<UInt8>, at now: Instant) {
        nextDeadline = .unknown
        if HCI.LEAdvertisingReport.begins(packet), receiveReports(packet, at: now) { return }
        if receiveWhole(packet, at: now) { proceed(at: now) } else { flush(at: now) }
    }

    /// Opens a session for an app.
    ///
    /// A central immediately receives the known peers and the connected devices, and a peripheral its connected
    /// centrals. Then the client receives the state of the radio, if the state is known.
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

    /// Records that a client's app has ended, and that its session waits for the app's next launch.
    ///
    /// Peers' pending requests to the app fail, and the session's channels are closed. The client's scan, connections,
    /// subscriptions, services and advertisement continue.
    package mutating func appEnded(_ client: ClientID, at now: Instant) {
        guard clients.role(of: client) != nil else { return note(.unknownClient(client)) }
        withLayers(at: now) { attributes, channels in
            channels.clientClosed(client, at: now)
            attributes.appEnded(client, at: now)
        }
        for handle in links.handles { failPendingRequests(of: client, on: handle, at: now) }
        proceed(at: now)
    }

    /// Records that a client's app was launched again.
    ///
    /// The client receives the same first events as in a new session.
    package mutating func appReturned(_ client: ClientID, at now: Instant) {
        guard let role = clients.role(of: client) else { return note(.unknownClient(client)) }
        introduce(client, role)
        proceed(at: now)
    }

    /// Sends a client the first events of a session: the known peers and connected devices, or the connected centrals;
    /// then the state of the radio.
    private mutating func introduce(_ client: ClientID, _ role: ClientRole) {
        switch role {
        case .central:
            report(to: client, .knownPeers(peers.recentUnknownPeers + peers.knownPeers))
            let links = systemLinks(for: client)
            if !links.isEmpty { report(to: client, .systemLinks(links)) }
        case .peripheral:
            let centrals = connectedCentrals(of: client)
            _ = clients.noteCentrals(centrals, toldTo: client)
            if !centrals.isEmpty { report(to: client, .server(.centralsConnected(centrals))) }
        case .agent, .tester: break
        }
        if state != .unknown { announceState(to: client, role) }
    }

    /// Closes a session.
    ///
    /// Everything that only this client requested ends, and the client receives no more events.
    package mutating func close(_ client: ClientID, at now: Instant) {
        guard clients.close(client) else { return note(.unknownClient(client)) }
        stopScanning(client)
        _ = advertiser.stop(client)
        testerSets.stopAll(of: client)
        listeners.stop(client)
        pairings.removeClient(client)
        abandon(client, at: now)
        withLayers(at: now) { attributes, channels in
            channels.clientClosed(client, at: now)
            attributes.clientClosed(client, at: now)
        }
        proceed(at: now)
    }

    /// Carries out a client's request.
    ///
    /// The request fails if the client's role does not allow it. The fast path does not check the role: it serves only
    /// a client that owns the attribute, request or connection, and only a client with the right role can own these.
    package mutating func perform(_ request: ClientRequest, for client: ClientID, at now: Instant) {
        if performFast(request, for: client, at: now) {
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

    /// Processes all expired timers.
    package mutating func wake(at now: Instant) {
        expire(at: now)
        proceed(at: now)
    }

    /// Returns the time at which to call ``wake(at:)``, from a cache if nothing has happened that may change it.
    ///
    /// The result may be earlier than ``deadline``; it is `nil` if nothing is due.
    package mutating func nextWake() -> Instant? {
        if case .known(let instant) = nextDeadline { return instant }
        let deadline = deadline
        nextDeadline = .known(deadline)
        return deadline
    }

    /// The time at which to call ``wake(at:)`` unless something happens first.
    ///
    /// `mutating` to avoid a copy.
    package var deadline: Instant? {
        mutating get {
            var least = layers.deadline
            least.bringForward(to: commands.deadline)
            least.bringForward(to: discovery.deadline)
            least.bringForward(to: clientConnections.deadline)
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
