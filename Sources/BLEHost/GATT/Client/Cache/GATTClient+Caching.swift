import BLEWire

extension GATTClient {
    /// The caching of a peer's attributes for its next link.
    enum Caching {
        /// The peer is not bonded.
        case none
        /// The stored attributes, which are valid if the peer's Database Hash is unchanged.
        case unchecked(CachedDatabase)
        /// Discovered attributes are stored once they are certain.
        case active
        /// The peer has no Database Hash.
        case impossible
    }

    /// Records that the peer is bonded, and the stored attributes.
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

    /// Sets the attributes to store for the peer; `nil` for none.
    private mutating func store(_ database: CachedDatabase?, into outbox: inout Outbox) {
        bond.change(of: peer, into: &outbox) { $0.database = database }
    }

    /// Records what a client has discovered.
    mutating func keep(_ answer: AttributeDiscovery.Answer, at now: Instant, into outbox: inout Outbox) {
        expiry = now + Self.freshness
        if case .services = answer { knowServices(into: &outbox) }
        keepCache()
    }

    /// Stores the discovered attributes when the link is idle.
    mutating func keepCache() {
        guard case .active = caching, database.hasNews else { return }
        if !ownRequests.contains(.verify) { ownRequests.append(.keepCache) }
    }

    /// Processes the peer's Database Hash, or the fact that it has none.
    mutating func hashRead(_ hash: UInt128?, isOutdated: Bool, at now: Instant, into outbox: inout Outbox) {
        switch caching {
        case .unchecked where isOutdated && hash != nil: ownRequests.append(.checkCache)
        case .unchecked(let cache): check(cache, hash, at: now, into: &outbox)
        case .active where isOutdated && hash != nil: keepCache()
        case .active: keep(hash, at: now, into: &outbox)
        case .none, .impossible: break
        }
    }

    /// Uses the stored attributes if the hash is unchanged; otherwise discovers them again.
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

    /// Stores the discovered database if the Database Hash was the same before and after discovery.
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

    /// Records that a part was discovered again.
    ///
    /// Clients are told if it has changed.
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

    /// Reports the range in which the peer differs from what was reported to clients.
    mutating func tellChange(at now: Instant, into outbox: inout Outbox) {
        if let change = database.takeChange() { servicesChanged(in: change, at: now, into: &outbox) }
    }

    /// Verifies everything that was reported to clients.
    mutating func checkDatabase() { database.checkAll() }

    /// Records that time has passed, in which read-ahead attributes may have changed.
    mutating func expireDatabase(at now: Instant) { if expiry < now { database.expire() } }

    /// Verifies what clients discovered before the peer was asked to report changes: it may have changed before that.
    ///
    /// With a cache, its hash shows as much, or the attributes are discovered again anyway.
    private mutating func lookAgain() {
        guard database.isWatched else { return }
        secondLooks = 0
        database.checkUnwatched()
        lookFurther()
    }

    /// Verifies the next part, services first.
    ///
    /// The rest is left out if it takes too long.
    private mutating func lookFurther() {
        guard let (aspect, _, _) = database.firstUnverified, aspect == .services || secondLooks < Self.mostSecondLooks,
            !ownRequests.contains(.verify)
        else { return }
        secondLooks += 1
        ownRequests.append(.verify)
    }

    /// Processes the contents of the peer's GATT service.
    ///
    /// Repeats the search if services changed meanwhile.
    mutating func watching(_ outcome: ServiceChangedSubscription.Outcome, isOutdated: Bool) {
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

    /// Drops what is known of changed services, and fails requests about them.
    ///
    /// Queued requests keep their turn, so that clients get results in the order of their requests. The handle of
    /// Service Changed is trusted until it has been searched again: it probably did not move, and the next change may
    /// come before there is time to search.
    ///
    /// A client that was told of a change and has not discovered again since is not told a second time.
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
        if reportedChanges.note(range) { tellAll(.servicesModified(range), through: &outbox) }
    }

    /// Drops what is known of services, and reports the services that are still known.
    private mutating func forgetServices(in range: AttributeHandleRange, into outbox: inout Outbox) {
        let count = database.attributes.services.count
        database.remove(range)
        let rest = database.attributes.services
        if rest.count < count { outbox.append(.servicesKnown(peer, rest.map(\.uuid))) }
    }

    /// Drops everything known about the peer's attributes, for a client that discovers them again.
    ///
    /// The database itself is assumed to be unchanged: other clients keep what they discovered, and the peer is still
    /// trusted to report changes.
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
