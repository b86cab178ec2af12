import BLEHost
import BLEWire

/// The discovery of services in a handle range: all primary ones, all secondary ones, or the primary ones with one
/// UUID.
///
/// Core 6.0, Vol 3, Part G, 4.4.1 and 4.4.2.
struct ServiceRangeDiscovery: Sendable {
    private let type: BluetoothUUID?
    private let isPrimary: Bool
    private var rest: AttributeHandleRange
    private var found: [DiscoveredService] = []

    /// Creates a search for the primary services in `range` that have the UUID `type`; for all if `type` is `nil`.
    init(only type: BluetoothUUID?, in range: AttributeHandleRange) {
        self.init(type, in: range, isPrimary: true)
    }

    /// Creates a search for all secondary services in `range`.
    init(secondaryIn range: AttributeHandleRange) { self.init(nil, in: range, isPrimary: false) }

    private init(_ type: BluetoothUUID?, in range: AttributeHandleRange, isPrimary: Bool) {
        self.type = type?.attributeForm
        self.isPrimary = isPrimary
        rest = range
    }

    func begin() -> ProcedureStep<Found<DiscoveredService>> { .request(request) }

    /// The next request: Find By Type Value if one UUID is wanted, otherwise Read By Group Type.
    private var request: ATTPacket {
        let groupType = isPrimary ? GATT.primaryService : GATT.secondaryService
        if let type, case .short(let raw) = groupType {
            return .findByTypeValueRequest(.init(rest, type: raw, value: type.octets))
        }
        return .readByGroupTypeRequest(.init(rest, groupType: groupType))
    }

    mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        switch answer {
        case .failure(.att(.attributeNotFound)): return .finished(.success(found))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.readByGroupTypeResponse(let response)):
            return append(response.entries.map { ($0.start, $0.range, BluetoothUUID(attributeValue: $0.value[...])) })
        case .success(.findByTypeValueResponse(let response)):
            return append(response.entries.map { ($0.found, $0.range, type) })
        case .success: return .finished(.failure(.invalidResponse))
        }
    }

    private mutating func append(
        _ entries: [(start: AttributeHandle, place: AttributeHandleRange?, uuid: BluetoothUUID?)]
    ) -> ProcedureStep<Found<DiscoveredService>> {
        let listed = ResponseEntries(services: entries, in: rest).items
        guard let last = listed.last else { return .finished(.failure(.invalidResponse)) }
        found += listed.map { DiscoveredService(uuid: $0.uuid, range: $0.range, isPrimary: isPrimary) }
        guard let next = rest.after(last.range.end) else { return .finished(.success(found)) }
        rest = next
        return .request(request)
    }
}
