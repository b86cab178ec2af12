import BLEWire

/// The pending requests to the controller about one link, and the link's details.
///
///                        accepted, if no event follows
///        ┌───────┐ ───────────────────────────────────────────▶ finished
///        │ asked │ rejected, or no room in the queue ─────────▶ failed
///        └───────┘
///            │ accepted, if the peer must agree
///            ▼
///        ┌──────────┐ the event with the result
///        │ agreeing │ ────────────────────────────────────────▶ finished
///        └──────────┘
///
/// Events do not name the command to which they belong, so an event completes the oldest pending change of its kind. A
/// Data Length Change event completes no request; it only reports the change.
///
/// Core 6.0, Vol 4, Part E, 7.8.18, 7.8.33 and 7.8.49.
struct LinkControl {
    /// A request to the controller about the link.
    enum Request: Equatable {
        /// Read the signal strength.
        case readRSSI
        /// Read the PHYs.
        case readPHY
        case tune(LinkTuning)
        /// Change the connection parameters. If the controllers cannot negotiate them, a peripheral asks its central
        /// with an L2CAP signal.
        case propose(HCI.ConnectionParameters)
    }

    /// A request about a link, made by a client or by the host itself.
    ///
    /// `number` identifies the request among those of the link.
    struct PendingRequest: Equatable {
        let number: UInt32
        /// The client that gets the result; `nil` if the host made the request.
        let requester: Requester?
        let request: Request

        fileprivate func isAnswered(with kind: AgreedChange) -> Bool {
            switch (request, kind) {
            case (.propose, .parameters), (.tune(.parameters), .parameters), (.tune(.physicalLayers), .phy): true
            case (.propose, .phy), (.tune(.parameters), .phy), (.tune(.physicalLayers), .parameters),
                (.tune(.dataLength), _), (.readRSSI, _), (.readPHY, _):
                false
            }
        }
    }

    /// The kinds of change that complete with an event, because both devices must agree to them.
    fileprivate enum AgreedChange { case parameters, phy }

    /// The maximum number of pending changes per link.
    static let limit = 64

    private(set) var details: LinkDetails
    /// The pending requests, oldest first.
    private var pendingRequests: [PendingRequest] = []
    private var lastNumber: UInt32 = 0

    init(_ details: LinkDetails) { self.details = details }

    enum OnAsk: Equatable {
        /// Send the command for the request, which has this number.
        case submit(UInt32)
        /// Too many changes are pending, so this request fails.
        case tooMany(PendingRequest)
    }

    /// Adds a request.
    ///
    /// A new proposal of connection parameters replaces earlier proposals.
    mutating func ask(_ request: Request, for requester: Requester?) -> OnAsk {
        lastNumber &+= 1
        let pending = PendingRequest(number: lastNumber, requester: requester, request: request)
        switch request {
        case .readRSSI, .readPHY: break
        case .tune: guard pendingRequests.count(where: \.isChange) < Self.limit else { return .tooMany(pending) }
        case .propose: pendingRequests.removeAll(where: \.isProposal)
        }
        pendingRequests.append(pending)
        return .submit(lastNumber)
    }

    enum OnAnswer: Equatable {
        /// An event will report the result, or the request is no longer pending.
        case wait
        case finished(PendingRequest)
    }

    /// Records that the controller accepted the command for the request with this number.
    mutating func accepted(_ number: UInt32) -> OnAnswer {
        guard let index = index(of: number) else { return .wait }
        switch pendingRequests[index].request {
        case .readRSSI, .readPHY, .tune(.dataLength): return .finished(pendingRequests.remove(at: index))
        case .tune(.parameters), .tune(.physicalLayers), .propose: return .wait
        }
    }

    /// Records that the controller rejected the command for the request with this number, or that the command queue had
    /// no room for the command.
    mutating func refused(_ number: UInt32) -> OnAnswer {
        index(of: number).map { .finished(pendingRequests.remove(at: $0)) } ?? .wait
    }

    /// Processes the result of a connection parameter update.
    mutating func updated(_ event: HCI.LEConnectionUpdateComplete) -> OnAnswer {
        if event.status == .success { details.set(event.interval, event.latency, event.timeout) }
        return finish(.parameters)
    }

    /// Processes the result of a PHY update.
    mutating func updated(_ event: HCI.LEPHYUpdateComplete) -> OnAnswer {
        if event.status == .success { (details.transmitPHY, details.receivePHY) = (event.transmit, event.receive) }
        return finish(.phy)
    }

    enum OnUpdate: Equatable {
        /// Report the new details to the clients of the link.
        case announce
        /// The details have not changed.
        case ignore
    }

    /// Records the PHYs of the link.
    mutating func physRead(_ layers: HCI.LEReadPHY.Return) -> OnUpdate {
        let known = (details.transmitPHY, details.receivePHY)
        (details.transmitPHY, details.receivePHY) = (layers.transmit, layers.receive)
        return known == (layers.transmit, layers.receive) ? .ignore : .announce
    }

    mutating func updated(_ event: HCI.LEDataLengthChange) {
        details.transmitOctets = Int(event.transmitOctets)
        details.receiveOctets = Int(event.receiveOctets)
    }

    /// Records the security of the link.
    mutating func securityChanged(to security: LinkSecurity) -> OnUpdate {
        let known = details.security
        details.security = security
        return known == security ? .ignore : .announce
    }

    /// Removes and returns the requests of a client that no longer uses the link.
    mutating func removeRequests(_ client: ClientID) -> [PendingRequest] {
        let gone = pendingRequests.filter { $0.requester?.client == client }
        if !gone.isEmpty { pendingRequests.removeAll { $0.requester?.client == client } }
        return gone
    }

    /// Removes and returns all requests, because the link is gone.
    mutating func end() -> [PendingRequest] {
        defer { pendingRequests = [] }
        return pendingRequests
    }

    private mutating func finish(_ kind: AgreedChange) -> OnAnswer {
        pendingRequests.firstIndex { $0.isAnswered(with: kind) }.map { .finished(pendingRequests.remove(at: $0)) }
            ?? .wait
    }

    private func index(of number: UInt32) -> Int? { pendingRequests.firstIndex { $0.number == number } }
}

extension LinkControl.PendingRequest {
    fileprivate var isChange: Bool {
        if case .tune = request { true } else { false }
    }

    fileprivate var isProposal: Bool {
        if case .propose = request { true } else { false }
    }
}

extension LinkDetails {
    /// Records new connection parameters.
    mutating func set(
        _ interval: Reported<ConnectionInterval>,
        _ latency: Reported<PeripheralLatency>,
        _ timeout: Reported<SupervisionTimeout>
    ) {
        self.interval = interval.value
        self.latency = latency.value
        self.timeout = timeout.value
    }
}
