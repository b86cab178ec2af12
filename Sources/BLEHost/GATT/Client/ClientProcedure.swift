import BLEWire

/// A procedure that is in progress or to be repeated, and its owner.
struct ClientProcedure {
    /// The owner of a procedure.
    enum Owner: Equatable {
        case client(Requester)
        case host
        /// The host, in the recovery from a change, while everything else waits.
        case recovery
        /// A client that has received its result or has gone.
        case nobody
    }

    /// The reason why the peer rejected the procedure, although it may accept a repetition.
    enum Refusal: Equatable {
        /// This host is not aware of a change.
        case outOfSync
        /// The security of the link is insufficient.
        case security(ATT.ErrorCode)
    }

    private enum Attempt {
        case first
        /// Repeated, after a rejection because of a change or the loss of its bearer.
        case repeated
        case refused(Refusal, isRepeated: Bool)
    }

    var owner: Owner
    private(set) var procedure: Procedure
    /// Increases with each started request of a client; zero for requests of the host.
    let order: UInt64
    /// The client's current and requested subscription.
    let subscription: (earlier: Subscription, wanted: Subscription)
    /// The security of the link when the procedure was started.
    var security = LinkSecurity.unencrypted
    /// True if services changed since its last request, so that the response may concern the old ones.
    private(set) var isOutdated = false
    /// True if the attribute it concerns is gone.
    private(set) var isAboutRemoved = false
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

    /// Creates a procedure from a request with a single packet, with the written value if there is one.
    init(_ single: SingleRequest, writing value: [UInt8]) {
        self.init(single.procedure(writing: value), for: .client(single.requester), order: single.order)
        security = single.security
    }

    /// The client that waits for it.
    var client: ClientID? { requester?.client }

    /// The client that waits for it, and the number of its request.
    var requester: Requester? { if case .client(let requester) = owner { requester } else { nil } }

    /// True if it is being repeated.
    var isRepeated: Bool {
        switch attempt {
        case .first: false
        case .repeated: true
        case .refused(_, let isRepeated): isRepeated
        }
    }

    /// The reason why the peer rejected it.
    var refusal: Refusal? { if case .refused(let refusal, _) = attempt { refusal } else { nil } }

    mutating func begin(_ database: inout PeerDatabase, mtu: Int) -> ProcedureStep<Procedure.Outcome> {
        procedure.begin(&database, mtu: mtu)
    }

    /// Records that its next request is sent, so that the response concerns the current services.
    mutating func asked() { isOutdated = false }

    enum OnAnswer {
        case go(ProcedureStep<Procedure.Outcome>)
        /// Nothing waits for it, and it can end here.
        case leave
    }

    /// Processes the response to its last request.
    mutating func receive(_ answer: ATTAnswer, _ database: inout PeerDatabase, mtu: Int) -> OnAnswer {
        if case .nobody = owner, !procedure.mustGoOn { return .leave }
        return .go(procedure.receive(answer, &database, mtu: mtu))
    }

    /// Records that the peer rejected it.
    mutating func refuse(_ refusal: Refusal) { attempt = .refused(refusal, isRepeated: isRepeated) }

    /// Prepares its repetition.
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
        /// What it looks for is gone; its owner must be told now.
        case lost
    }

    /// Records that services in `range` changed, with which the attribute it concerns may be gone.
    ///
    /// A discovery continues with the current services. The result of writing a configuration is dropped, because its
    /// handle may belong to something else now.
    mutating func servicesChanged(in range: AttributeHandleRange) -> OnServicesChanged {
        isOutdated = true
        if procedure.isAbout(range) { isAboutRemoved = true }
        switch procedure {
        case .lookup(var lookup):
            lookup.databaseChanged()
            procedure = .lookup(lookup)
            return isAboutRemoved && lookup.scope?.overlaps(range) == true ? .lost : .nothing
        case .configure(_, let handle): return range.contains(handle) ? .lost : .nothing
        case .read, .write, .exchangeMTU, .name, .watch, .databaseHash, .serverFeatures: return .nothing
        }
    }

    /// Drops its result.
    mutating func withdraw(_ failure: Failure) {
        owner = .nobody
        procedure.withdraw(failure)
    }
}

extension Procedure {
    /// The procedure from its beginning.
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

    /// Returns whether it concerns an attribute in `range`.
    func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .read(_, let handle), .write(_, let handle), .configure(_, let handle): range.contains(handle)
        case .lookup(let lookup): lookup.scope?.overlaps(range) ?? false
        case .exchangeMTU, .name, .watch, .databaseHash, .serverFeatures: false
        }
    }
}
