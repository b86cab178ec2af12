import BLEWire

/// A request for one aspect of a peer's attributes.
///
/// The type also interprets the response.
///
/// Implausible entries of the response are ignored (``ResponseEntries``).
struct DiscoveryRequest: Sendable {
    typealias Aspect = KnownAttributes.Aspect

    let aspect: Aspect
    /// The range to request.
    let range: AttributeHandleRange
    /// The range that a client needs.
    ///
    /// The rest of ``range`` is read ahead.
    let wanted: AttributeHandleRange

    init(_ aspect: Aspect, range: AttributeHandleRange, wanted: AttributeHandleRange) {
        self.aspect = aspect
        self.range = range
        self.wanted = wanted
    }

    /// True if a smaller range could be requested.
    ///
    /// Services are always requested for the whole database.
    var canBeNarrowed: Bool { aspect != .services && wanted.end < range.end }

    var packet: ATTPacket {
        switch aspect {
        case .services: .readByGroupTypeRequest(.init(range, groupType: GATT.primaryService))
        case .includes: .readByTypeRequest(.init(range, type: GATT.include))
        case .characteristics: .readByTypeRequest(.init(range, type: GATT.characteristic))
        case .types: .findInformationRequest(.init(range))
        }
    }

    enum OnAnswer: Equatable {
        case recorded
        /// The peer rejected the request, or its response is malformed.
        case refused(Failure)
        /// Nothing in the response is plausible.
        case contradicted
    }

    /// Processes the response; `mtu` is the MTU of the bearer on which it arrived.
    func learn(_ answer: ATTAnswer, into database: inout PeerDatabase, mtu: Int) -> OnAnswer {
        switch (answer, aspect) {
        case (.failure(.att(.attributeNotFound)), _):
            database.learnAbsence(of: aspect, in: range)
            return .recorded
        case (.failure(let failure), _): return .refused(failure)
        case (.success(.readByGroupTypeResponse(let response)), .services):
            return learn(services: response.entries, into: &database)
        case (.success(.readByTypeResponse(let response)), .includes):
            return learn(includes: response.entries, into: &database)
        case (.success(.readByTypeResponse(let response)), .characteristics):
            return learn(declarations: response.entries, into: &database, mtu: mtu)
        case (.success(.findInformationResponse(let response)), .types):
            return learn(types: response.entries, into: &database)
        case (.success, _): return .contradicted
        }
    }

    private func learn(
        services entries: [ATT.ReadByGroupTypeResponse.Entry],
        into database: inout PeerDatabase
    ) -> OnAnswer {
        let groups = entries.map { ($0.start, $0.range, BluetoothUUID(attributeValue: $0.value[...])) }
        let listing = ResponseEntries(services: groups, in: range)
        database.noteFaults(listing.faults)
        guard let recorded = searched(upTo: listing.items.last?.range.end) else { return .contradicted }
        database.learn(services: listing.items, in: recorded)
        return .recorded
    }

    private func learn(
        includes entries: ATT.ReadByTypeResponse.Entries,
        into database: inout PeerDatabase
    ) -> OnAnswer {
        let listing = ResponseEntries(includes: entries, in: range)
        database.noteFaults(listing.faults)
        guard let recorded = searched(upTo: listing.items.last?.handle) else { return .contradicted }
        database.learn(includes: listing.items, in: recorded)
        return .recorded
    }

    private func learn(
        declarations entries: ATT.ReadByTypeResponse.Entries,
        into database: inout PeerDatabase,
        mtu: Int
    ) -> OnAnswer {
        let listing = ResponseEntries(declarations: entries, in: range) { database.attributes.end(around: $0) }
        database.noteFaults(listing.faults)
        guard let recorded = searched(upTo: listing.items.last?.handle) else { return .contradicted }
        let length = 2 + entries.valueLength
        database.learn(declarations: listing.items, in: recorded, isFull: (entries.count + 1) * length > mtu - 2)
        return .recorded
    }

    private func learn(
        types entries: [ATT.FindInformationResponse.Entry],
        into database: inout PeerDatabase
    ) -> OnAnswer {
        let listing = ResponseEntries(types: entries, in: range)
        database.noteFaults(listing.faults)
        guard let recorded = searched(upTo: listing.items.last?.handle) else { return .contradicted }
        database.learn(types: listing.items, in: recorded)
        return .recorded
    }

    /// Returns the range that a response covers: up to `handle`, the end of its last plausible entry; `nil` if there is
    /// no such entry.
    private func searched(upTo handle: AttributeHandle?) -> AttributeHandleRange? {
        handle.flatMap { AttributeHandleRange(range.start, $0) }
    }
}
