import BLEWire

/// A request that the host makes to a peer for its own purposes.
enum OwnRequest: Equatable {
    case exchangeMTU
    /// Checks whether the attributes from the peer's earlier link are valid. Client requests wait until the check has
    /// ended.
    case checkCache
    case readName
    case watchServices
    /// Checks whether the peer supports Enhanced ATT bearers, and opens some if it does.
    case openBearers
    /// Writes the Client Supported Features of this host.
    case announceFeatures(AttributeHandle)
    /// Reads a value, to find out whether services changed before the peer was asked to report changes.
    ///
    /// If a peer's database has changed since the link was established, the peer rejects the next request from a client
    /// with robust caching, and sends the client no values before that request: Core 6.0, Vol 3, Part G, 2.5.2.1.
    case probe(AttributeHandle)
    /// Stores the discovered attributes for the peer's next link, if they are known to belong to its current Database
    /// Hash.
    case storeCache
    /// Verifies attributes that may have changed since they were discovered.
    case verify
    /// Updates the Client Characteristic Configuration of a value after clients have ended their subscriptions to the
    /// value.
    case reconfigure(AttributeHandle)

    /// True if client requests must wait until this request has ended.
    fileprivate var isUrgent: Bool {
        switch self {
        case .exchangeMTU, .checkCache: true
        case .readName, .watchServices, .openBearers, .announceFeatures, .probe, .storeCache, .verify, .reconfigure:
            false
        }
    }

    /// Returns whether the request is about an attribute in `range`.
    func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .reconfigure(let handle), .announceFeatures(let handle), .probe(let handle): range.contains(handle)
        case .exchangeMTU, .openBearers, .checkCache, .readName, .watchServices, .storeCache, .verify: false
        }
    }
}

/// The queue of the host's own requests to a peer.
///
/// Urgent requests start first, the others when clients are idle.
struct OwnRequests {
    private var waiting: [OwnRequest] = []
    private var idleGate = IdleGate()

    var isEmpty: Bool { waiting.isEmpty }

    /// The time at which the next request that is not urgent can start; `nil` if there is no such request or the link
    /// is not ready.
    var deadline: Instant? { hasNonUrgent ? idleGate.begin : nil }

    /// The time at which clients last stopped making requests, as in ``IdleGate/idleSince``; `nil` before the link is
    /// ready.
    var idleSince: Instant? { idleGate.idleSince }

    private var hasNonUrgent: Bool { waiting.contains { !$0.isUrgent } }

    func contains(_ request: OwnRequest) -> Bool { waiting.contains(request) }

    /// Queues a request, unless it is already queued.
    mutating func append(_ request: OwnRequest) { if !contains(request) { waiting.append(request) } }

    /// Inserts requests at the start of the queue.
    mutating func putFirst(_ requests: [OwnRequest]) { waiting.insert(contentsOf: requests, at: 0) }

    mutating func remove(where isGone: (OwnRequest) -> Bool) { waiting.removeAll(where: isGone) }

    mutating func removeAll() { waiting = [] }

    /// Records that the link is ready.
    ///
    /// Requests that are not urgent still wait for ``IdleGate/pause``, so that clients can make theirs first.
    mutating func allow(at now: Instant) { idleGate.allow(at: now) }

    /// Records a client's request, which delays the requests that are not urgent.
    mutating func postpone(at now: Instant) { idleGate.postpone(at: now, isIdle: !hasNonUrgent) }

    /// Removes and returns the next urgent request; `nil` if there is none.
    ///
    /// `checksCache` is false if no client is about to make a request, in which case ``OwnRequest/checkCache`` is
    /// skipped.
    mutating func nextUrgent(checksCache: Bool) -> OwnRequest? {
        waiting.firstIndex { $0.isUrgent && (checksCache || $0 != .checkCache) }.map { waiting.remove(at: $0) }
    }

    /// Removes and returns the next request that is not urgent, if such requests have waited for the maximum time
    /// (``IdleGate/maximumDelay``).
    ///
    /// Returns `nil` if they have waited for less, or if there is no such request.
    mutating func nextOverdue(at now: Instant) -> OwnRequest? {
        guard idleGate.due <= now, let request = next(at: now) else { return nil }
        idleGate.startedOne(at: now)
        return request
    }

    /// Removes and returns the next request that is not urgent; `nil` if there is none, or if clients are not idle.
    mutating func next(at now: Instant) -> OwnRequest? {
        guard let begin = idleGate.begin, begin <= now else { return nil }
        return waiting.firstIndex { !$0.isUrgent }.map { waiting.remove(at: $0) }
    }
}
