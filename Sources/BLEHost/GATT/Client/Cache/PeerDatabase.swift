import BLEWire

/// What a link knows of the attributes of its peer, and how far that can be relied on.
///
/// As long as the peer has not been asked to tell of changes, whatever is handed out is stale: it has to be asked
/// for again before it is handed out a second time, since it may have changed by then. What was read ahead is handed
/// out once; so a client that goes through a database once asks for nothing twice, and one that looks again looks
/// again.
///
/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
struct PeerDatabase: Sendable {
    typealias Aspect = KnownAttributes.Aspect

    /// The last response that held declarations.
    private struct Listing: Sendable {
        /// Whether there was no room for another.
        let isFull: Bool
        /// The first handle behind the last value.
        let end: AttributeHandle
        /// How many requests have looked for what follows.
        let requests: Int
    }

    /// How many types a response must hold for each request that looks ahead for descriptors.
    private static let roomPerPacketAhead = 8

    private(set) var attributes = KnownAttributes()
    /// Whether clients were told more than ``attributes`` says.
    private(set) var isForgotten = false
    /// Where the peer has something else by now than clients were told.
    private var change: AttributeHandleRange?
    /// Where the peer contradicts itself, as it was last heard.
    private var faults: [AttributeHandle] = []
    /// The Database Hash that was read before everything was learnt that is verified.
    private(set) var hash: UInt128?
    /// Whether something was learnt since ``attributes`` were taken for a cache.
    private(set) var hasNews = false
    /// Whether the peer tells of changes from now on.
    private(set) var isWatched = false
    /// Whether requests look beyond what is wanted; not if the peer refuses that.
    var readsAhead = true
    private var lastListing: Listing?
    /// Whether there may be something that is not stale.
    private var mayExpire = false

    var isEmpty: Bool { attributes.isEmpty }
    /// Whether clients were told anything.
    var isTold: Bool { attributes.status.contains(where: \.isTold) }
    /// Whether nothing has to be learnt again.
    var isVerified: Bool { !attributes.status.contains(where: \.isUnverified) }

    /// The first handle of `range` of which an aspect must be asked for.
    func missing(_ aspect: Aspect, in range: AttributeHandleRange) -> AttributeHandle? {
        attributes.status[aspect].first(in: range, where: \.isMissing)
    }

    /// Where to ask for an aspect of `wanted`, of which the handles before `start` are known.
    func search(_ aspect: Aspect, from start: AttributeHandle, in wanted: AttributeHandleRange) -> AttributeHandleRange?
    {
        let last = readsAhead ? attributes.status[aspect].last(where: \.isMissing) : nil
        return AttributeHandleRange(start, last ?? wanted.end)
    }

    /// An aspect that has to be learnt again: the first handles of which that is so, without gaps, and all handles
    /// from there to the last one.
    var firstUnverified: (aspect: Aspect, wanted: AttributeHandleRange, whole: AttributeHandleRange)? {
        for aspect in Aspect.allCases {
            let status = attributes.status[aspect]
            guard let first = status.first(in: .all, where: \.isUnverified),
                let last = status.last(where: \.isUnverified), let whole = AttributeHandleRange(first, last)
            else { continue }
            let gap = status.first(in: whole) { !$0.isUnverified }
            let wanted = gap.flatMap { AttributeHandleRange(first, AttributeHandle(wire: $0.wire - 1)) }
            return (aspect, wanted ?? whole, whole)
        }
        return nil
    }

