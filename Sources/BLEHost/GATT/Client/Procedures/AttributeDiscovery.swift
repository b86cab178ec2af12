import BLEWire

/// The state machine of a discovery, which uses known attributes and requests only the others from the peer.
///
///        ┌─────────┐ all known ─────────────────────────────────────▶ finished
///        │ waiting │
///        └─────────┘ ────▶ ┌──────────────────────────────┐ all known ──▶ finished
///                          │ asking, searching or naming  │
///                          └──────────────────────────────┘
///                            │ something is missing    ▲
///                            └─────────────────────────┘
///
/// A request covers all handles from the first that is needed to the last that is unknown, because a response takes one
/// round trip even if only some of its entries are needed. Results for later handles are used for later discoveries. If
/// such a request fails, or its response is unusable, the discovery makes a second request for only the needed range,
/// and fails if that request fails, too.
///
/// Core 6.0, Vol 3, Part G, 4.4 to 4.7.
struct AttributeDiscovery: Sendable {
    enum Question: Equatable, Sendable {
        case services(only: [BluetoothUUID])
        case includes(in: AttributeHandleRange, only: [BluetoothUUID])
        case characteristics(in: AttributeHandleRange, only: [BluetoothUUID])
        /// The descriptors of the characteristic with this value handle. The range starts after the value; `nil` if it
        /// is empty.
        case descriptors(of: AttributeHandle, in: AttributeHandleRange?)
        /// Verify, with one request, some of the attributes that need verification.
        case verification
    }

    enum Answer: Equatable, Sendable {
        case services([DiscoveredService])
        case includes([DiscoveredService])
        case characteristics([DiscoveredCharacteristic])
        case descriptors([DiscoveredDescriptor])
        case verification
    }

    typealias Step = ProcedureStep<Result<Answer, Failure>>

    private enum State: Sendable {
        case waiting
        case asking(DiscoveryRequest)
        /// Services are being searched for by UUID, one UUID after the other.
        case searching(ServiceSearch, others: [BluetoothUUID], found: [DiscoveredService])
        /// The UUID of an included service is being read from the service itself.
        case naming(KnownAttributes.Include)
    }

    /// The number of changes of the peer's services after which a discovery fails.
    static let mostChanges = 256
    /// The number of times that the peer may reject a request as out of sync, although the change is known, before the
    /// discovery fails.
    static let mostRefusals = 8

    let question: Question
    private let limit: Int
    private var state = State.waiting
    /// The declarations of included services whose UUID could not be read.
    private var nameless: [AttributeHandle] = []
    private var changes = 0
    private var refusals = 0
    private var isOutdated = false

    /// Creates a discovery that fails if more than `limit` items of one kind would have to be stored.
    init(_ question: Question, limit: Int) {
        self.question = question
        self.limit = limit
    }

    /// A new discovery of the same attributes.
    var restarted: Self { Self(question, limit: limit) }

    /// The handles of the attributes that the discovery is about; `nil` if it is not limited to a range.
    var scope: AttributeHandleRange? {
        switch question {
        case .services, .verification: nil
        case .includes(let range, _), .characteristics(let range, _): range
        case .descriptors(let handle, let range): AttributeHandleRange(handle, range?.end ?? handle)
        }
    }

    mutating func begin(_ database: inout PeerDatabase, mtu: Int) -> Step {
        if case .services(let types) = question, let type = types.first, types.count == 1,
            database.missing(.services, in: .all) != nil
        {
            return search([type])
        }
        return next(&database, mtu: mtu)
    }

    /// Records that services changed; the response to the last request may be about the services before the change.
    mutating func databaseChanged() { isOutdated = true }

    mutating func receive(_ answer: ATTAnswer, _ database: inout PeerDatabase, mtu: Int) -> Step {
        if isOutdated {
            isOutdated = false
            if answer == .failure(.outOfSync) {
                refusals += 1
                guard refusals <= Self.mostRefusals else { return .finished(.failure(.outOfSync)) }
            }
            changes += 1
            guard changes <= Self.mostChanges else { return .finished(.failure(.invalidResponse)) }
            state = .waiting
            return begin(&database, mtu: mtu)
        }
        switch state {
        case .waiting: preconditionFailure("a response needs a request in flight")
        case .searching(var machine, let others, let found):
            let step = machine.receive(answer)
            state = .searching(machine, others: others, found: found)
            database.noteFaults(machine.faults)
            return learnServices(from: step, others: others, found: found, in: &database)
        case .naming(let include):
            if answer == .failure(.outOfSync) { return .finished(.failure(.outOfSync)) }
            if case .success(.readResponse(let response)) = answer,
                let uuid = BluetoothUUID(attributeValue: response.value[...])
            {
                database.setUUID(ofInclude: include.handle, uuid)
            } else {
                nameless.append(include.handle)
                database.noteFaults([include.range.start])
            }
            return next(&database, mtu: mtu)
        case .asking(let request): return learn(answer, to: request, &database, mtu: mtu)
        }
    }

