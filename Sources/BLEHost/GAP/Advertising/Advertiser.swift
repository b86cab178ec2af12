import BLEWire

/// The advertising of all apps, with the advertising sets of an ``AdvertisementPlan``.
struct Advertiser {
    private struct Client {
        let id: ClientID
        let request: AdvertisingRequest
        var phase: AppPhase
        /// True if the client has been informed that its advertisement started.
        var isAnswered = false
    }

    /// The maximum number of advertising sets for apps.
    ///
    /// The controller may support fewer.
    static let mostSets = 4

    private var clients: [Client] = []
    /// The advertising sets.
    ///
    /// The first one always exists, the others only while they are needed.
    private var sets = [AdvertisingSet()]
    private var setsAddress = false
    /// The number of sets that the controller is assumed to have for apps.
    ///
    /// It is reduced when the controller refuses a set.
    private var capacity = 1
    private var plan = AdvertisementPlan()
    private var turn = 0
    private var turnEnd: Instant?

    /// Returns whether a client has requested advertising.
    func advertises(for client: ClientID) -> Bool { clients.contains { $0.id == client } }

    /// True if apps' advertisements may be sent now: the host can accept another connection, ``LocalPrivacy`` does not
    /// need a pause, and no test suite uses the controller's only advertisement.
    var isAllowed: Bool {
        get { sets[0].isAllowed }
        set { for index in sets.indices { sets[index].isAllowed = newValue } }
    }

    /// True if the controller is not advertising for apps, and no command about it is pending.
    var isOff: Bool { sets.allSatisfy(\.isOff) }

    /// The time to request the next step; `nil` if nothing is due.
    var deadline: Instant? {
        var least = isAllowed ? turnEnd : nil
        for set in sets { least.bringForward(to: set.deadline) }
        return least
    }

    /// Records that the controller was reset, which ends all advertising.
    ///
    /// - Parameters:
    ///   - setsAddress: True if each advertising set needs its own address.
    ///   - hasSets: True if the controller supports several sets.
    /// - Returns: The clients whose advertisement had not started yet.
    mutating func reset(setsAddress: Bool, hasSets: Bool = false) -> [ClientID] {
        let unanswered = clients.filter { !$0.isAnswered }.map(\.id)
        self = Advertiser()
        self.setsAddress = setsAddress
        sets = [AdvertisingSet(setsAddress: setsAddress)]
        capacity = hasSets ? Self.mostSets : 1
        return unanswered
    }

    enum OnStart: Equatable { case started, refused(Failure) }

    /// Adds a client's request.
    ///
    /// If the request is not refused here, ``takeStarted()`` or ``OnAnswer/failed(_:)`` later reports whether
    /// advertising has started. `allowsExtended` is true if the controller can send extended advertisements.
    mutating func start(
        _ request: AdvertisingRequest,
        for client: ClientID,
        in phase: AppPhase = .foreground,
        allowsExtended: Bool = true
    ) -> OnStart {
        if let broadcast = request.broadcast {
            guard allowsExtended || !broadcast.isExtended else { return .refused(.notSupported) }
        }
        guard request.error == nil else { return .refused(.invalidParameters) }
        guard !clients.contains(where: { $0.id == client }) else { return .refused(.alreadyInProgress) }
        clients.append(Client(id: client, request: request, phase: phase))
        makePlan()
        return .started
    }

    /// Records that a client's app has changed its phase.
    mutating func changePhase(of client: ClientID, to phase: AppPhase) {
        for index in clients.indices where clients[index].id == client { clients[index].phase = phase }
        makePlan()
    }

