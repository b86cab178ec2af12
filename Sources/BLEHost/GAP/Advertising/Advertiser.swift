import BLEWire

/// The advertisements of all apps, in the sets that an ``AdvertisementPlan`` gives them.
struct Advertiser {
    private struct Client {
        let id: ClientID
        let request: AdvertisingRequest
        var phase: AppPhase
        /// Whether the client has heard that its advertisement started.
        var isAnswered = false
    }

    /// How many sets apps have at most; the controller may know fewer.
    static let mostSets = 4

    private var clients: [Client] = []
    /// The first is always there, the others only while they are wanted.
    private var sets = [AdvertisingSet()]
    private var setsAddress = false
    /// How many sets can be had.
    private var capacity = 1
    private var plan = AdvertisementPlan()
    private var turn = 0
    private var turnEnd: Instant?

    /// Whether a client wants to advertise.
    func advertises(for client: ClientID) -> Bool { clients.contains { $0.id == client } }

    /// Whether another connection would be possible, so that it makes sense to advertise.
    var isAllowed: Bool {
        get { sets[0].isAllowed }
        set { for index in sets.indices { sets[index].isAllowed = newValue } }
    }

    /// Whether the controller does not advertise for apps, and nothing of that is under way.
    var isOff: Bool { sets.allSatisfy(\.isOff) }

    /// When to ask for the next step, if nothing happens before.
    var deadline: Instant? {
        var least = isAllowed ? turnEnd : nil
        for set in sets { least.bringForward(to: set.deadline) }
        return least
    }

    /// The controller was reset, and nobody advertises any more.
    ///
    /// - Parameters:
    ///   - setsAddress: Whether sets need addresses of their own.
    ///   - hasSets: Whether the controller has more than one.
    /// - Returns: The clients that wait to hear that their advertisement started.
    mutating func reset(setsAddress: Bool, hasSets: Bool = false) -> [ClientID] {
        let unanswered = clients.filter { !$0.isAnswered }.map(\.id)
        self = Advertiser()
        self.setsAddress = setsAddress
        sets = [AdvertisingSet(setsAddress: setsAddress)]
        capacity = hasSets ? Self.mostSets : 1
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
        }
        guard request.misfit == nil else { return .refused(.invalidParameters) }
        guard !clients.contains(where: { $0.id == client }) else { return .refused(.alreadyInProgress) }
        clients.append(Client(id: client, request: request, phase: phase))
        makePlan()
        return .started
    }

    /// The app of a client is used in another way.
    mutating func move(_ client: ClientID, to phase: AppPhase) {
        for index in clients.indices where clients[index].id == client { clients[index].phase = phase }
        makePlan()
    }

    /// A client advertises no more; `true` if it has not even heard that it began.
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

    /// Lets the next one have the last set, if that is due.
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

    /// Returns the command that leads the first set toward what is wanted, unless one is under way or none is needed.
    mutating func step(at now: Instant) -> AdvertisingSet.Step? {
        takeTurns(at: now)
        return sets[0].step(at: now)
    }

    /// The commands that lead further sets toward what is wanted, each for another one.
    mutating func furtherSteps(at now: Instant) -> [(set: AdvertisingHandle, step: AdvertisingSet.Step)] {
        guard sets.count > 1 else { return [] }
        var steps: [(set: AdvertisingHandle, step: AdvertisingSet.Step)] = []
        for index in sets.indices.dropFirst() {
            guard let handle = Self.handle(of: index), let step = sets[index].step(at: now) else { continue }
            steps.append((handle, step))
        }
        return steps
    }

    /// What the controller calls a set; the numbers behind the first are those of testers.
    private static func handle(of index: Int) -> AdvertisingHandle? {
        index == 0 ? .first : AdvertisingHandle(wire: UInt8(TesterSets.limit + index))
    }

    private func index(of set: AdvertisingHandle) -> Int? { sets.indices.first { Self.handle(of: $0) == set } }

    /// What the answer to a command means for clients and for what to do next.
    enum OnAnswer: Equatable {
        case proceed
        /// This is the next command for the set.
        case step(AdvertisingSet.Step)
        /// These clients do not advertise.
        case failed([ClientID])
    }

    /// The command of a set that is under way was answered.
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

    /// The clients that have not heard yet that what they want is on the air, if it is.
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

    /// A central has connected, which has ended an advertisement, if there is only one that it can have been.
    mutating func ended() {
        let on = sets.indices.filter { sets[$0].isOn }
        if on.count <= 1 { sets[on.first ?? 0].ended() }
    }

    /// The controller has ended a set by itself, as it does when a central connects.
    mutating func ended(_ set: AdvertisingHandle) {
        if let index = index(of: set) { sets[index].ended() }
    }
}
