import BLEWire

extension GATTClient {
    /// Whether what is known of the peer is kept for its next link.
    enum Caching {
        /// The peer is not bonded.
        case none
        /// This was kept, and counts if the peer's Database Hash is still the same.
        case unchecked(CachedDatabase)
        /// What is learnt is kept once it is certain.
        case active
        /// The peer has no Database Hash.
        case impossible
    }

    /// Notes that the peer is bonded, and what was kept of its database.
    mutating func bonded(_ cache: CachedDatabase?, at now: Instant, into outbox: inout Outbox) {
        guard case .none = caching else { return }
        if let cache, database.isEmpty {
            caching = .unchecked(cache)
            ownRequests.append(.checkCache)
        } else {
            caching = .active
            keepCache()
        }
        proceed(at: now, into: &outbox)
    }

    /// Has this kept of the peer's database from now on, or nothing.
    private mutating func store(_ database: CachedDatabase?, into outbox: inout Outbox) {
        bond.change(of: peer, into: &outbox) { $0.database = database }
    }

    /// Takes note of what a client has found.
    mutating func keep(_ answer: AttributeDiscovery.Answer, at now: Instant, into outbox: inout Outbox) {
        expiry = now + Self.freshness
        if case .services = answer { knowServices(into: &outbox) }
        keepCache()
    }

    /// Has what was learnt kept when there is time.
    mutating func keepCache() {
        guard case .active = caching, database.hasNews else { return }
        if !ownRequests.contains(.verify) { ownRequests.append(.keepCache) }
    }

    /// Takes the Database Hash of the peer, or that it has none.
    mutating func hashRead(_ hash: UInt128?, isOutdated: Bool, at now: Instant, into outbox: inout Outbox) {
        switch caching {
        case .unchecked where isOutdated && hash != nil: ownRequests.append(.checkCache)
        case .unchecked(let cache): check(cache, hash, at: now, into: &outbox)
        case .active where isOutdated && hash != nil: keepCache()
        case .active: keep(hash, at: now, into: &outbox)
        case .none, .impossible: break
        }
    }

    /// Goes on with what was kept if it is still so, and else begins anew.
    private mutating func check(
        _ cache: CachedDatabase,
        _ hash: UInt128?,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        guard let hash else {
            caching = .impossible
            store(nil, into: &outbox)
            return
        }
        caching = .active
        guard database.isEmpty else { return }
        guard hash == cache.hash else {
            database.verify(under: hash)
            store(nil, into: &outbox)
            return
        }
        database.adopt(cache)
        expiry = now + Self.freshness
        knowServices(into: &outbox)
    }

    /// Keeps what is known if it was learnt between two readings of one hash.
    private mutating func keep(_ hash: UInt128?, at now: Instant, into outbox: inout Outbox) {
        guard let hash else {
            caching = .impossible
            store(nil, into: &outbox)
            return lookAgain()
        }
        if database.hash == nil { database.verify(under: hash) }
        guard database.hash == hash else {
            servicesChanged(in: .all, at: now, into: &outbox)
            return database.verify(under: hash)
        }
        guard database.isVerified else { return ownRequests.append(.verify) }
        database.confirm()
        if database.attributes.count <= limits.cachedAttributes {
            store(CachedDatabase(hash: hash, attributes: database.attributes.kept), into: &outbox)
        }
    }

    /// Takes note that a part of what was learnt has been learnt again; clients hear of it if it is otherwise now.
    mutating func verified(
        _ result: Result<AttributeDiscovery.Answer, Failure>,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        tellChange(at: now, into: &outbox)
        guard case .success = result else { return database.abandonVerification() }
        database.expire()
        switch caching {
        case .active:
            guard database.hash != nil else { return keepCache() }
            ownRequests.append(database.isVerified ? .keepCache : .verify)
        case .none, .unchecked, .impossible: lookFurther()
        }
    }

    /// Says where the peer was found to have something else than clients were told.
    mutating func tellChange(at now: Instant, into outbox: inout Outbox) {
        if let change = database.takeChange() { servicesChanged(in: change, at: now, into: &outbox) }
    }