    /// What to ask the types of, to see that no characteristic is declared from `start` on to the end of `service`.
    ///
    /// Behind the last characteristic of the last service there are descriptors or nothing, unless one with a type of
    /// another length follows. The word that none follows would teach nothing else, whereas who looks for descriptors
    /// has to ask for these types anyway; so they are asked for, from the first descriptor that is not known on. A
    /// request that begins in front of an attribute with a type of 128 bits does not see what is behind it, so what is
    /// in front of the last of those can wait. `room` is how many types a response holds: the more it holds, the
    /// further this looks ahead for descriptors that perhaps nobody wants. `nil` if that would take too long.
    mutating func takeTail(
        from start: AttributeHandle,
        of service: AttributeHandleRange,
        room: Int
    ) -> AttributeHandleRange? {
        guard readsAhead, let listing = lastListing, listing.end <= start else { return nil }
        lastListing = nil
        // What was asked for ends before the last handle of the service, where no characteristic could begin.
        let end = AttributeHandle(wire: min(service.end.wire, .max - 1) + 1)
        // More are likely behind a full response, unless hardly any handles are left.
        let left = Int(end.wire) - Int(start.wire) + 1
        guard !listing.isFull || left * Self.roomPerPacketAhead <= room else { return nil }
        guard attributes.status[.services].first(in: .all, where: { !$0.isKnown }) == nil,
            !attributes.services.contains(where: { end < $0.range.start && $0.range.count > 2 }),
            let whole = AttributeHandleRange(AttributeHandle(wire: 1), end),
            let behind = attributes.lastLongType(in: whole).map({ whole.after($0) }) ?? whole,
            let begin = firstUndescribed(in: behind), begin <= start,
            let tail = AttributeHandleRange(begin, end)
        else { return nil }
        let packets = listing.requests + (tail.count + room - 1) / room
        guard packets == 1 || packets * Self.roomPerPacketAhead <= room else { return nil }
        lastListing = Listing(isFull: listing.isFull, end: listing.end, requests: listing.requests + 1)
        // What follows the service, if the response shows it, tells that the last handles of the service are not used.
        return search(.types, from: begin, in: tail)
    }

    /// The first handle of `range` at which there may be a descriptor that is not known.
    private func firstUndescribed(in range: AttributeHandleRange) -> AttributeHandle? {
        for place in attributes.descriptorRanges where place.end >= range.start {
            if let rest = AttributeHandleRange(max(place.start, range.start), place.end),
                let first = missing(.types, in: rest)
            {
                return first
            }
        }
        return nil
    }

    /// Notes that an answer to a client was made of an aspect of `range`.
    mutating func spend(_ aspect: Aspect, in range: AttributeHandleRange) {
        let isStale = !isWatched
        attributes.mark(aspect, in: range) {
            $0.tell()
            if isStale { $0.expire() }
        }
    }

    /// Notes that a client has heard of an aspect of `range`.
    mutating func noteTold(_ aspect: Aspect, in range: AttributeHandleRange) {
        attributes.mark(aspect, in: range) { $0.tell() }
    }

    /// Notes that the peer is about to be asked to tell of changes: of those before that it never will.
    mutating func beginWatching() { attributes.mark { $0.beginWatching() } }

    /// Has what clients were told before the peer told of changes learnt again.
    mutating func checkUnwatched() { attributes.mark { $0.checkUnwatched() } }

    /// Has all that clients were told learnt again, since the peer says that something is otherwise.
    mutating func checkAll() {
        hash = nil
        attributes.mark {
            $0.expire()
            $0.isUnverified = $0.isTold
        }
    }

    /// Hands out, once, where the peer has something else than clients were told.
    mutating func takeChange() -> AttributeHandleRange? {
        defer { change = nil }
        return change
    }

    /// Notes that what the peer says is at these handles cannot be.
    mutating func doubt(_ handles: [AttributeHandle]) { faults += handles }

    /// Hands out, once, where the peer contradicts itself.
    mutating func takeFaults() -> [AttributeHandle] {
        defer { faults = [] }
        return faults
    }

    /// Notes that the peer tells of changes from now on; what it has not told of so far, nobody knows.
    mutating func watch() {
        isWatched = true
        attributes.mark { $0.expire() }
    }

    /// Notes that time has passed, in which anything may have changed unless the peer tells of changes.
    mutating func expire() {
        guard !isWatched, mayExpire else { return }
        mayExpire = false
        attributes.mark { $0.expire() }
    }

