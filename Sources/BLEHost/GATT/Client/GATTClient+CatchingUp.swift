import BLEWire

// A peer that has changed refuses requests until it is certain that this host knows: Core 6.0, Vol 3, Part G, 2.5.2.1.
extension GATTClient {
    /// How far the host is with finding out what has changed at a peer that refuses a request because of that.
    ///
    ///                refused              bearer idle             known
    ///        ┌──────┐ ─────▶ ┌──────────┐ ─────────▶ ┌─────────┐ ─────▶ none
    ///        │ none │        │ required │            │ reading │
    ///        └──────┘        └──────────┘            └─────────┘
    ///            ▲                                        │ another hash, or none
    ///            │ all was looked at, or there is too much ▼
    ///            └─────────────────────────────────── ┌─────────┐
    ///                                                 │ looking │
    ///                                                 └─────────┘
    ///
    /// Nobody asks for anything meanwhile: handles may be those of something else.
    enum CatchingUp {
        case none
        /// `isTold` if the peer has said what has changed.
        case required(isTold: Bool)
        /// The Database Hash is being read, which tells the peer that this host catches up.
        case reading(isTold: Bool)
        /// What clients were told is looked at again.
        case looking(requests: Int)
    }

    /// How many requests look at what clients were told, before all of that is void instead.
    static let mostRequestsToCatchUp = 16

    var isCatchingUp: Bool {
        if case .none = catchingUp { false } else { true }
    }

    /// Takes note that the peer refuses the request on a bearer since this host may take its attributes for others.
    ///
    /// The procedure is begun once more when it is known what has changed. If it is refused again, all is void.
    mutating func outOfSync(on bearer: BearerID, at now: Instant, into outbox: inout Outbox) {
        guard let current = self[running: bearer], !current.catchesUp else { return }
        if current.isRepeated {
            if !current.isDisturbed { servicesChanged(in: .all, at: now, into: &outbox) }
            return
        }
        self[running: bearer]?.isRefused = true
        guard !isCatchingUp else { return }
        catchingUp = .required(isTold: current.isDisturbed || wasToldOfChange)
    }

    /// Begins the next step of catching up; `false` if there is none.
    mutating func proceedCatchingUp(at now: Instant, into outbox: inout Outbox) -> Bool {
        switch catchingUp {
        case .none, .reading: return false
        case .required(let isTold):
            catchingUp = .reading(isTold: isTold)
            start(Running(owner: .host, procedure: .databaseHash, catchesUp: true), at: now, into: &outbox)
        case .looking(let requests):
            catchingUp = .looking(requests: requests + 1)
            let proof = DatabaseLookup(.proof, limit: limits.discoveredAttributes)
            start(Running(owner: .host, procedure: .lookup(proof), catchesUp: true), at: now, into: &outbox)
        }
        return true
    }

    /// Takes what came of a step of catching up.
    mutating func caughtUp(with outcome: Procedure.Outcome, at now: Instant, into outbox: inout Outbox) {
        var isKnown = !database.isForgotten
        switch (catchingUp, outcome) {
        case (.reading(let isTold), .databaseHash(let hash)):
            let isSame = isKnown && hash != nil && hash == database.hash && database.isProven
            if !isTold && !isSame {
                database.checkAll()
                catchingUp = .looking(requests: 0)
            } else {
                catchingUp = .none
            }
        case (.looking, .found(.success, _)): break
        default: isKnown = false
        }
        if let change = database.takeChange() { servicesChanged(in: change, at: now, into: &outbox) }
        if case .looking(let requests) = catchingUp {
            if isKnown, !database.isProven, requests < Self.mostRequestsToCatchUp { return }
            if !isKnown || !database.isProven { servicesChanged(in: .all, at: now, into: &outbox) }
        }
        catchingUp = .none
        wasToldOfChange = false
        keepCache()
    }

    /// Begins what was refused, or lost with its bearer, once more; `false` if there is no such thing.
    mutating func repeatStalled(at now: Instant, into outbox: inout Outbox) -> Bool {
        guard !stalled.isEmpty else { return false }
        var next = stalled.removeFirst()
        if next.refusal == nil { next.isRepeated = true }
        next.refusal = nil
        next.isRefused = false
        next.isDisturbed = false
        next.procedure = next.procedure.anew
        start(next, at: now, into: &outbox)
        return true
    }

    /// Keeps a procedure that is to be begun once more, unless what it is about is gone.
    mutating func stall(_ procedure: Running, into outbox: inout Outbox) {
        guard !procedure.isVoid else { return failVoid(procedure, into: &outbox) }
        let place = stalled.firstIndex { $0.order > procedure.order } ?? stalled.endIndex
        stalled.insert(procedure, at: place)
    }

    /// Answers what was to be begun once more, and is about something in `range`, which is gone.
    mutating func failStalled(in range: AttributeHandleRange, into outbox: inout Outbox) {
        let gone = stalled.filter { $0.procedure.isAbout(range) }
        stalled.removeAll { $0.procedure.isAbout(range) }
        for one in gone { failVoid(one, into: &outbox) }
    }

    private mutating func failVoid(_ gone: Running, into outbox: inout Outbox) {
        guard case .configure(_, let handle) = gone.procedure, case .client(let client) = gone.owner else {
            return fail(gone, with: .notFound, into: &outbox)
        }
        tell(client, .subscriptionChanged(handle, .none, .notFound), order: gone.order, into: &outbox)
    }

    /// What is under way on a bearer.
    subscript(running bearer: BearerID) -> Running? {
        get {
            switch bearer {
            case .unenhanced: running
            case .enhanced(let channel): enhanced.first { $0.id == channel }?.running
            }
        }
        set {
            switch bearer {
            case .unenhanced: running = newValue
            case .enhanced(let channel):
                guard let index = enhanced.firstIndex(where: { $0.id == channel }) else { return }
                enhanced[index].running = newValue
            }
        }
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
