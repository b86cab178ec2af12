import BLEWire

/// The one advertisement of all apps, in a set that they share.
///
/// Its content is what all of them want together.
struct Advertiser {
    private struct Client {
        let id: ClientID
        let request: AdvertisingRequest
        var phase: AppPhase
        /// Whether the client has heard that its advertisement started.
        var isAnswered = false
    }

    private var clients: [Client] = []
    private var shared = AdvertisingSet()

    /// Whether another connection would be possible, so that it makes sense to advertise.
    var isAllowed: Bool {
        get { shared.isAllowed }
        set { shared.isAllowed = newValue }
    }

    /// Whether the controller does not advertise for apps, and nothing of that is under way.
    var isOff: Bool { shared.isOff }

    /// When to ask for the next step, if nothing happens before.
    var deadline: Instant? { shared.deadline }

    /// The controller was reset, and nobody advertises any more.
    ///
    /// - Parameter setsAddress: Whether the set needs an address of its own.
    /// - Returns: The clients that wait to hear that their advertisement started.
    mutating func reset(setsAddress: Bool) -> [ClientID] {
        let unanswered = clients.filter { !$0.isAnswered }.map(\.id)
        self = Advertiser()
        shared = AdvertisingSet(setsAddress: setsAddress)
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
            shared.wanted = nil
            return
        }
        shared.wanted = AdvertisementContent(
            AdvertisementContent.merged(requests(in: .foreground)),
            hiding: AdvertisementContent.merged(requests(in: .background)).services
        )
    }

    /// Returns the command that leads toward what is wanted, unless one is under way or none is needed.
    mutating func step(at now: Instant) -> AdvertisingSet.Step? { shared.step(at: now) }

    /// What the answer to a command means for clients and for what to do next.
    enum OnAnswer: Equatable {
        case proceed
        /// This is the next command.
        case step(AdvertisingSet.Step)
        /// These clients do not advertise.
        case failed([ClientID])
    }

    /// The command that is under way was answered.
    mutating func answered(_ status: HCI.Status, at now: Instant) -> OnAnswer {
        switch shared.answered(status, at: now) {
        case .proceed: return .proceed
        case .step(let step): return .step(step)
        case .failed:
            let failed = clients.filter { !$0.isAnswered }.map(\.id)
            clients.removeAll { !$0.isAnswered }
            merge()
            return .failed(failed)
        }
    }

    /// The clients that have not heard yet that what they want is on the air, if it is.
    mutating func takeStarted() -> [ClientID] {
        guard let onAir = shared.onAir, onAir == shared.wanted, clients.contains(where: { !$0.isAnswered }) else {
            return []
        }
        let waiting = clients.filter { !$0.isAnswered }.map(\.id)
        for index in clients.indices { clients[index].isAnswered = true }
        return waiting
    }

    /// The controller has ended the advertisement by itself, as it does when a central connects.
    mutating func ended() { shared.ended() }
}