    /// Begins to learn under a hash that has just been read.
    ///
    /// What was learnt before has to be learnt again, but for what the peer would have told of.
    mutating func verify(under hash: UInt128) {
        self.hash = hash
        let mayHaveChanged = !isWatched
        attributes.mark { $0.isUnverified = $0.isKnown && (mayHaveChanged || $0.isMissing) }
    }

    /// Notes that the hash, just read, is still the same: all that is known is so at this moment.
    mutating func confirm() {
        hasNews = false
        guard isWatched else { return }
        attributes.mark { $0.confirm() }
        mayExpire = true
    }

    /// Takes over what was known of the peer when it was here last; its hash has just been read, and is the same.
    mutating func adopt(_ cache: CachedDatabase) {
        precondition(isEmpty, "a cache comes first")
        attributes = cache.attributes
        mayExpire = true
        hash = cache.hash
    }

    /// Notes that asking for types does not tell whether characteristics follow.
    mutating func giveUpTail() { lastListing = nil }

    /// Gives up what nobody is going to learn again.
    mutating func abandonVerification() { hasNews = false }

    /// Forgets whatever has a part in `range`, and the hash with it.
    mutating func remove(_ range: AttributeHandleRange) {
        let gone = attributes.remove(range)
        if let change, gone.contains(change.start), gone.contains(change.end) { self.change = nil }
        if range == .all { isForgotten = false }
        hash = nil
        hasNews = !isEmpty
        lastListing = nil
    }

    /// Forgets everything, although clients were told of it.
    mutating func forget() {
        let isForgotten = isForgotten || isTold
        remove(.all)
        self.isForgotten = isForgotten
    }

    /// Forgets everything, and that the peer was asked to tell of changes; clients may have been told of it.
    mutating func removeAll() {
        let (readsAhead, isForgotten) = (readsAhead, isForgotten || isTold)
        self = PeerDatabase()
        (self.readsAhead, self.isForgotten) = (readsAhead, isForgotten)
    }

    mutating func unwatch() { isWatched = false }
}

extension PeerDatabase {
    mutating func learn(services found: [DiscoveredService], in range: AttributeHandleRange) {
        note(attributes.change(services: found, in: range))
        attributes.learn(services: found, in: range)
    }

    mutating func learn(includes found: [KnownAttributes.Include], in range: AttributeHandleRange) {
        note(attributes.change(includes: found, in: range))
        attributes.learn(includes: found, in: range)
    }

    /// Notes declarations; `isFull` if the response had no room for another.
    mutating func learn(
        declarations found: [KnownAttributes.Declaration],
        in range: AttributeHandleRange,
        isFull: Bool
    ) {
        note(attributes.change(declarations: found, in: range))
        attributes.learn(declarations: found, in: range)
        let end = found.last.flatMap { AttributeHandleRange.all.after($0.value)?.start }
        lastListing = end.map { Listing(isFull: isFull, end: $0, requests: 0) }
    }

    mutating func learn(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) {
        note(attributes.change(types: found, in: range))
        attributes.learn(types: found, in: range)
    }

    /// Notes that a search found nothing.
    mutating func learnAbsence(of aspect: Aspect, in range: AttributeHandleRange) {
        switch aspect {
        case .services: learn(services: [], in: range)
        case .includes: learn(includes: [], in: range)
        case .characteristics: learn(declarations: [], in: range, isFull: false)
        case .types: learn(types: [], in: range)
        }
    }

    mutating func name(include handle: AttributeHandle, _ uuid: BluetoothUUID) {
        attributes.name(include: handle, uuid)
        hasNews = true
    }

    /// Takes note of what the peer has just said, and where it is otherwise than clients were told.
    private mutating func note(_ change: AttributeHandleRange?) {
        hasNews = true
        mayExpire = true
        guard let change else { return }
        self.change = self.change?.joined(with: change) ?? change
    }
}