    /// Removes a client's request.
    ///
    /// Returns `true` if there was a request, and the client had not been informed that advertising started.
    mutating func stop(_ client: ClientID) -> Bool {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return false }
        let isAnswered = clients.remove(at: index).isAnswered
        makePlan()
        return !isAnswered
    }

    private mutating func makePlan() {
        plan = AdvertisementPlan(clients.map { .init(client: $0.id, request: $0.request, phase: $0.phase) })
        fillSets()
    }

    private mutating func fillSets() {
        let contents = plan.contents(in: capacity, turn: turn)
        while sets.count < contents.count {
            var set = AdvertisingSet(setsAddress: setsAddress, isTransient: true)
            set.isAllowed = isAllowed
            sets.append(set)
        }
        for index in sets.indices { sets[index].wanted = index < contents.count ? contents[index] : nil }
    }

    /// If advertisements take turns in the last set, and the current turn is over, starts the next turn.
    private mutating func takeTurns(at now: Instant) {
        guard plan.hasTurns(in: capacity) else {
            turnEnd = nil
            return
        }
        if let turnEnd {
            guard turnEnd <= now else { return }
            turn = plan.turn(after: turn, in: capacity)
            fillSets()
        }
        turnEnd = now + AdvertisementPlan.turn
    }

    /// Returns the next command for the first set; `nil` if one is pending or none is needed.
    mutating func step(at now: Instant) -> AdvertisingSet.Step? {
        takeTurns(at: now)
        return sets[0].step(at: now)
    }

    /// Returns the next commands for all sets except the first, at most one for each.
    mutating func furtherSteps(at now: Instant) -> [(set: AdvertisingHandle, step: AdvertisingSet.Step)] {
        guard sets.count > 1 else { return [] }
        var steps: [(set: AdvertisingHandle, step: AdvertisingSet.Step)] = []
        for index in sets.indices.dropFirst() {
            guard let handle = Self.handle(of: index), let step = sets[index].step(at: now) else { continue }
            steps.append((handle, step))
        }
        return steps
    }

    /// Returns the handle of the set at `index`.
    ///
    /// The handles from 1 to ``TesterAdvertisingSets/limit`` are reserved for test suites.
    private static func handle(of index: Int) -> AdvertisingHandle? {
        index == 0 ? .first : AdvertisingHandle(wire: UInt8(TesterAdvertisingSets.limit + index))
    }

    private func index(of set: AdvertisingHandle) -> Int? { sets.indices.first { Self.handle(of: $0) == set } }

    /// The action that the caller must take after the controller has completed a command.
    enum OnAnswer: Equatable {
        case proceed
        /// Send the next command of the set.
        case step(AdvertisingSet.Step)
        /// The controller refused to advertise for these clients.
        case failed([ClientID])
    }

    /// Processes the completion of a set's pending command.
    mutating func answered(_ status: HCI.Status, in set: AdvertisingHandle = .first, at now: Instant) -> OnAnswer {
        guard let index = index(of: set) else { return .proceed }
        switch sets[index].answered(status, at: now) {
        case .proceed: return .proceed
        case .step(let step): return .step(step)
        case .failed where index > 0:
            // The controller has fewer sets than assumed, or test suites use them.
            capacity = min(capacity, index)
            fillSets()
            return .proceed
        case .failed:
            let refused = sets[0].wanted
            let failed = clients.filter { !$0.isAnswered && plan.content(for: $0.id) == refused }.map(\.id)
            clients.removeAll { failed.contains($0.id) }
            makePlan()
            return .failed(failed)
        }
    }

    /// Returns the clients whose advertisement has started since the last call.
    mutating func takeStarted() -> [ClientID] {
        var started: [ClientID] = []
        for index in clients.indices where !clients[index].isAnswered {
            guard let content = plan.content(for: clients[index].id),
                sets.contains(where: { $0.onAir == content && $0.wanted == content })
            else { continue }
            clients[index].isAnswered = true
            started.append(clients[index].id)
        }
        return started
    }

    /// Records that a central connected, which ended an advertisement.
    ///
    /// Has no effect if several sets were advertising, because the controller then reports which one ended.
    mutating func ended() {
        let on = sets.indices.filter { sets[$0].isOn }
        if on.count <= 1 { sets[on.first ?? 0].ended() }
    }

    /// Records that the controller ended the advertising of a set, for example because a central connected.
    mutating func ended(_ set: AdvertisingHandle) {
        if let index = index(of: set) { sets[index].ended() }
    }
}
