package import BLEWire

/// Finds the characteristics of a service.
///
/// A characteristic ends where the next one is declared, so the whole service is always searched.
///
/// Core 6.0, Vol 3, Part G, 4.6.1.
package struct CharacteristicDiscovery: Sendable {
    private let types: [BluetoothUUID]
    private let range: AttributeHandleRange
    private var rest: AttributeHandleRange
    private var found: [DiscoveredCharacteristic] = []

    /// Creates a search for characteristics of the given types, all if empty, of the service in `range`.
    package init(in range: AttributeHandleRange, only types: [BluetoothUUID] = []) {
        self.types = types
        self.range = range
        rest = range
    }

    package func begin() -> ProcedureStep<Found<DiscoveredCharacteristic>> { .request(request) }

    private var request: ATTPacket { .readByTypeRequest(.init(rest, type: GATT.characteristic)) }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredCharacteristic>> {
        switch answer {
        case .failure(.attributeNotFound): return finished
        case .failure(let code): return .finished(.failure(.att(code)))
        case .success(.readByTypeResponse(let response)):
            for entry in response.entries {
                guard append(entry) else { return .finished(.failure(.contradiction)) }
            }
            guard let last = found.last, let next = rest.after(last.declaration) else { return finished }
            rest = next
            return .request(request)
        case .success: return .finished(.failure(.contradiction))
        }
    }

    /// Takes a declaration, unless it lies outside of the service or inside of the characteristic before it.
    private mutating func append(_ entry: ATT.ReadByTypeResponse.Entry) -> Bool {
        guard entry.value.count >= 3, let uuid = BluetoothUUID(attributeValue: entry.value.dropFirst(3)) else {
            return false
        }
        let value = entry.value.handle(at: 1)
        guard rest.contains(entry.handle), entry.handle < value, range.contains(value) else { return false }
        if let last = found.indices.last {
            guard found[last].value < entry.handle else { return false }
            found[last].end = AttributeHandle(wire: entry.handle.wire - 1)
        }
        found.append(
            DiscoveredCharacteristic(
                uuid: uuid,
                properties: entry.value[0],
                declaration: entry.handle,
                value: value,
                end: range.end
            )
        )
        return true
    }

    private var finished: ProcedureStep<Found<DiscoveredCharacteristic>> {
        .finished(.success(types.isEmpty ? found : found.filter { types.contains($0.uuid) }))
    }
}
