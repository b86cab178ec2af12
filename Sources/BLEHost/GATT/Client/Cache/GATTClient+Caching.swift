import BLEWire

extension GATTClient {
    /// The state of the cache, which stores a peer's attributes for its next link.
    enum Caching {
        /// The peer is not bonded. Its attributes are recorded once the peer has been asked to report changes.
        case none
        /// There are stored attributes, which are valid if the peer's Database Hash is unchanged.
        case unchecked(CachedDatabase)
        /// Discovered attributes are stored once a Database Hash confirms that they are valid.
        case active
        /// The peer has no Database Hash.
        case impossible
    }

    /// Records that the peer of a new link has no bond.
    ///
    /// `recent` contains the attributes from the peer's previous link; `nil` if there are none.
    mutating func unbonded(_ recent: CachedDatabase?) { if let recent { useStored(recent) } }

    /// Records that the peer is bonded.
    ///
    /// `cache` contains the stored attributes; `nil` if there are none.
    mutating func bonded(_ cache: CachedDatabase?, at now: Instant, into outbox: inout Outbox) {
        guard !isCachingForBond else { return }
        isCachingForBond = true
        if let cache, database.isEmpty {
            useStored(cache)
        } else {
            // Before the peer proved the bond, another device could have sent the attributes.
            caching = .active
            ownRequests.remove { $0 == .checkCache }
            confirmed = nil
            database.distrust()
            queueStoringCache()
        }
        proceed(at: now, into: &outbox)
    }

    private mutating func useStored(_ cache: CachedDatabase) {
        caching = .unchecked(cache)
        if !ownRequests.contains(.checkCache) { ownRequests.append(.checkCache) }
    }

    /// Replaces the stored attributes of the peer; `nil` removes them.
    private mutating func store(_ database: CachedDatabase?, into outbox: inout Outbox) {
        confirmed = database
        bond.change(of: peer, into: &outbox) { $0.database = database }
    }

    /// The attributes to use on the next link to an unbonded peer; `nil` if there are none.
    var databaseForNextLink: CachedDatabase? {
        guard bond.stored == nil else { return nil }
        if case .unchecked(let cache) = caching { return cache }
        return confirmed
    }

    /// Records that attributes were discovered for a client.
    mutating func noteDiscovered(_ answer: AttributeDiscovery.Answer, at now: Instant, into outbox: inout Outbox) {
        expiry = now + Self.freshness
        if case .services = answer { knowServices(into: &outbox) }
        queueStoringCache()
        queueRecording()
    }

    /// Queues the host's own request that stores the discovered attributes, if caching is active and some of them are
    /// not stored yet.
    ///
    /// The request starts when clients are idle.
    mutating func queueStoringCache() {
        guard case .active = caching, database.hasUnconfirmed else { return }
        if !ownRequests.contains(.verify) { ownRequests.append(.storeCache) }
    }

    /// Processes the peer's Database Hash, which was read to check or store the cache; `hash` is `nil` if the peer has
    /// none.
    ///
    /// `isOutdated` is true if services changed while the hash was being read, in which case it is read again.
    mutating func hashRead(_ hash: UInt128?, isOutdated: Bool, at now: Instant, into outbox: inout Outbox) {
        switch caching {
        case .unchecked where isOutdated && hash != nil: ownRequests.append(.checkCache)
        case .unchecked(let cache): check(cache, hash, at: now, into: &outbox)
        case .active where isOutdated && hash != nil: queueStoringCache()
        case .active: storeIfUnchanged(hash, at: now, into: &outbox)
        case .none: if !isOutdated { recordForNextLink(hash) }
        case .impossible: break
        }
    }

