import BLEHost
import BLEWire

/// The discovery of the services that a service includes.
///
/// An include declaration contains only a 16-bit UUID. A longer UUID is read from the included service's declaration.
///
/// Core 6.0, Vol 3, Part G, 4.5.1.
struct IncludedServiceDiscovery: Sendable {
    private let types: [BluetoothUUID]
    private var rest: AttributeHandleRange
    /// True if ``rest`` has been searched to its end.
    private var isAtEnd = false
    private var found: [KnownAttributes.Include] = []
    /// The number of services at the start of ``found`` whose UUID is known or cannot be read.
    private var named = 0

    /// Creates a search in the service with this `range` for included services of the given types; for all if `types`
    /// is empty.
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

    /// Takes the UUID of an included service from the response, and continues.
    ///
    /// A service whose UUID cannot be read is left out of the result.
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
