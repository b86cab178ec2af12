import BLEWire

/// The advertisements of all apps, in the sets of an ``AdvertisementPlan``.
struct Advertiser {
    private struct Client {
        let id: ClientID
        let request: AdvertisingRequest
        var phase: AppPhase
        /// True if the client was told that its advertisement started.
        var isAnswered = false
    }

    /// The maximum number of sets for apps; the controller may support fewer.
    static let mostSets = 4

    private var clients: [Client] = []
    /// The first set always exists, the others while they are needed.
    private var sets = [AdvertisingSet()]
    private var setsAddress = false
    /// The number of available sets.
    private var capacity = 1
    private var plan = AdvertisementPlan()
    private var turn = 0
    private var turnEnd: Instant?

    /// Returns whether a client wants to advertise.
    func advertises(for client: ClientID) -> Bool { clients.contains { $0.id == client } }

    /// True if another connection is possible, so that connectable advertising makes sense.
    var isAllowed: Bool {
        get { sets[0].isAllowed }
        set { for index in sets.indices { sets[index].isAllowed = newValue } }
    }

    /// True if the controller is not advertising for apps and no command is pending.
    var isOff: Bool { sets.allSatisfy(\.isOff) }

    /// The time at which to request the next step unless something happens first.
    var deadline: Instant? {
        var least = isAllowed ? turnEnd : nil
        for set in sets { least.bringForward(to: set.deadline) }
        return least
    }

    /// Records a reset of the controller, which ends all advertising.
    ///
    /// - Parameters:
    ///   - setsAddress: Whether each advertising set needs an address.
    ///   - hasSets: Whether the controller supports several sets.
    /// - Returns: The clients that wait for the start of their advertisement.
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
    /// It is answered when advertising has started, or immediately if it is refused.
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
    mutating func move(_ client: ClientID, to phase: AppPhase) {
        for index in clients.indices where clients[index].id == client { clients[index].phase = phase }
        makePlan()
    }

    /// Removes a client's request; returns `true` if its start was not reported yet.
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

    /// Switches to the next turn of the last set, if it is due.
    private mutating func takeTurns(at now: Instant) {
        guard plan.hasTurns(in: capacity) else {
            turnEnd = nil
            return
        }
        if let turnEnd {
            guard turnEnd <= now else { return }
            turn = (turn + 1) % plan.shares.count
            fillSets()
        }
        turnEnd = now + AdvertisementPlan.turn
    }

    /// Returns the next command for the first set, unless one is pending or none is needed.
    mutating func step(at now: Instant) -> AdvertisingSet.Step? {
        takeTurns(at: now)
        return sets[0].step(at: now)
    }

    /// Returns the next commands for the other sets, one for each.
    mutating func furtherSteps(at now: Instant) -> [(set: AdvertisingHandle, step: AdvertisingSet.Step)] {
        guard sets.count > 1 else { return [] }
        var steps: [(set: AdvertisingHandle, step: AdvertisingSet.Step)] = []
        for index in sets.indices.dropFirst() {
            guard let handle = Self.handle(of: index), let step = sets[index].step(at: now) else { continue }
            steps.append((handle, step))
        }
        return steps
    }

    /// Returns the handle of a set.
    ///
    /// Higher numbers belong to test suites.
    private static func handle(of index: Int) -> AdvertisingHandle? {
        index == 0 ? .first : AdvertisingHandle(wire: UInt8(TesterAdvertisingSets.limit + index))
    }

    private func index(of set: AdvertisingHandle) -> Int? { sets.indices.first { Self.handle(of: $0) == set } }

    /// The consequence of a completed command.
    enum OnAnswer: Equatable {
        case proceed
        /// The next command of the set.
        case step(AdvertisingSet.Step)
        /// These clients are not advertising.
        case failed([ClientID])
    }

    /// Processes the completion of a set's pending command.
    mutating func answered(_ status: HCI.Status, in set: AdvertisingHandle = .first, at now: Instant) -> OnAnswer {
        guard let index = index(of: set) else { return .proceed }
        switch sets[index].answered(status, at: now) {
        case .proceed: return .proceed
        case .step(let step): return .step(step)
        case .failed where index > 0:
            // The controller has fewer sets, or testers have them.
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

    /// Returns the clients whose advertisement has started but was not reported yet.
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

    /// Records that a central connected, which ended an advertisement, if it can only have been one.
    mutating func ended() {
        let on = sets.indices.filter { sets[$0].isOn }
        if on.count <= 1 { sets[on.first ?? 0].ended() }
    }

    /// Records that the controller ended a set, as it does when a central connects.
    mutating func ended(_ set: AdvertisingHandle) {
        if let index = index(of: set) { sets[index].ended() }
    }
}
