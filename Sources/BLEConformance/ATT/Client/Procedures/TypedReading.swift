import BLEHost
import BLEWire

/// A read of all attributes of one type.
///
/// A value that does not fit into one response is cut short.
///
/// Core 6.0, Vol 3, Part G, 4.8.2.
struct TypedReading: Sendable {
    private let type: BluetoothUUID
    private var rest: AttributeHandleRange
    private var found: [ATT.ReadByTypeResponse.Entry] = []

    /// Creates a read of all attributes of a type in `range`.
    init(_ type: BluetoothUUID, in range: AttributeHandleRange) {
        self.type = type
        rest = range
    }

    func begin() -> ProcedureStep<Found<ATT.ReadByTypeResponse.Entry>> { .request(request) }

    private var request: ATTPacket { .readByTypeRequest(.init(rest, type: type)) }

    mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<ATT.ReadByTypeResponse.Entry>> {
        switch answer {
        case .failure(.att(.attributeNotFound)) where !found.isEmpty: return .finished(.success(found))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.readByTypeResponse(let response)):
            for entry in response.entries {
                guard rest.contains(entry.handle), found.last.map({ $0.handle < entry.handle }) ?? true else {
                    return .finished(.failure(.invalidResponse))
                }
                found.append(entry)
            }
            guard let last = found.last, let next = rest.after(last.handle) else { return .finished(.success(found)) }
            rest = next
            return .request(request)
        case .success: return .finished(.failure(.invalidResponse))
        }
    }
}
