import BLEHost
import BLEWire

/// Discovers the included services of a service.
///
/// A declaration holds only 16-bit types; a longer type is read from the included service.
///
/// Core 6.0, Vol 3, Part G, 4.5.1.
struct IncludedServiceDiscovery: Sendable {
    private let types: [BluetoothUUID]
    private var rest: AttributeHandleRange
    /// True if ``rest`` has been searched to its end.
    private var isAtEnd = false
    private var found: [KnownAttributes.Include] = []
    /// The number of included services whose type is known or unreadable.
    private var named = 0

    /// Creates a search for included services of the given types, or all if empty, in the service with this `range`.
    init(in range: AttributeHandleRange, only types: [BluetoothUUID] = []) {
        self.types = types
        rest = range
    }

    func begin() -> ProcedureStep<Found<DiscoveredService>> { .request(listing) }

    private var listing: ATTPacket { .readByTypeRequest(.init(rest, type: GATT.include)) }

    mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        guard named == found.count else { return name(answer) }
        switch answer {
        case .failure(.att(.attributeNotFound)): return finished
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.readByTypeResponse(let response)):
            let listed = ResponseEntries(includes: response.entries, in: rest).items
            guard let last = listed.last else { return .finished(.failure(.invalidResponse)) }
            found += listed
            if let next = rest.after(last.handle) { rest = next } else { isAtEnd = true }
            return proceed()
        case .success: return .finished(.failure(.invalidResponse))
        }
    }

    /// Handles the type of a service.
    ///
    /// A service with an unreadable type is left out.
    private mutating func name(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        if case .success(.readResponse(let response)) = answer {
            found[named].uuid = BluetoothUUID(attributeValue: response.value[...])
        }
        named += 1
        return proceed()
    }

    private mutating func proceed() -> ProcedureStep<Found<DiscoveredService>> {
        while named < found.count, found[named].uuid != nil { named += 1 }
        guard named == found.count else { return .request(.readRequest(.init(handle: found[named].range.start))) }
        return isAtEnd ? finished : .request(listing)
    }

    private var finished: ProcedureStep<Found<DiscoveredService>> {
        let services = found.compactMap { include in
            include.uuid.map { DiscoveredService(uuid: $0, range: include.range, isPrimary: false) }
        }
        return .finished(.success(services.filter { types.isEmpty || types.contains($0.uuid) }))
    }
}
