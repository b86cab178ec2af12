import BLEWire

/// The attributes of a link's peer as far as they are known, and their validity.
///
/// Until the peer has been asked to report changes, an item becomes stale when it is used: it must be read again before
/// its second use, because it may have changed. Items that were read ahead, before a client needed them, can also be
/// used once. So while a client discovers everything once, no request is sent twice; if the client discovers again, it
/// gets current results.
///
/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
struct PeerDatabase: Sendable {
    typealias Aspect = KnownAttributes.Aspect

    /// The last response that contained characteristic declarations.
    private struct LastResponse: Sendable {
        /// True if the response had no room for another entry.
        let isFull: Bool
        /// The first handle after the value of the response's last declaration.
        let end: AttributeHandle
        /// The number of requests that have read attribute types ahead since this response.
        let requests: Int
    }

    /// The room that a response must have for each request, in types, if reading descriptors ahead takes several
    /// requests.
    ///
    /// For example, two requests are made only if each response has room for 16 types.
    ///
    /// After a full response with characteristics, further characteristics are likely. Descriptors are then read ahead
    /// only if a response has room for this number of types for each handle that is left in the service.
    private static let minimumRoomPerReadAheadRequest = 8

    private(set) var attributes = KnownAttributes()
    /// True if ``attributes`` no longer contains everything that was reported to clients.
    private(set) var lacksReportedAttributes = false
    /// The range in which the peer's attributes now differ from the attributes that were reported to clients; `nil` if
    /// there is none.
    private var change: AttributeHandleRange?
    /// The handles of implausible attributes that the peer has sent and that have not been reported yet.
    private var faults: [AttributeHandle] = []
    /// The peer's Database Hash before the known attributes were read or verified; `nil` if it was not read, or if the
    /// attributes may have changed since.
    private(set) var hash: UInt128?
    /// True if some known attributes have yet to be confirmed by the Database Hash.
    private(set) var hasUnconfirmed = false
    /// True if the peer has been asked to report changes of its services.
    private(set) var isWatched = false
    /// True if ``requireAllServices()`` has marked handles for verification.
    private var hasRequiredAllServices = false
    /// True if requests may extend beyond the range that a client needs; false if the peer rejects such requests.
    var readsAhead = true
    private var lastDeclarationResponse: LastResponse?
    /// True if some items may still be valid; otherwise ``expire()`` has nothing to do.
    private var mayExpire = false

    var isEmpty: Bool { attributes.isEmpty }
    /// True if anything was reported to clients.
    var isDelivered: Bool { attributes.status.contains(where: \.isDelivered) }
    /// True if nothing needs verification.
    var isVerified: Bool { !attributes.status.contains(where: \.isUnverified) }

    /// Returns the first handle in `range` at which the aspect must be read; `nil` if there is none.
    func missing(_ aspect: Aspect, in range: AttributeHandleRange) -> AttributeHandle? {
        attributes.status[aspect].first(in: range, where: \.isMissing)
    }

    /// Returns the range for which to request an aspect; `nil` if the range would be empty.
    ///
    /// The client needs the aspect of `wanted`, and the aspect of the handles before `start` is known. The result
    /// begins at `start`, and ends at the last handle of the database at which the aspect must be read. If the peer
    /// rejects requests beyond the range that a client needs (``readsAhead``), the result ends with `wanted`.
    func search(_ aspect: Aspect, from start: AttributeHandle, in wanted: AttributeHandleRange) -> AttributeHandleRange?
    {
        let last = readsAhead ? attributes.status[aspect].last(where: \.isMissing) : nil
        return AttributeHandleRange(start, last ?? wanted.end)
    }

    /// The first aspect that needs verification; `nil` if there is none.
    ///
    /// `wanted` contains the first handles that need verification, without gaps; `whole` extends to the last such
    /// handle.
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

