package import BLEWire

/// Finds the services that a service includes.
///
/// A declaration holds a type of 16 bits; a longer one is read from the service that is included.
///
/// Core 6.0, Vol 3, Part G, 4.5.1.
package struct IncludedServiceDiscovery: Sendable {
    /// An included service whose type is not known yet.
    private struct Unnamed: Sendable {
        let range: AttributeHandleRange
        let index: Int
    }

    private let types: [BluetoothUUID]
    private var rest: AttributeHandleRange
    /// Whether ``rest`` has been searched to its end.
    private var isAtEnd = false
    private var found: [DiscoveredService] = []
    private var unnamed: [Unnamed] = []

    /// Creates a search for the included services of the given types, all if empty, of the service in `range`.
    package init(in range: AttributeHandleRange, only types: [BluetoothUUID] = []) {
        self.types = types
        rest = range
    }

    package func begin() -> ProcedureStep<Found<DiscoveredService>> { .request(listing) }

    private var listing: ATTPacket { .readByTypeRequest(.init(rest, type: GATT.include)) }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredService>> {
        switch answer {
        case .failure(.attributeNotFound) where unnamed.isEmpty: return finished
        case .failure(let code): return .finished(.failure(.att(code)))
        case .success(.readByTypeResponse(let response)): return append(response.entries)
        case .success(.readResponse(let response)):
            guard let service = unnamed.first, let uuid = BluetoothUUID(attributeValue: response.value) else {
                return .finished(.failure(.contradiction))
            }
            unnamed.removeFirst()
            found[service.index].uuid = uuid
            return next
        case .success: return .finished(.failure(.contradiction))
        }
    }

    private mutating func append(
        _ entries: [ATT.ReadByTypeResponse.Entry]
    ) -> ProcedureStep<Found<DiscoveredService>> {
        for entry in entries {
            let value = entry.value
            guard rest.contains(entry.handle), !isAtEnd, value.count == 4 || value.count == 6,
                let range = AttributeHandleRange(value.handle(at: 0), value.handle(at: 2))
            else { return .finished(.failure(.contradiction)) }
            let uuid = BluetoothUUID(attributeValue: value.dropFirst(4))
            if uuid == nil { unnamed.append(Unnamed(range: range, index: found.count)) }
            found.append(DiscoveredService(uuid: uuid ?? .short(0), range: range, isPrimary: false))
            if let next = rest.after(entry.handle) { rest = next } else { isAtEnd = true }
        }
        return next
    }

    private var next: ProcedureStep<Found<DiscoveredService>> {
        if let service = unnamed.first { return .request(.readRequest(.init(handle: service.range.start))) }
        return isAtEnd ? finished : .request(listing)
    }

    private var finished: ProcedureStep<Found<DiscoveredService>> {
        .finished(.success(types.isEmpty ? found : found.filter { types.contains($0.uuid) }))
    }
}

extension [UInt8] {
    /// The attribute handle in the two octets from `offset` on, which must be there.
    func handle(at offset: Int) -> AttributeHandle {
        AttributeHandle(wire: UInt16(self[offset]) | UInt16(self[offset + 1]) << 8)
    }
}
