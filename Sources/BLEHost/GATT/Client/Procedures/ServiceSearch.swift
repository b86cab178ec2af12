package import BLEWire

/// A procedure that searches for the primary services with a given UUID.
///
/// It usually takes one or two requests.
///
/// Core 6.0, Vol 3, Part G, 4.4.2.
package struct ServiceSearch: Sendable {
    private let type: BluetoothUUID
    private var rest = AttributeHandleRange.all
    private var found: [DiscoveredService] = []
    /// The handles of the implausible entries in the last response.
    private(set) var faults: [AttributeHandle] = []

    /// Creates a search for services with this UUID.
    ///
    /// A service only matches if its UUID has the same length.
    package init(only type: BluetoothUUID) { self.type = type }

    private var request: ATTPacket {
        guard case .short(let groupType) = GATT.primaryService else {
            preconditionFailure("declaration types are 16-bit UUIDs")
        }
        return .findByTypeValueRequest(.init(rest, type: groupType, value: type.octets))
    }

    package func begin() -> ProcedureStep<Found<DiscoveredService>> { .request(request) }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        switch answer {
        case .failure(.att(.attributeNotFound)): return .finished(.success(found))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.findByTypeValueResponse(let response)):
            let listing = ResponseEntries(services: response.entries.map { ($0.found, $0.range, type) }, in: rest)
            faults = listing.faults
            guard let last = listing.items.last else { return .finished(.failure(.invalidResponse)) }
            found += listing.items
            guard let next = rest.after(last.range.end) else { return .finished(.success(found)) }
            rest = next
            return .request(request)
        case .success: return .finished(.failure(.invalidResponse))
        }
    }
}

extension BluetoothUUID {
    /// Decodes the UUID in the value of a service declaration; returns `nil` unless it has 2 or 16 octets.
    package init?(attributeValue octets: ArraySlice<UInt8>) {
        guard octets.count == 2 || octets.count == 16 else { return nil }
        self.init(octets: octets)
    }
}