    /// Returns the range in which to read types, to check that no characteristic is declared between `start` and the
    /// end of `service`; `nil` if a search for characteristics is better, for example because reading types would take
    /// too many requests.
    ///
    /// After the last characteristic of the last service, there are usually only descriptors, or nothing. Only a
    /// characteristic whose UUID has another length may still follow. A search for characteristics would show no more
    /// than that. If the types are read instead, a client that discovers descriptors can use them, too. So the types
    /// are read, beginning with the first unknown descriptor.
    ///
    /// A response contains types of only one length, so it ends before a 128-bit type. Descriptors before the last
    /// known 128-bit type are therefore not read ahead. `room` is the number of types that fit into a response: the
    /// larger it is, the more descriptors are read ahead, although they may not be needed.
    mutating func takeReadAheadRange(
        from start: AttributeHandle,
        of service: AttributeHandleRange,
        room: Int
    ) -> AttributeHandleRange? {
        guard readsAhead, let listing = lastDeclarationResponse, listing.end <= start else { return nil }
        lastDeclarationResponse = nil
        // The previous search ended before the last handle of the service, at which no characteristic could begin.
        let end = AttributeHandle(wire: min(service.end.wire, .max - 1) + 1)
        // After a full response, more characteristics are likely, unless hardly any handles are left.
        let left = Int(end.wire) - Int(start.wire) + 1
        guard !listing.isFull || left * Self.minimumRoomPerReadAheadRequest <= room else { return nil }
        guard attributes.status[.services].first(in: .all, where: { !$0.isKnown }) == nil,
            !attributes.services.contains(where: { end < $0.range.start && $0.range.count > 2 }),
            let whole = AttributeHandleRange(AttributeHandle(wire: 1), end),
            let behind = attributes.lastLongType(in: whole).map({ whole.after($0) }) ?? whole,
            let begin = firstUndescribed(in: behind), begin <= start,
            let tail = AttributeHandleRange(begin, end)
        else { return nil }
        let packets = listing.requests + (tail.count + room - 1) / room
        guard packets == 1 || packets * Self.minimumRoomPerReadAheadRequest <= room else { return nil }
        lastDeclarationResponse = LastResponse(isFull: listing.isFull, end: listing.end, requests: listing.requests + 1)
        // If the response shows an attribute after the service, it also shows that the service's last handles are
        // unused.
        return search(.types, from: begin, in: tail)
    }

    /// Returns the first handle in `range` that may be an unknown descriptor; `nil` if there is none.
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
    ///
    /// If the peer has not been asked to report changes, the aspect can be used only once: it becomes stale, and must
    /// be read again.
    mutating func markUsed(_ aspect: Aspect, in range: AttributeHandleRange) {
        let isStale = !isWatched
        attributes.mark(aspect, in: range) {
            $0.noteDelivery()
            if isStale { $0.expire() }
        }
    }

    /// Records that an aspect of `range` was reported to a client.
    mutating func markDelivered(_ aspect: Aspect, in range: AttributeHandleRange) {
        attributes.mark(aspect, in: range) { $0.noteDelivery() }
    }

    /// Records that the peer is about to be asked to report changes.
    ///
    /// The peer will not report changes that occurred before it was asked.
    mutating func beginWatching() { attributes.mark { $0.beginWatching() } }

    /// Marks for verification everything that was reported to clients before the peer was asked to report changes.
    mutating func checkUnwatched() { attributes.mark { $0.checkUnwatched() } }

    /// Marks for verification everything that was reported to clients, because the peer's database has changed.
    mutating func checkAll() {
        hash = nil
        attributes.mark {
            $0.expire()
            $0.isUnverified = $0.isDelivered
        }
    }

    /// Returns and clears the range in which the peer's attributes differ from the attributes that were reported to
    /// clients; `nil` if there is none.
    mutating func takeChange() -> AttributeHandleRange? {
        defer { change = nil }
        return change
    }

    /// Records the handles of implausible attributes in a response.
    mutating func noteFaults(_ handles: [AttributeHandle]) { faults += handles }

    /// Returns and clears the handles of implausible attributes in the peer's responses.
    mutating func takeFaults() -> [AttributeHandle] {
        defer { faults = [] }
        return faults
    }

    /// Records that the peer reports changes from now on.
    ///
    /// Everything that was read before is stale, because it may have changed already.
    mutating func watch() {
        isWatched = true
        attributes.mark { $0.expire() }
    }

    /// Marks everything as stale because time has passed.
    ///
    /// Has no effect if the peer has been asked to report changes.
    mutating func expire() {
        guard !isWatched, mayExpire else { return }
        mayExpire = false
        attributes.mark { $0.expire() }
    }

