import BLEWire

/// A link's knowledge of its peer's attributes, and its validity.
///
/// Until the peer has been asked to report changes, a used item becomes stale: it must be read again before its second
/// use, because it may have changed. Items that were read ahead can be used once. So a client that discovers everything
/// once causes no request twice, and a client that discovers again gets current results.
///
/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
struct PeerDatabase: Sendable {
    typealias Aspect = KnownAttributes.Aspect

    /// The last response with declarations.
    private struct LastResponse: Sendable {
        /// True if the response had no room for another entry.
        let isFull: Bool
        /// The first handle after the last value.
        let end: AttributeHandle
        /// The number of requests for the attributes that follow.
        let requests: Int
    }

    /// The number of types that a response must hold per request that looks ahead for descriptors.
    private static let roomPerPacketAhead = 8

    private(set) var attributes = KnownAttributes()
    /// True if clients were told more than ``attributes`` contains.
    private(set) var isForgotten = false
    /// The range in which the peer now differs from what clients were told.
    private var change: AttributeHandleRange?
    /// The handles at which the peer's last responses contradicted each other.
    private var faults: [AttributeHandle] = []
    /// The Database Hash that was read before all verified items were discovered.
    private(set) var hash: UInt128?
    /// True if something was discovered since ``attributes`` were stored.
    private(set) var hasNews = false
    /// True if the peer reports changes.
    private(set) var isWatched = false
    /// True if requests look beyond the wanted range; false if the peer rejects that.
    var readsAhead = true
    private var lastListing: LastResponse?
    /// True if some items may not be stale.
    private var mayExpire = false

    var isEmpty: Bool { attributes.isEmpty }
    /// True if clients were told anything.
    var isDelivered: Bool { attributes.status.contains(where: \.isDelivered) }
    /// True if nothing needs verification.
    var isVerified: Bool { !attributes.status.contains(where: \.isUnverified) }

    /// Returns the first handle in `range` whose aspect is missing.
    func missing(_ aspect: Aspect, in range: AttributeHandleRange) -> AttributeHandle? {
        attributes.status[aspect].first(in: range, where: \.isMissing)
    }

    /// Returns the range to search for an aspect in `wanted`, whose handles before `start` are known.
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

