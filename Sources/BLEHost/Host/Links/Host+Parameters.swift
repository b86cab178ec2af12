import BLEWire

// The connection parameters that the ends of a link agree on.
extension Host {
    /// The supervision timeout that this host requests for its links.
    var supervisionTimeout: SupervisionTimeout {
        max(SupervisionTimeout(configuration.supervisionTimeout), HCI.ConnectionParameters.leastTimeout)
    }

    /// The connection parameters of the current attempt to create a link.
    var parametersOfNewLinks: HCI.ConnectionParameters {
        parameters(initiator.usesShortInterval ? .fastStart : .central)
    }

    /// True if the next link may begin with a short interval (``FastStart``).
    ///
    /// The configuration must leave the interval to the host, and only a few links may use a short interval at a time.
    var allowsFastStart: Bool {
        configuration.connectionInterval == nil
            && links.values.count { $0.fastStart.isUnderWay } < FastStart.mostLinks
    }

    /// Returns the connection parameters of links that this host creates.
    private func parameters(_ pace: HCI.ConnectionParameters.IntervalPreference) -> HCI.ConnectionParameters {
        var parameters = HCI.ConnectionParameters(pace, timeout: supervisionTimeout)
        if let interval = configuration.connectionInterval {
            (parameters.minimum, parameters.maximum) = (interval, interval)
        }
        parameters.latency = configuration.peripheralLatency
        // Core 6.0, Vol 6, Part B, 4.5.2: The timeout must be more than twice the longest time between connection
        // events. Four times that time lets some events fail.
        let silence = parameters.maximum.duration * (1 + Int(parameters.latency.wire))
        parameters.timeout = max(parameters.timeout, SupervisionTimeout(silence * 4))
        return parameters
    }

    /// Begins the fast start of a new link, if this host created the link with the short connection interval.
    mutating func beginFastStart(of handle: ConnectionHandle, at now: Instant) {
        guard configuration.connectionInterval == nil, let interval = links[handle]?.details.interval,
            interval < parameters(.central).minimum
        else { return }
        links.update(handle) { $0.fastStart.begin(at: now) }
    }

    /// Requests the usual connection interval for a link once its clients are idle, or once its fast start has reached
    /// the time limit.
    mutating func checkFastStart(of handle: ConnectionHandle, at now: Instant) {
        guard links[handle]?.fastStart.deadline.map({ $0 <= now }) ?? false else { return }
        let quietSince = layers.withAttributes { $0.quietSince(on: handle) }
        guard links.update(handle, { $0.fastStart.check(quietSince: quietSince, at: now) }) == .lengthen else { return }
        sendCommand(.tune(.parameters(parameters(.central))), about: handle, for: nil, at: now)
    }

    /// Accepts the parameters that a peripheral requests with an L2CAP signal if they are valid.
    ///
    /// Rejects them if they are invalid, or if the queue of commands is full.
    mutating func answer(
        _ request: Signal.ConnectionParameterUpdateRequest,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        let parameters = HCI.ConnectionParameters(
            minimum: request.intervalMin,
            maximum: request.intervalMax,
            latency: request.latency,
            timeout: request.timeout
        )
        let update = parameters.map { HCI.LEConnectionUpdate(handle: handle, parameters: $0) }
        let isGranted = update.map { submit(.leConnectionUpdate($0), for: .link(handle), at: now) } ?? false
        if isGranted { links.update(handle) { $0.fastStart.stop() } }
        let response = Signal.ConnectionParameterUpdateResponse(isGranted ? .accepted : .rejected)
        let packet = SignalPacket(.connectionParameterUpdateResponse(response), identifier: identifier)
        send(OutgoingPayload(packet.encoded), on: .leSignaling, of: handle, at: now)
    }

    /// Accepts the parameters that a peer's controller requests if they are valid; otherwise rejects them.
    mutating func answer(_ event: HCI.LERemoteConnectionParameterRequest, at now: Instant) {
        let handle = event.handle
        guard links[handle] != nil else { return note(.unknownLink(handle)) }
        let parameters = HCI.ConnectionParameters(
            minimum: event.minimum.wire,
            maximum: event.maximum.wire,
            latency: event.latency.wire,
            timeout: event.timeout.wire
        )
        let command: HCICommandPacket =
            if let parameters {
                .leRemoteConnectionParameterRequestReply(.init(handle: handle, parameters: parameters))
            } else {
                .leRemoteConnectionParameterRequestNegativeReply(
                    .init(handle: handle, reason: .unacceptableConnectionParameters)
                )
            }
        if parameters != nil { links.update(handle) { $0.fastStart.stop() } }
        submit(command, for: .reply(handle), at: now)
    }

    /// Asks one of a client's centrals for a shorter or longer connection interval, which trades delay against energy.
    ///
    /// If another app also uses the link, the interval can only become shorter. The controllers negotiate the change if
    /// both support that; otherwise this host asks the central's host.
    mutating func setLatency(
        _ latency: ConnectionLatency,
        of peer: PeerIdentifier,
        for client: ClientID,
        at now: Instant
    ) {
        guard case .ready = phase, let handle = link(of: client, toCentral: peer),
            latency == .low || !isShared(handle, beyondAppOf: client)
        else { return note(.foreignCentral(client)) }
        let parameters = HCI.ConnectionParameters(.peripheral(latency), timeout: supervisionTimeout)
        sendCommand(.propose(parameters), about: handle, for: nil, at: now)
    }

    /// Asks the central's host for new connection parameters, with an L2CAP signal.
    mutating func signal(_ parameters: HCI.ConnectionParameters, on handle: ConnectionHandle, at now: Instant) {
        let request = Signal.ConnectionParameterUpdateRequest(
            intervalMin: parameters.minimum.wire,
            intervalMax: parameters.maximum.wire,
            latency: parameters.latency.wire,
            timeout: parameters.timeout.wire
        )
        withLayers(at: now) { _, channels in channels.request(request, on: handle, at: now) }
    }
}