    /// Uses the stored attributes if the hash is unchanged, and discards them otherwise.
    ///
    /// If the peer has a hash, but attributes were already discovered on this link, the stored attributes are neither
    /// used nor discarded.
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
        caching = isCachingForBond ? .active : .none
        guard database.isEmpty else { return }
        guard hash == cache.hash else {
            database.verify(under: hash)
            store(nil, into: &outbox)
            return
        }
        database.adopt(cache)
        store(cache, into: &outbox)
        expiry = now + Self.freshness
        knowServices(into: &outbox)
    }

    /// Stores the discovered attributes if the Database Hash was the same before and after discovery.
    ///
    /// If the hash has changed, all known attributes are invalid. If `hash` is `nil`, nothing is cached on this link.
    private mutating func storeIfUnchanged(_ hash: UInt128?, at now: Instant, into outbox: inout Outbox) {
        guard let hash else {
            caching = .impossible
            store(nil, into: &outbox)
            return verifyUnwatched()
        }
        if database.hash == nil { database.verify(under: hash) }
        guard database.hash == hash else {
            servicesChanged(in: .all, at: now, into: &outbox)
            return database.verify(under: hash)
        }
        guard database.isVerified else { return ownRequests.append(.verify) }
        database.confirm()
        if database.attributes.count <= limits.cachedAttributes {
            store(CachedDatabase(hash: hash, attributes: database.attributes.asStored), into: &outbox)
        }
    }

    /// Records the attributes of an unbonded peer, for use on the peer's next link.
    ///
    /// The attributes are recorded only if the peer has been asked to report changes, because only then do they
    /// certainly belong to `hash`.
    private mutating func recordForNextLink(_ hash: UInt128?) {
        guard let hash else { return caching = .impossible }
        guard database.isWatched, database.isVerified else { return }
        let attributes = database.hash == hash ? database.attributes.asStored : database.attributes.asStoredIfCurrent
        if attributes.count <= limits.cachedAttributes {
            confirmed = CachedDatabase(hash: hash, attributes: attributes)
        }
        database.noteRecorded()
    }

    /// Queues the request that records the attributes of an unbonded peer, once no attribute needs verification.
    ///
    /// If the list of services is incomplete, a request for the missing services is queued instead. An app that
    /// searches for a service then needs no request on the next link.
    private mutating func queueRecording() {
        guard case .none = caching, role == .central, bond.stored == nil, database.isWatched, database.isDelivered,
            database.isVerified, database.hasUnconfirmed, !ownRequests.contains(.storeCache)
        else { return }
        ownRequests.append(database.requireAllServices() ? .verify : .storeCache)
    }

    /// Processes the result of verifying a part of the attributes.
    ///
    /// Clients are informed if the part has changed. Afterwards, the next step is scheduled.
    mutating func verified(
        _ result: Result<AttributeDiscovery.Answer, Failure>,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        reportChange(at: now, into: &outbox)
        guard case .success = result else { return database.abandonVerification() }
        database.expire()
        switch caching {
        case .active:
            guard database.hash != nil else { return queueStoringCache() }
            ownRequests.append(database.isVerified ? .storeCache : .verify)
        case .none, .unchecked, .impossible: queueVerification()
        }
    }

    /// Reports the range in which the peer's attributes differ from the attributes that were reported to clients, if
    /// there is such a range.
    mutating func reportChange(at now: Instant, into outbox: inout Outbox) {
        if let change = database.takeChange() { servicesChanged(in: change, at: now, into: &outbox) }
    }

    /// Marks for verification everything that was reported to clients.
    mutating func checkDatabase() { database.checkAll() }

    /// Marks known attributes as stale if so much time has passed that they may have changed.
    mutating func expireDatabase(at now: Instant) { if expiry < now { database.expire() } }

    /// Verifies what clients discovered before the peer was asked to report changes, because the peer does not report
    /// earlier changes.
    ///
    /// Verification is not needed if there is a cache: the Database Hash reveals such changes, or the attributes are
    /// discovered again anyway.
    private mutating func verifyUnwatched() {
        guard database.isWatched else { return }
        verificationCount = 0
        database.checkUnwatched()
        queueVerification()
    }

    /// Queues a request that verifies the next part of the attributes, services first.
    ///
    /// After ``mostVerifications`` requests, only services are still verified. If no attribute needs verification, the
    /// request that records the attributes is queued instead.
    private mutating func queueVerification() {
        guard let (aspect, _, _) = database.firstUnverified else { return queueRecording() }
        guard aspect == .services || verificationCount < Self.mostVerifications, !ownRequests.contains(.verify)
        else { return }
        verificationCount += 1
        ownRequests.append(.verify)
    }

    /// Processes the contents of the peer's GATT service.
    ///
    /// `isOutdated` is true if services changed while the contents were being read. In that case, the search is
    /// repeated if Service Changed was not found.
    mutating func noteServiceChangedSubscription(_ outcome: ServiceChangedSubscription.Outcome, isOutdated: Bool) {
        if let features = outcome.features, !hasAnnouncedFeatures {
            hasAnnouncedFeatures = true
            ownRequests.putFirst([.announceFeatures(features), .probe(features)])
        }
        if let handle = outcome.serviceChanged {
            serviceChanged = handle
            database.watch()
            guard case .active = caching else { return verifyUnwatched() }
            // Attributes confirmed by the hash can be used repeatedly from now on.
            if !database.isEmpty { ownRequests.append(.storeCache) }
        } else if isOutdated {
            watchServices()
        }
    }

    /// Drops what is known about changed services, and fails requests about them.
    ///
    /// All other queued requests keep their place, so that clients get results in the order of their requests. The
    /// handle of Service Changed is considered valid until a new search has ended, because the handle has probably not
    /// changed, and the next change may occur before there is time to search.
    ///
    /// Clients that already know about a change are not informed a second time, unless one of them has made a discovery
    /// or subscribed in the meantime.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
    mutating func servicesChanged(in range: AttributeHandleRange, at now: Instant, into outbox: inout Outbox) {
        ownRequests.postpone(at: now)
        forgetServices(in: range, into: &outbox)
        subscriptions.removeAll(in: range)
        ownRequests.remove { $0.isAbout(range) }
        for (client, command) in waiting.removeRequests(about: range) {
            answer(command, of: Requester(client), with: .notFound, into: &outbox)
        }
        updateProcedures(afterChangeIn: range, into: &outbox)
        if let handle = serviceChanged, range.contains(handle) {
            database.unwatch()
            watchServices()
        }
        queueStoringCache()
        if reportedChanges.note(range) { reportToAll(.servicesModified(range), through: &outbox) }
    }

    /// Drops what is known about services in `range`, and reports the services that are still known.
    private mutating func forgetServices(in range: AttributeHandleRange, into outbox: inout Outbox) {
        let count = database.attributes.services.count
        database.remove(range)
        let rest = database.attributes.services
        if rest.count < count { outbox.append(.servicesKnown(peer, rest.map(\.uuid))) }
    }

    /// Drops the client's subscriptions and everything that is known about the peer's attributes, so that the client
    /// can discover the attributes again.
    ///
    /// The peer's database is assumed to be unchanged: what other clients have discovered stays valid, and the peer
    /// still reports changes.
    mutating func forgetDatabase(for requester: Requester, at now: Instant, into outbox: inout Outbox) {
        ownRequests.postpone(at: now)
        if clients.count > 1 { database.forget() } else { database.remove(.all) }
        switch caching {
        case .none, .impossible: break
        case .unchecked, .active:
            caching = .active
            ownRequests.remove { [.checkCache, .storeCache, .verify].contains($0) }
            store(nil, into: &outbox)
        }
        unsubscribe(requester.client)
        deliver(to: requester, .databaseForgotten(nil), into: &outbox)
    }
}
