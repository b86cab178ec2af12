import BLEWire

/// A request of the host itself to a peer.
enum OwnRequest: Equatable {
    case exchangeMTU
    /// Checks whether the stored attributes of a bonded peer are valid; clients wait for it.
    case checkCache
    case readName
    case watchServices
    /// Checks whether the peer supports Enhanced ATT bearers, and opens some.
    case openBearers
    /// Writes the Client Supported Features of this host.
    case announceFeatures(AttributeHandle)
    /// Reads a value, to be told if services changed before they were watched.
    ///
    /// A peer that has changed since the link came up rejects the next request of a client with robust caching, and
    /// holds values back until then: Core 6.0, Vol 3, Part G, 2.5.2.1.
    case probe(AttributeHandle)
    /// Stores the discovered attributes of a bonded peer, if it is certain to which database they belong.
    case keepCache
    /// Verifies what was discovered before it was certain, or before the peer reported changes.
    case verify
    /// Ends the notifications of a value that no client needs any more.
    case reconfigure(AttributeHandle)

    /// True if clients must wait for it.
    fileprivate var isUrgent: Bool {
        switch self {
        case .exchangeMTU, .checkCache: true
        case .readName, .watchServices, .openBearers, .announceFeatures, .probe, .keepCache, .verify, .reconfigure:
            false
        }
    }

    /// Returns whether it concerns an attribute in `range`.
    func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .reconfigure(let handle), .announceFeatures(let handle), .probe(let handle): range.contains(handle)
        case .exchangeMTU, .openBearers, .checkCache, .readName, .watchServices, .keepCache, .verify: false
        }
    }
}

/// The queue of the host's own requests to a peer: urgent ones, and those that wait until clients are idle.
struct OwnRequests {
    private var waiting: [OwnRequest] = []
    private var idleGate = IdleGate()

    var isEmpty: Bool { waiting.isEmpty }

    /// The time at which the next request can start that waits for clients; `nil` if there is none or the link is not
    /// ready.
    var deadline: Instant? { hasPatient ? idleGate.begin : nil }

    private var hasPatient: Bool { waiting.contains { !$0.isUrgent } }

    func contains(_ request: OwnRequest) -> Bool { waiting.contains(request) }

    /// Queues a request, unless it is already queued.
    mutating func append(_ request: OwnRequest) { if !contains(request) { waiting.append(request) } }

    /// Queues requests before all others.
    mutating func putFirst(_ requests: [OwnRequest]) { waiting.insert(contentsOf: requests, at: 0) }

    mutating func remove(where isGone: (OwnRequest) -> Bool) { waiting.removeAll(where: isGone) }

    mutating func removeAll() { waiting = [] }

    /// Records that the link is ready; clients get time to go first.
    mutating func allow(at now: Instant) { idleGate.allow(at: now) }

    /// Records a client's request.
    mutating func postpone(at now: Instant) { idleGate.postpone(at: now, isIdle: !hasPatient) }

    /// Removes and returns the next urgent request.
    ///
    /// The validity of the cache only matters for a client that is about to make a request.
    mutating func nextUrgent(checksCache: Bool) -> OwnRequest? {
        waiting.firstIndex { $0.isUrgent && (checksCache || $0 != .checkCache) }.map { waiting.remove(at: $0) }
    }

    /// Removes and returns a request that has waited too long for clients.
    mutating func nextOverdue(at now: Instant) -> OwnRequest? {
        guard idleGate.due <= now, let request = next(at: now) else { return nil }
        idleGate.startedOne(at: now)
        return request
    }

    /// Removes and returns a request, now that clients are idle.
    mutating func next(at now: Instant) -> OwnRequest? {
        guard let begin = idleGate.begin, begin <= now else { return nil }
        return waiting.firstIndex { !$0.isUrgent }.map { waiting.remove(at: $0) }
    }
}
