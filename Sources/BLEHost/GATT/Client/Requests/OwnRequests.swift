import BLEWire

/// Something that the host asks a peer for itself, not for a client.
enum OwnRequest: Equatable {
    case exchangeMTU
    /// Finds out whether what was kept of a bonded peer still counts; clients wait for it.
    case checkCache
    case readName
    case watchServices
    /// Finds out whether the peer opens enhanced bearers, and has some opened.
    case openBearers
    /// Tells the peer what this host can do beyond what all can.
    case announceFeatures(AttributeHandle)
    /// Reads a value, to be told if services changed before they were watched.
    ///
    /// A peer that has changed since the link came up refuses the next request of a host that understands that, and
    /// holds values back until then: Core 6.0, Vol 3, Part G, 2.5.2.1.
    case probe(AttributeHandle)
    /// Keeps what was learnt of a bonded peer for its next link, if it is certain which database it is about.
    case keepCache
    /// Learns again what was learnt before it was certain, or before the peer told of changes.
    case verify
    /// The peer sends values that no client wants any more.
    case reconfigure(AttributeHandle)

    /// Whether clients have to wait for it.
    fileprivate var isUrgent: Bool {
        switch self {
        case .exchangeMTU, .checkCache: true
        case .readName, .watchServices, .openBearers, .announceFeatures, .probe, .keepCache, .verify, .reconfigure:
            false
        }
    }

    /// Whether it is about an attribute in `range`.
    func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .reconfigure(let handle), .announceFeatures(let handle), .probe(let handle): range.contains(handle)
        case .exchangeMTU, .openBearers, .checkCache, .readName, .watchServices, .keepCache, .verify: false
        }
    }
}

/// What the host asks a peer for itself: what clients have to wait for, and what waits until clients want nothing.
struct OwnRequests {
    private var waiting: [OwnRequest] = []
    private var courtesy = Courtesy()

    var isEmpty: Bool { waiting.isEmpty }

    /// When the next may begin that waits for clients; `nil` if none does, or the link is not ready.
    var deadline: Instant? { hasPatient ? courtesy.begin : nil }

    private var hasPatient: Bool { waiting.contains { !$0.isUrgent } }

    func contains(_ request: OwnRequest) -> Bool { waiting.contains(request) }

    /// Takes a request, unless the same waits already.
    mutating func append(_ request: OwnRequest) { if !contains(request) { waiting.append(request) } }

    /// Takes requests that come before all others.
    mutating func putFirst(_ requests: [OwnRequest]) { waiting.insert(contentsOf: requests, at: 0) }

    mutating func remove(where isGone: (OwnRequest) -> Bool) { waiting.removeAll(where: isGone) }

    mutating func removeAll() { waiting = [] }

    /// The link is ready: clients have the time to go first.
    mutating func allow(at now: Instant) { courtesy.allow(at: now) }

    /// A client wanted something, and may want more.
    mutating func postpone(at now: Instant) { courtesy.postpone(at: now, isIdle: !hasPatient) }

    /// Hands out what clients have to wait for; whether the cache counts matters only to who is about to ask.
    mutating func nextUrgent(checksCache: Bool) -> OwnRequest? {
        waiting.firstIndex { $0.isUrgent && (checksCache || $0 != .checkCache) }.map { waiting.remove(at: $0) }
    }

    /// Hands out what has waited for too long, since clients always want something.
    mutating func nextOverdue(at now: Instant) -> OwnRequest? {
        guard courtesy.due <= now, let request = next(at: now) else { return nil }
        courtesy.indulge(at: now)
        return request
    }

    /// Hands out what waited until clients want nothing.
    mutating func next(at now: Instant) -> OwnRequest? {
        guard let begin = courtesy.begin, begin <= now else { return nil }
        return waiting.firstIndex { !$0.isUrgent }.map { waiting.remove(at: $0) }
    }
}
