import BLEWire

/// A procedure that is in progress or to be repeated, and its owner.
struct ClientProcedure {
    /// The owner of a procedure.
    enum Owner: Equatable {
        case client(Requester)
        case host
        /// The host itself, to recover from a change of the peer's database. All other requests wait in the meantime.
        case recovery
        /// No owner: the client has already received a result, or is no longer connected.
        case noClient
    }

    /// The reason why the peer rejected the procedure.
    ///
    /// The peer may accept the procedure when it is repeated.
    enum Refusal: Equatable {
        /// The peer regards this host as unaware of a change of its database.
        case outOfSync
        /// The security of the link is insufficient.
        case security(ATT.ErrorCode)
    }

    private enum Attempt {
        case first
        /// The procedure is being repeated, because the peer rejected it after a change of the peer's database, or
        /// because the procedure's bearer was closed.
        case repeated
        case refused(Refusal, isRepeated: Bool)
    }

    var owner: Owner
    private(set) var procedure: Procedure
    /// The sequence number among the procedures that were started for clients; 0 for the host's own requests.
    let order: UInt64
    /// The client's subscription before this procedure, and the subscription that the client requests.
    let subscription: (earlier: Subscription, wanted: Subscription)
    /// The security of the link when the procedure was started.
    var security = LinkSecurity.unencrypted
    /// False if the procedure fails when the link is not secure enough; true if the host then raises the security.
    var raisesSecurity = true
    /// True if services changed after the last request was sent; the response may be about the services before the
    /// change.
    private(set) var isOutdated = false
    /// True if the procedure's attribute no longer exists.
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

    /// Creates a procedure from a read or write with a single request.
    ///
    /// `value` is the value to write; empty for a read.
    init(_ single: SingleRequest, writing value: [UInt8]) {
        self.init(single.procedure(writing: value), for: .client(single.requester), order: single.order)
        security = single.security
    }

    /// The client that is waiting for the result; `nil` if there is none.
    var client: ClientID? { requester?.client }

    /// The client that is waiting for the result, and the number of its request; `nil` if no client is waiting.
    var requester: Requester? { if case .client(let requester) = owner { requester } else { nil } }

    /// True if the procedure is being repeated for a reason other than insufficient security.
    var isRepeated: Bool {
        switch attempt {
        case .first: false
        case .repeated: true
        case .refused(_, let isRepeated): isRepeated
        }
    }

    /// The reason why the peer rejected the procedure; `nil` if it did not.
    var refusal: Refusal? { if case .refused(let refusal, _) = attempt { refusal } else { nil } }

    mutating func begin(_ database: inout PeerDatabase, mtu: Int) -> ProcedureStep<Procedure.Outcome> {
        procedure.begin(&database, mtu: mtu)
    }

    /// Records that the next request is being sent.
    ///
    /// Its response will be about the current services.
    mutating func asked() { isOutdated = false }

    enum OnAnswer {
        case proceed(ProcedureStep<Procedure.Outcome>)
        /// End the procedure: no client is waiting for its result, and it need not continue
        /// (``Procedure/mustContinue``).
        case end
    }

    /// Processes the response to the last request.
    mutating func receive(_ answer: ATTAnswer, _ database: inout PeerDatabase, mtu: Int) -> OnAnswer {
        if case .noClient = owner, !procedure.mustContinue { return .end }
        return .proceed(procedure.receive(answer, &database, mtu: mtu))
    }

    /// Records that the peer rejected the procedure.
    mutating func refuse(_ refusal: Refusal) { attempt = .refused(refusal, isRepeated: isRepeated) }

    /// Resets the procedure, so that it can be repeated.
    mutating func renew() {
        switch attempt {
        case .refused(.security, let isRepeated): attempt = isRepeated ? .repeated : .first
        case .first, .repeated, .refused(.outOfSync, _): attempt = .repeated
        }
        isOutdated = false
        procedure = procedure.restarted
    }

    enum OnServicesChanged: Equatable {
        case nothing
        /// The attribute or service that the procedure is about is gone. The procedure must fail now.
        case lost
    }

    /// Records that services in `range` changed; the procedure's attribute may no longer exist.
    ///
    /// A discovery continues with the current services. The result of writing a Client Characteristic Configuration is
    /// discarded, because its handle may belong to another attribute now.
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

    /// Removes the owner, so that the result is discarded.
    ///
    /// A long write is cancelled, and fails with `failure`.
    mutating func withdraw(_ failure: Failure) {
        owner = .noClient
        procedure.withdraw(failure)
    }
}

extension Procedure {
    /// A new procedure for the same request.
    fileprivate var restarted: Self {
        switch self {
        case .lookup(let machine): .lookup(machine.restarted)
        case .read(_, let handle): .read(ValueReading(handle), handle)
        case .write(let machine, let handle): .write(machine.restarted, handle)
        case .name: .name(NameReading())
        case .watch(let machine): .watch(machine.restarted)
        // The configuration either is still at the handle where it was found, or its characteristic is gone.
        case .configure, .exchangeMTU, .databaseHash, .serverFeatures: self
        }
    }

    /// Returns whether the procedure is about an attribute in `range`.
    func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .read(_, let handle), .write(_, let handle), .configure(_, let handle): range.contains(handle)
        case .lookup(let lookup): lookup.scope?.overlaps(range) ?? false
        case .exchangeMTU, .name, .watch, .databaseHash, .serverFeatures: false
        }
    }
}
