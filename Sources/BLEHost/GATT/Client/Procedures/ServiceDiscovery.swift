package import BLEWire

/// Finds the services of a peer, all of them or those of one type.
///
/// One type is searched by value, which takes a request or two; several are picked out of the list of all, which takes
/// no more requests than the list does.
///
/// Core 6.0, Vol 3, Part G, 4.4.1 and 4.4.2.
package struct ServiceDiscovery: Sendable {
    private let types: [BluetoothUUID]
    private let isPrimary: Bool
    private var rest: AttributeHandleRange
    private var found: [DiscoveredService] = []
    /// Where the last answer contradicts itself.
    private(set) var faults: [AttributeHandle] = []

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - types: The types to look for; all if empty. One alone is sought in the form that it has.
    ///   - range: Where to look.
    ///   - isPrimary: Whether to look for primary or for secondary services.
    package init(only types: [BluetoothUUID], in range: AttributeHandleRange = .all, isPrimary: Bool = true) {
        self.types = types
        self.isPrimary = isPrimary
        rest = range
    }

    private var groupType: BluetoothUUID { isPrimary ? GATT.primaryService : GATT.secondaryService }

    /// The next request: by value where one type is wanted, else by group.
    private var request: ATTPacket {
        if let type = types.first, types.count == 1, case .short(let raw) = groupType {
            return .findByTypeValueRequest(.init(rest, type: raw, value: type.octets))
        }
        return .readByGroupTypeRequest(.init(rest, groupType: groupType))
    }

    package func begin() -> ProcedureStep<Found<DiscoveredService>> { .request(request) }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        switch answer {
        case .failure(.attributeNotFound): return finished
        case .failure(let code): return .finished(.failure(.att(code)))
        case .success(.readByGroupTypeResponse(let response)):
            return append(response.entries.map { ($0.start, $0.range, BluetoothUUID(attributeValue: $0.value[...])) })
        case .success(.findByTypeValueResponse(let response)):
            return append(response.entries.map { ($0.found, $0.range, types.first) })
        case .success: return .finished(.failure(.contradiction))
        }
    }

    private var finished: ProcedureStep<Found<DiscoveredService>> {
        .finished(.success(types.isEmpty ? found : found.filter { types.contains($0.uuid) }))
    }

    private mutating func append(
        _ entries: [(start: AttributeHandle, place: AttributeHandleRange?, uuid: BluetoothUUID?)]
    ) -> ProcedureStep<Found<DiscoveredService>> {
        let listing = Listing(services: entries, in: rest, isPrimary: isPrimary)
        faults = listing.faults
        guard let last = listing.items.last else { return .finished(.failure(.contradiction)) }
        found += listing.items
        guard let next = rest.after(last.range.end) else { return finished }
        rest = next
        return .request(request)
    }
}

extension BluetoothUUID {
    /// The UUID that is the value of a service declaration; `nil` if that is not 2 or 16 octets long.
    package init?(attributeValue octets: ArraySlice<UInt8>) {
        guard octets.count == 2 || octets.count == 16 else { return nil }
        self.init(octets: octets)
    }
}