    /// Returns the range to read types from, to check that no characteristic is declared between `start` and the end of
    /// `service`; `nil` if that would take too long.
    ///
    /// After the last characteristic of the last service there are only descriptors, or nothing, unless one with a type
    /// of another length follows. A search for characteristics would only show that there are none, whereas a client
    /// that discovers descriptors needs these types anyway. So the types are read, from the first unknown descriptor
    /// on. A request that starts before an attribute with a 128-bit type does not return what follows it, so
    /// descriptors before the last one of these can wait. `room` is the number of types in a response: the larger it
    /// is, the further this looks ahead for descriptors that may not be needed.
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
        lastListing = LastResponse(isFull: listing.isFull, end: listing.end, requests: listing.requests + 1)
        // What follows the service, if the response shows it, tells that the last handles of the service are not used.
        return search(.types, from: begin, in: tail)
    }

    /// Returns the first handle in `range` that may be an unknown descriptor.
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

    /// Records that an aspect of `range` was used for a client's result.
    mutating func spend(_ aspect: Aspect, in range: AttributeHandleRange) {
        let isStale = !isWatched
        attributes.mark(aspect, in: range) {
            $0.noteDelivery()
            if isStale { $0.expire() }
        }
    }

    /// Records that a client was told an aspect of `range`.
    mutating func noteTold(_ aspect: Aspect, in range: AttributeHandleRange) {
        attributes.mark(aspect, in: range) { $0.noteDelivery() }
    }

    /// Records that the peer is about to be asked to report changes.
    ///
    /// It never reports earlier ones.
    mutating func beginWatching() { attributes.mark { $0.beginWatching() } }

    /// Marks everything for verification that clients were told before the peer reported changes.
    mutating func checkUnwatched() { attributes.mark { $0.checkUnwatched() } }

    /// Marks everything for verification that clients were told, because the peer has reported a change.
    mutating func checkAll() {
        hash = nil
        attributes.mark {
            $0.expire()
            $0.isUnverified = $0.isDelivered
        }
    }

    /// Returns, once, the range in which the peer differs from what clients were told.
    mutating func takeChange() -> AttributeHandleRange? {
        defer { change = nil }
        return change
    }

    /// Records handles at which the peer's responses are inconsistent.
    mutating func doubt(_ handles: [AttributeHandle]) { faults += handles }

    /// Returns, once, the handles at which the peer's responses are inconsistent.
    mutating func takeFaults() -> [AttributeHandle] {
        defer { faults = [] }
        return faults
    }

    /// Records that the peer reports changes from now on.
    ///
    /// Earlier changes are unknown.
    mutating func watch() {
        isWatched = true
        attributes.mark { $0.expire() }
    }

    /// Records that time has passed, in which anything may have changed unless the peer reports changes.
    mutating func expire() {
        guard !isWatched, mayExpire else { return }
        mayExpire = false
        attributes.mark { $0.expire() }
    }

    /// Starts discovery under a hash that was just read.
    ///
    /// Earlier items need verification, except those whose changes the peer would have reported.
    mutating func verify(under hash: UInt128) {
        self.hash = hash
        let mayHaveChanged = !isWatched
        attributes.mark { $0.isUnverified = $0.isKnown && (mayHaveChanged || $0.isMissing) }
    }

    /// Records that the hash is unchanged: everything known is valid at this moment.
    mutating func confirm() {
        hasNews = false
        guard isWatched else { return }
        attributes.mark { $0.confirm() }
        mayExpire = true
    }

    /// Uses the attributes that were stored for the peer; its hash was just read and is unchanged.
    mutating func adopt(_ cache: CachedDatabase) {
        precondition(isEmpty, "the database is not empty")
        attributes = cache.attributes
        mayExpire = true
        hash = cache.hash
    }

    /// Records that reading types does not show whether characteristics follow.
    mutating func giveUpTail() { lastListing = nil }

    /// Gives up verification that will not happen.
    mutating func abandonVerification() { hasNews = false }

    /// Drops everything that overlaps `range`, and the hash.
    mutating func remove(_ range: AttributeHandleRange) {
        let gone = attributes.remove(range)
        if let change, gone.contains(change.start), gone.contains(change.end) { self.change = nil }
        if range == .all { isForgotten = false }
        hash = nil
        hasNews = !isEmpty
        lastListing = nil
    }

    /// Drops everything, although clients were told.
    mutating func forget() {
        let isForgotten = isForgotten || isDelivered
        remove(.all)
        self.isForgotten = isForgotten
    }

    /// Forgets everything, and that the peer was asked to tell of changes; clients may have been told of it.
    mutating func removeAll() {
        let (readsAhead, isForgotten) = (readsAhead, isForgotten || isDelivered)
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

    /// Records declarations.
    ///
    /// `isFull` is true if the response had no room for another entry.
    mutating func learn(
        declarations found: [KnownAttributes.Declaration],
        in range: AttributeHandleRange,
        isFull: Bool
    ) {
        note(attributes.change(declarations: found, in: range))
        attributes.learn(declarations: found, in: range)
        let end = found.last.flatMap { AttributeHandleRange.all.after($0.value)?.start }
        lastListing = end.map { LastResponse(isFull: isFull, end: $0, requests: 0) }
    }

    mutating func learn(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) {
        note(attributes.change(types: found, in: range))
        attributes.learn(types: found, in: range)
    }

    /// Records that a search found nothing.
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

    /// Records what the peer has just sent, and where it differs from what clients were told.
    private mutating func note(_ change: AttributeHandleRange?) {
        hasNews = true
        mayExpire = true
        guard let change else { return }
        self.change = self.change?.joined(with: change) ?? change
    }
}
