import BLEWire

/// The one advertisement of the controller, on behalf of everybody who advertises.
///
///        ┌─────┐ parameters, data, scan response, enable ┌────┐
///        │ off │ ───────────▶ preparing ───────────────▶ │ on │
///        └─────┘                                         └────┘
///           ▲ ────────── disable, or a central connects ───┘
///
/// Clients share one set: its content is what all of them want together. A connection ends the advertisement; it goes
/// on as soon as the controller can take another. The connection may be told of before the command that enabled the
/// advertisement is answered, which is overtaken then.
///
/// Core 6.0, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.56.
struct Advertiser {
    /// How long to wait after the controller refused a command.
    static let retryInterval = Duration.seconds(1)

    enum Step: Equatable {
        case parameters(AdvertisementContent)
        /// Gives the set the random address of this host, which the extended commands ask for.
        case address
        /// A part of the data, and which; the older commands know but one.
        case data([UInt8], HCI.DataOperation)
        case scanResponse([UInt8])
        case enable
        case disable
    }

    private struct Client {
        let id: ClientID
        let request: AdvertisingRequest
        var phase: AppPhase
        /// Whether the client has heard that its advertisement started.
        var isAnswered = false
    }

    private enum State {
        case off(notBefore: Instant?)
        /// The step with this number is under way, toward this content.
        case preparing(AdvertisementContent, Int)
        case on(AdvertisementContent)
        /// This was on the air, and its end has come before the answer to its beginning.
        case overtaken(AdvertisementContent)
        case disabling
    }

    private var clients: [Client] = []
    private var content: AdvertisementContent?
    private var state = State.off(notBefore: nil)
    private var setsAddress = false

    /// Whether another connection would be possible, so that it makes sense to advertise.
    var isAllowed = true

    /// Whether the controller does not advertise, and nothing of that is under way.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// When to ask for the next step, if nothing happens before.
    var deadline: Instant? {
        if case .off(let notBefore) = state, content != nil, isAllowed { notBefore } else { nil }
    }

    /// The controller was reset, and nobody advertises any more.
    ///
    /// - Parameter setsAddress: Whether the set needs an address of its own.
    /// - Returns: The clients that wait to hear that their advertisement started.
    mutating func reset(setsAddress: Bool) -> [ClientID] {
        let unanswered = clients.filter { !$0.isAnswered }.map(\.id)
        self = Advertiser()
        self.setsAddress = setsAddress
        return unanswered
    }

    enum OnStart: Equatable { case started, refused(Failure) }

    /// A client wants to advertise; it is answered when that has begun, or at once if it is refused.
    mutating func start(
        _ request: AdvertisingRequest,
        for client: ClientID,
        in phase: AppPhase = .foreground,
        allowsExtended: Bool = true
    ) -> OnStart {
        if let broadcast = request.broadcast {
            guard allowsExtended || !broadcast.isExtended else { return .refused(.notSupported) }
            guard AdvertisementContent.fits(request) else { return .refused(.invalidParameters) }
        }
        guard !clients.contains(where: { $0.id == client }) else { return .refused(.alreadyInProgress) }
        // The device name characteristic has at most 248 octets, and so has whatever is a name.
        guard request.localName?.utf8.count ?? 0 <= 248, request.services.count <= 128 else {
            return .refused(.invalidParameters)
        }
        clients.append(Client(id: client, request: request, phase: phase))
        merge()
        return .started
    }

    /// The app of a client is used in another way.
    mutating func move(_ client: ClientID, to phase: AppPhase) {
        for index in clients.indices where clients[index].id == client { clients[index].phase = phase }
        merge()
    }

    /// A client advertises no more; `true` if it has not even heard that it began.
    mutating func stop(_ client: ClientID) -> Bool {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return false }
        let isAnswered = clients.remove(at: index).isAnswered
        merge()
        return !isAnswered
    }

    private mutating func merge() {
        func requests(in phase: AppPhase) -> [AdvertisingRequest] {
            clients.filter { $0.phase == phase }.map(\.request)
        }
        guard clients.contains(where: { $0.phase != .suspended }) else {
            content = nil
            return
        }
        content = AdvertisementContent(
            AdvertisementContent.merged(requests(in: .foreground)),
            hiding: AdvertisementContent.merged(requests(in: .background)).services
        )
    }

    /// Returns the command that leads toward what is wanted, unless one is under way or none is needed.
    mutating func step(at now: Instant) -> Step? {
        switch state {
        case .off(let notBefore):
            guard isAllowed, let content, notBefore.map({ $0 <= now }) ?? true else { return nil }
            state = .preparing(content, 0)
            return steps(content)[0]
        case .on(let current):
            guard current != content || !isAllowed else { return nil }
            state = .disabling
            return .disable
        case .preparing, .overtaken, .disabling: return nil
        }
    }

    private func steps(_ content: AdvertisementContent) -> [Step] {
        let address: [Step] = setsAddress ? [.address] : []
        let data = content.parts.map { Step.data($0.octets, $0.operation) }
        let response: [Step] = content.isScannable ? [.scanResponse(content.scanResponse)] : []
        return [.parameters(content)] + address + data + response + [.enable]
    }

    /// What the answer to a command means for clients and for what to do next.
    enum OnAnswer: Equatable {
        case proceed
        /// This is the next command.
        case step(Step)
        /// These clients do not advertise.
        case failed([ClientID])
    }

    /// The command that is under way was answered.
    mutating func answered(_ status: HCI.Status, at now: Instant) -> OnAnswer {
        switch state {
        case .preparing(let current, let number):
            guard status == .success else { return fail(at: now) }
            let steps = steps(current)
            guard number + 1 == steps.count else {
                state = .preparing(current, number + 1)
                return .step(steps[number + 1])
            }
            state = .on(current)
        case .overtaken:
            // Nobody can tell whether the controller enabled it before or after what ended, so it is ended for certain.
            state = .disabling
            return .step(.disable)
        case .disabling: state = .off(notBefore: nil)
        case .off, .on: break
        }
        return .proceed
    }

    private mutating func fail(at now: Instant) -> OnAnswer {
        state = .off(notBefore: now + Self.retryInterval)
        let failed = clients.filter { !$0.isAnswered }.map(\.id)
        clients.removeAll { !$0.isAnswered }
        merge()
        return .failed(failed)
    }

    /// What the controller advertises, or has advertised until just now.
    private var onAir: AdvertisementContent? {
        switch state {
        case .on(let current), .overtaken(let current): current
        case .off, .preparing, .disabling: nil
        }
    }

    /// The clients that have not heard yet that what they want is on the air, if it is.
    mutating func takeStarted() -> [ClientID] {
        guard let onAir, onAir == content, clients.contains(where: { !$0.isAnswered }) else { return [] }
        let waiting = clients.filter { !$0.isAnswered }.map(\.id)
        for index in clients.indices { clients[index].isAnswered = true }
        return waiting
    }

    /// The controller has ended the advertisement by itself, as it does when a central connects.
    mutating func ended() {
        switch state {
        case .on: state = .off(notBefore: nil)
        case .preparing(let current, let number) where steps(current)[number] == .enable: state = .overtaken(current)
        case .off, .preparing, .overtaken, .disabling: break
        }
    }
}
