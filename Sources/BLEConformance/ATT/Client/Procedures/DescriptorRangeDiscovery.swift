import BLEHost
import BLEWire

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
