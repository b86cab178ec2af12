package import BLEWire

/// Finds the primary services of a type, which are searched by value: that takes a request or two.
///
/// Core 6.0, Vol 3, Part G, 4.4.2.
package struct ServiceSearch: Sendable {
    private let type: BluetoothUUID
    private var rest = AttributeHandleRange.all
    private var found: [DiscoveredService] = []
    /// Where the last answer contradicts itself.
    private(set) var faults: [AttributeHandle] = []

    /// Creates a search for services of a type, which is sought in the form that it has.
    package init(only type: BluetoothUUID) { self.type = type }

    private var request: ATTPacket {
        guard case .short(let groupType) = GATT.primaryService else {
            preconditionFailure("the type of a declaration is short")
        }
        return .findByTypeValueRequest(.init(rest, type: groupType, value: type.octets))
    }

    package func begin() -> ProcedureStep<Found<DiscoveredService>> { .request(request) }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        switch answer {
        case .failure(.att(.attributeNotFound)): return .finished(.success(found))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.findByTypeValueResponse(let response)):
            let listing = Listing(services: response.entries.map { ($0.found, $0.range, type) }, in: rest)
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
    /// The UUID that is the value of a service declaration; `nil` if that is not 2 or 16 octets long.
    package init?(attributeValue octets: ArraySlice<UInt8>) {
        guard octets.count == 2 || octets.count == 16 else { return nil }
        self.init(octets: octets)
    }
}