    /// Marks everything as stale, and drops the hash, because another device may have sent the attributes and the hash.
    mutating func distrust() {
        hash = nil
        hasUnconfirmed = !isEmpty
        attributes.mark { $0.expire() }
    }

    /// Records the peer's Database Hash, which was just read, and marks known items for verification.
    ///
    /// If the peer has been asked to report changes, items that are still valid need no verification.
    mutating func verify(under hash: UInt128) {
        self.hash = hash
        let mayHaveChanged = !isWatched
        attributes.mark { $0.isUnverified = $0.isKnown && (mayHaveChanged || $0.isMissing) }
    }

    /// Records that the hash has not changed since discovery.
    ///
    /// If the peer has been asked to report changes, everything known is valid.
    mutating func confirm() {
        hasUnconfirmed = false
        guard isWatched else { return }
        attributes.mark { $0.confirm() }
        mayExpire = true
    }

    /// Marks for verification the handles at which services must still be read.
    ///
    /// Returns `false`, without side effects, if there are no such handles, or if the method has marked handles before.
    mutating func requireAllServices() -> Bool {
        guard !hasRequiredAllServices, missing(.services, in: .all) != nil else { return false }
        hasRequiredAllServices = true
        attributes.mark(.services, in: .all) { $0.isUnverified = $0.isMissing }
        return true
    }

    /// Records that the known attributes were stored for the next link.
    mutating func noteRecorded() { hasUnconfirmed = false }

    /// Adopts the attributes that were stored for the peer.
    ///
    /// The caller must have read the peer's Database Hash just before, and found it unchanged.
    mutating func adopt(_ cache: CachedDatabase) {
        precondition(isEmpty, "the database must be empty")
        attributes = cache.attributes
        mayExpire = true
        hash = cache.hash
    }

    /// Records that reading types cannot show whether more characteristics follow; the next request searches for
    /// characteristics.
    mutating func disableTypeReadAhead() { lastDeclarationResponse = nil }

    /// Records that verification has failed and is not continued.
    mutating func abandonVerification() { hasUnconfirmed = false }

    /// Drops everything that overlaps `range`, and the hash.
    mutating func remove(_ range: AttributeHandleRange) {
        let gone = attributes.remove(range)
        if let change, gone.contains(change.start), gone.contains(change.end) { self.change = nil }
        if range == .all { lacksReportedAttributes = false }
        hash = nil
        hasUnconfirmed = !isEmpty
        lastDeclarationResponse = nil
    }

    /// Drops everything, and records that clients may still rely on the dropped attributes.
    mutating func forget() {
        let isForgotten = lacksReportedAttributes || isDelivered
        remove(.all)
        self.lacksReportedAttributes = isForgotten
    }

    /// Drops everything, including the record that the peer was asked to report changes.
    ///
    /// Clients may still rely on the dropped attributes.
    mutating func removeAll() {
        let (readsAhead, isForgotten) = (readsAhead, lacksReportedAttributes || isDelivered)
        self = PeerDatabase()
        (self.readsAhead, self.lacksReportedAttributes) = (readsAhead, isForgotten)
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

    /// Records characteristic declarations.
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
        lastDeclarationResponse = end.map { LastResponse(isFull: isFull, end: $0, requests: 0) }
    }

    mutating func learn(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) {
        note(attributes.change(types: found, in: range))
        attributes.learn(types: found, in: range)
    }

    /// Records that a search for an aspect in `range` found nothing.
    mutating func learnAbsence(of aspect: Aspect, in range: AttributeHandleRange) {
        switch aspect {
        case .services: learn(services: [], in: range)
        case .includes: learn(includes: [], in: range)
        case .characteristics: learn(declarations: [], in: range, isFull: false)
        case .types: learn(types: [], in: range)
        }
    }

    mutating func setUUID(ofInclude handle: AttributeHandle, _ uuid: BluetoothUUID) {
        attributes.setUUID(ofInclude: handle, uuid)
        hasUnconfirmed = true
    }

    /// Records that an aspect has been read from the peer.
    ///
    /// `change` is the range in which the aspect differs from what was reported to clients; `nil` if there is no
    /// difference. The range that ``takeChange()`` returns is extended to contain `change`.
    private mutating func note(_ change: AttributeHandleRange?) {
        hasUnconfirmed = true
        mayExpire = true
        guard let change else { return }
        self.change = self.change?.joined(with: change) ?? change
    }
}
