import BLEWire

/// A procedure that is under way at the peer or is to be begun once more, and for whom.
struct ClientProcedure {
    /// For whom a procedure is.
    enum Owner: Equatable {
        case client(Requester)
        case host
        /// The host, which finds out what has changed while all else waits.
        case catchingUp
        /// A client that has had its answer and is gone.
        case nobody
    }

    /// Why the peer has not carried it out, although it may if it is begun once more.
    enum Refusal: Equatable {
        /// This host may take the peer's attributes for others.
        case outOfSync
        /// The peer does not trust the link far enough.
        case security(ATT.ErrorCode)
    }

    private enum Attempt {
        case first
        /// It has been begun before, which the peer refused since this host was out of sync, or whose bearer was lost.
        case repeated
        case refused(Refusal, isRepeated: Bool)
    }

    var owner: Owner
    private(set) var procedure: Procedure
    /// Grows with each request of a client that begins; zero for what no client asked for.
    let order: UInt64
    /// What the client that asks for another subscription has, and what it asks for.
    let subscription: (earlier: Subscription, wanted: Subscription)
    /// How far the link could be trusted when it was begun.
    var security = LinkSecurity.unencrypted
    /// Whether services changed since its last request, whose answer may be about what was there before.
    private(set) var isOutdated = false
    /// Whether what it is about is gone.
    private(set) var isVoid = false
    private var attempt = Attempt.first

    init(
        _ procedure: Procedure,
        for owner: Owner,
        order: UInt64 = 0,
        subscription: (earlier: Subscription, wanted: Subscription) = (.none, .none)
    ) {
        self.procedure = procedure
        self.owner = owner
        self.order = order
        self.subscription = subscription
    }

    /// The same as what one packet asks, which writes this value if it writes one.
    init(_ single: SingleRequest, writing value: [UInt8]) {
        self.init(single.procedure(writing: value), for: .client(single.requester), order: single.order)
        security = single.security
    }

    /// The client that waits for it.
    var client: ClientID? { requester?.client }

    /// The client that waits for it, and in which of its requests.
    var requester: Requester? { if case .client(let requester) = owner { requester } else { nil } }

    /// Whether this is not the first time that it is carried out.
    var isRepeated: Bool {
        switch attempt {
        case .first: false
        case .repeated: true
        case .refused(_, let isRepeated): isRepeated
        }
    }

    /// Why the peer has refused it since it was begun.
    var refusal: Refusal? { if case .refused(let refusal, _) = attempt { refusal } else { nil } }

    mutating func begin(_ database: inout PeerDatabase, mtu: Int) -> ProcedureStep<Procedure.Outcome> {
        procedure.begin(&database, mtu: mtu)
    }

    /// Notes that its next request goes out: what comes back is about what is there now.
    mutating func asked() { isOutdated = false }

    enum OnAnswer {
        case go(ProcedureStep<Procedure.Outcome>)
        /// Nobody waits for it, and nothing is spoiled if it ends here.
        case leave
    }

    /// Takes the answer to its last request.
    mutating func receive(_ answer: ATTAnswer, _ database: inout PeerDatabase, mtu: Int) -> OnAnswer {
        if case .nobody = owner, !procedure.mustGoOn { return .leave }
        return .go(procedure.receive(answer, &database, mtu: mtu))
    }

    /// Notes that the peer refuses it.
    mutating func refuse(_ refusal: Refusal) { attempt = .refused(refusal, isRepeated: isRepeated) }

    /// Prepares it to be begun once more.
    mutating func renew() {
        switch attempt {
        case .refused(.security, let isRepeated): attempt = isRepeated ? .repeated : .first
        case .first, .repeated, .refused(.outOfSync, _): attempt = .repeated
        }
        isOutdated = false
        procedure = procedure.anew
    }

    enum OnServicesChanged: Equatable {
        case nothing
        /// What it looks for is gone, and the one who waits for it is to hear so now.
        case lost
    }

    /// Notes that services changed in `range`: what it is about may be gone.
    ///
    /// A lookup goes on, to learn what is there now; of a configuration, whatever comes of it, nobody hears what has
    /// its handle now.
    mutating func servicesChanged(in range: AttributeHandleRange) -> OnServicesChanged {
        isOutdated = true
        if procedure.isAbout(range) { isVoid = true }
        switch procedure {
        case .lookup(var lookup):
            lookup.databaseChanged()
            procedure = .lookup(lookup)
            return isVoid && lookup.scope?.overlaps(range) == true ? .lost : .nothing
        case .configure(_, let handle): return range.contains(handle) ? .lost : .nothing
        case .read, .write, .exchangeMTU, .name, .watch, .databaseHash, .serverFeatures: return .nothing
        }
    }

    /// Leaves what comes of it to nobody.
    mutating func withdraw(_ failure: Failure) {
        owner = .nobody
        procedure.withdraw(failure)
    }
}

extension Procedure {
    /// The same once more, from its beginning.
    fileprivate var anew: Self {
        switch self {
        case .lookup(let machine): .lookup(machine.anew)
        case .read(_, let handle): .read(ValueReading(handle), handle)
        case .write(let machine, let handle): .write(machine.anew, handle)
        case .name: .name(NameReading())
        case .watch(let machine): .watch(machine.anew)
        // A configuration that was found is where it was, or the characteristic is gone.
        case .configure, .exchangeMTU, .databaseHash, .serverFeatures: self
        }
    }

    /// Whether it is carried out on an attribute in `range`.
    func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .read(_, let handle), .write(_, let handle), .configure(_, let handle): range.contains(handle)
        case .lookup(let lookup): lookup.scope?.overlaps(range) ?? false
        case .exchangeMTU, .name, .watch, .databaseHash, .serverFeatures: false
        }
    }
}