    /// Has all that clients were told looked at again.
    mutating func checkDatabase() { database.checkAll() }

    /// Takes note that time has passed, in which what was read ahead may have changed.
    mutating func expireDatabase(at now: Instant) { if expiry < now { database.expire() } }

    /// Has what clients found before the peer told of changes looked at again: it may have changed before that.
    ///
    /// Where there is a cache to be kept, its hash tells as much, or what it is about is learnt again anyway.
    private mutating func lookAgain() {
        guard database.isWatched else { return }
        secondLooks = 0
        database.checkUnwatched()
        lookFurther()
    }

    /// Looks at the next part, services first; the rest is left out when it takes too long.
    private mutating func lookFurther() {
        guard let (aspect, _, _) = database.firstUnverified, aspect == .services || secondLooks < Self.mostSecondLooks,
            !ownRequests.contains(.verify)
        else { return }
        secondLooks += 1
        ownRequests.append(.verify)
    }

    /// Takes note of what the peer's GATT service offers; looks again if services changed while it was asked.
    mutating func watching(_ outcome: ServiceChangedWatch.Outcome, isOutdated: Bool) {
        if let features = outcome.features, !hasAnnouncedFeatures {
            hasAnnouncedFeatures = true
            ownRequests.putFirst([.announceFeatures(features), .probe(features)])
        }
        if let handle = outcome.serviceChanged {
            serviceChanged = handle
            database.watch()
            guard case .active = caching else { return lookAgain() }
            // What is certain may be handed out again and again from now on.
            if !database.isEmpty { ownRequests.append(.keepCache) }
        } else if isOutdated {
            watchServices()
        }
    }

    /// Forgets what was known of services that changed, and gives up what was asked about them.
    ///
    /// What waits keeps its turn, so that clients hear answers in the order in which they asked. Where the peer tells
    /// of changes is believed until that has been looked for again: the change may well have left it where it was, and
    /// the next one may come before there is time to look.
    ///
    /// Clients that know of a change and have not looked since are not told of it again.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
    mutating func servicesChanged(in range: AttributeHandleRange, at now: Instant, into outbox: inout Outbox) {
        ownRequests.postpone(at: now)
        forgetServices(in: range, into: &outbox)
        subscriptions.removeAll(in: range)
        ownRequests.remove { $0.isAbout(range) }
        for (client, command) in waiting.void(about: range) {
            answer(command, of: Requester(client), with: .notFound, into: &outbox)
        }
        outdateProcedures(in: range, into: &outbox)
        if let handle = serviceChanged, range.contains(handle) {
            database.unwatch()
            watchServices()
        }
        keepCache()
        if changeNotices.note(range) { tellAll(.servicesModified(range), through: &outbox) }
    }

    /// Forgets what was known of services, and says which ones are still known if some are not.
    private mutating func forgetServices(in range: AttributeHandleRange, into outbox: inout Outbox) {
        let count = database.attributes.services.count
        database.remove(range)
        let rest = database.attributes.services
        if rest.count < count { outbox.append(.servicesKnown(peer, rest.map(\.uuid))) }
    }

    /// Forgets all that is known of the peer's attributes, on behalf of a client that begins anew.
    ///
    /// The database is what it was, as far as anyone knows: other clients keep what they found in it, and the peer is
    /// still trusted to tell of changes.
    mutating func forgetDatabase(for requester: Requester, at now: Instant, into outbox: inout Outbox) {
        ownRequests.postpone(at: now)
        if clients.count > 1 { database.forget() } else { database.remove(.all) }
        switch caching {
        case .none, .impossible: break
        case .unchecked, .active:
            caching = .active
            ownRequests.remove { [.checkCache, .keepCache, .verify].contains($0) }
            store(nil, into: &outbox)
        }
        unsubscribe(requester.client)
        tell(requester, .databaseForgotten(nil), into: &outbox)
    }
}
