import BLEHost
import BLEWire

/// The discovery of the characteristics of a service.
///
/// A characteristic extends to the next declaration, so the whole service is searched even if only some types are
/// wanted.
///
/// Core 6.0, Vol 3, Part G, 4.6.1.
struct CharacteristicDiscovery: Sendable {
    private let types: [BluetoothUUID]
    private let range: AttributeHandleRange
    private var rest: AttributeHandleRange
    private var found: [KnownAttributes.Declaration] = []

    /// Creates a search in the service with this `range` for characteristics of the given types; for all if `types` is
    /// empty.
    init(in range: AttributeHandleRange, only types: [BluetoothUUID] = []) {
        self.types = types
        self.range = range
        rest = range
    }

    func begin() -> ProcedureStep<Found<DiscoveredCharacteristic>> { .request(request) }

    private var request: ATTPacket { .readByTypeRequest(.init(rest, type: GATT.characteristic)) }

    mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredCharacteristic>> {
        switch answer {
        case .failure(.att(.attributeNotFound)): return finished
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.readByTypeResponse(let response)):
            let listed = ResponseEntries(declarations: response.entries, in: rest) { _ in range.end }.items
            guard let last = listed.last else { return .finished(.failure(.invalidResponse)) }
            found += listed
            guard let next = rest.after(last.handle) else { return finished }
            rest = next
            return .request(request)
        case .success: return .finished(.failure(.invalidResponse))
        }
    }

    private var finished: ProcedureStep<Found<DiscoveredCharacteristic>> {
        .finished(.success(found.characteristics(in: range).filter { types.isEmpty || types.contains($0.uuid) }))
    }
}

/// The discovery of all attributes in a handle range.
///
/// If the range is the descriptor range of a characteristic, the attributes are the descriptors.
///
/// Core 6.0, Vol 3, Part G, 4.7.1.
struct DescriptorRangeDiscovery: Sendable {
    private var rest: AttributeHandleRange
    private var found: [DiscoveredDescriptor] = []

    init(in range: AttributeHandleRange) { rest = range }

    func begin() -> ProcedureStep<Found<DiscoveredDescriptor>> { .request(request) }

    private var request: ATTPacket { .findInformationRequest(.init(rest)) }

    mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredDescriptor>> {
        switch answer {
        case .failure(.att(.attributeNotFound)): return .finished(.success(found))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.findInformationResponse(let response)):
            let listed = ResponseEntries(types: response.entries, in: rest).items
            guard let last = listed.last else { return .finished(.failure(.invalidResponse)) }
            found += listed
            guard let next = rest.after(last.handle) else { return .finished(.success(found)) }
            rest = next
            return .request(request)
        case .success: return .finished(.failure(.invalidResponse))
        }
    }
}