    private mutating func learn(
        _ answer: ATTAnswer,
        to request: DiscoveryRequest,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> Step {
        let looksAhead = isEndCheck(request) || database.readsAhead && request.canBeNarrowed
        switch request.learn(answer, into: &database, mtu: mtu) {
        case .recorded: break
        case .contradicted where isEndCheck(request): database.disableTypeReadAhead()
        case .contradicted where database.missing(request.aspect, in: request.wanted) == nil: break
        case .refused(.outOfSync): return .finished(.failure(.outOfSync))
        case .refused where looksAhead, .contradicted where looksAhead:
            database.readsAhead = false
            return next(&database, mtu: mtu)
        case .refused(let failure): return searchEach() ?? .finished(.failure(failure))
        case .contradicted: return searchEach() ?? .finished(.failure(.invalidResponse))
        }
        guard database.attributes.count <= limit else {
            database.removeAll()
            guard looksAhead else { return .finished(.failure(.limitReached)) }
            database.readsAhead = false
            state = .waiting
            return begin(&database, mtu: mtu)
        }
        return question == .verification ? .finished(.success(.verification)) : next(&database, mtu: mtu)
    }

    /// Returns whether `request` reads the types of the remaining attributes to check that no characteristics are left.
    ///
    /// If the request fails, the discovery searches for characteristics instead.
    private func isEndCheck(_ request: DiscoveryRequest) -> Bool {
        if case .characteristics = question { request.aspect == .types } else { false }
    }

    /// Searches for each requested UUID separately, because the list of all services is unusable.
    ///
    /// Returns `nil` if the client has requested all services.
    private mutating func searchEach() -> Step? {
        guard case .services(let types) = question, !types.isEmpty else { return nil }
        return search(types)
    }

    private mutating func search(_ types: [BluetoothUUID], found: [DiscoveredService] = []) -> Step {
        guard let type = types.first else { return .finished(.success(.services(found))) }
        let machine = ServiceSearch(only: type)
        state = .searching(machine, others: types.filter { $0 != type }, found: found)
        return machine.begin().map { _ in .success(.verification) }
    }

    private mutating func learnServices(
        from step: ProcedureStep<Found<DiscoveredService>>,
        others: [BluetoothUUID],
        found: [DiscoveredService],
        in database: inout PeerDatabase
    ) -> Step {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(.failure(let failure)): return .finished(.failure(failure))
        case .finished(.success(let new)):
            for service in new {
                database.learn(services: [service], in: service.range)
                database.markDelivered(.services, in: service.range)
            }
            return search(others, found: (found + new).sorted { $0.range.start < $1.range.start })
        }
    }

    /// Returns the request for the first missing item, or the result if nothing is missing.
    private mutating func next(_ database: inout PeerDatabase, mtu: Int) -> Step {
        switch question {
        case .services:
            if let step = ask(.services, in: .all, &database, mtu: mtu) { return step }
            database.markUsed(.services, in: .all)
        case .includes(let range, _):
            if let rest = range.after(range.start) {
                if let step = ask(.includes, in: rest, &database, mtu: mtu) { return step }
                let unnamed = database.attributes.includes(in: rest).first {
                    $0.uuid == nil && !nameless.contains($0.handle)
                }
                if let include = unnamed {
                    state = .naming(include)
                    return .request(.readRequest(.init(handle: include.range.start)))
                }
                database.markUsed(.includes, in: rest)
            }
        case .characteristics(let range, _):
            // The first handle is the service declaration. A declaration at the last handle would have no room for its
            // value.
            if range.count > 2,
                let rest = AttributeHandleRange(range.start, AttributeHandle(wire: range.end.wire - 1))?
                    .after(range.start)
            {
                if let step = ask(.characteristics, in: rest, &database, mtu: mtu) { return step }
                database.markUsed(.characteristics, in: rest)
            }
        case .descriptors(_, let range):
            if let range {
                if let step = ask(.types, in: range, &database, mtu: mtu) { return step }
                database.markUsed(.types, in: range)
            }
        case .verification:
            guard let (aspect, wanted, whole) = database.firstUnverified else {
                return .finished(.success(.verification))
            }
            return send(DiscoveryRequest(aspect, range: database.readsAhead ? whole : wanted, wanted: wanted))
        }
        return .finished(.success(answer(from: database.attributes)))
    }

    private mutating func ask(
        _ aspect: KnownAttributes.Aspect,
        in wanted: AttributeHandleRange,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> Step? {
        guard let start = database.missing(aspect, in: wanted) else { return nil }
        if aspect == .characteristics,
            let readAhead = database.takeReadAheadRange(from: start, of: wanted, room: (mtu - 2) / 4)
        {
            return send(DiscoveryRequest(.types, range: readAhead, wanted: wanted))
        }
        return database.search(aspect, from: start, in: wanted)
            .map { send(DiscoveryRequest(aspect, range: $0, wanted: wanted)) }
    }

    private mutating func send(_ request: DiscoveryRequest) -> Step {
        state = .asking(request)
        return .request(request.packet)
    }

    private func answer(from attributes: KnownAttributes) -> Answer {
        switch question {
        case .services(let types):
            return .services(attributes.services.filter { types.isEmpty || types.contains($0.uuid) })
        case .includes(let range, let types):
            let found = attributes.includes(in: range).compactMap { include in
                include.uuid.map {
                    DiscoveredService(
                        uuid: $0,
                        range: include.range,
                        isPrimary: attributes.hasPrimaryService(at: include.range.start)
                    )
                }
            }
            return .includes(found.filter { types.isEmpty || types.contains($0.uuid) })
        case .characteristics(let range, let types):
            let found = attributes.declarations[attributes.declarations.indices(in: range)].characteristics(in: range)
            return .characteristics(types.isEmpty ? found : found.filter { types.contains($0.uuid) })
        case .descriptors(_, let range): return .descriptors(range.map { attributes.descriptors(in: $0) } ?? [])
        case .verification: return .verification
        }
    }
}

extension Failure {
    fileprivate static let outOfSync = Self.att(.databaseOutOfSync)
}
