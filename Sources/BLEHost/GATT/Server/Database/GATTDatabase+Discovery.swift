package import BLEWire

extension GATTDatabase {
    /// The result of a request that finds or reads attributes in a range.
    package enum Search: Equatable, Sendable {
        case found(ATTPacket)
        /// A client provides the first value found. The response must contain only this value.
        case provided(AttributeHandle, by: Owner)
        case refused(AttributeHandle, ATT.ErrorCode)
    }

    /// Returns the result of a search, as a packet of at most `mtu` octets.
    ///
    /// `peerState` describes the peer that searches.
    package func search(_ request: ATTPacket, _ peerState: PeerState, mtu: Int) -> Search {
        switch request {
        case .findInformationRequest(let request):
            guard let range = request.range else { return .refused(request.start, .invalidHandle) }
            return findInformation(in: range, mtu: mtu)
        case .findByTypeValueRequest(let request):
            guard let range = request.range else { return .refused(request.start, .invalidHandle) }
            return findByTypeValue(request.type, request.value, in: range, peerState, mtu: mtu)
        case .readByTypeRequest(let request):
            guard let range = request.range else { return .refused(request.start, .invalidHandle) }
            return readByType(request.type, in: range, peerState, mtu: mtu)
        case .readByGroupTypeRequest(let request):
            guard let range = request.range else { return .refused(request.start, .invalidHandle) }
            return readByGroupType(request.groupType, in: range, mtu: mtu)
        default: preconditionFailure("a discovery request is expected, not \(request.opcode)")
        }
    }

    /// Returns the types of the attributes in a range, as many as fit and have UUIDs of the same length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.1 and 3.4.3.2.
    private func findInformation(in range: AttributeHandleRange, mtu: Int) -> Search {
        let indices = indices(in: range)
        guard let first = indices.first else { return .refused(range.start, .attributeNotFound) }
        let format = ATT.FindInformationResponse.Format(of: attributes[first].type)
        let entries = indices.prefix((mtu - 2) / (2 + format.octets))
            .prefix { ATT.FindInformationResponse.Format(of: attributes[$0].type) == format }
            .map { ATT.FindInformationResponse.Entry(handle: attributes[$0].handle, type: attributes[$0].type) }
        return .found(.findInformationResponse(.init(entries: entries)))
    }

    /// Returns the attributes with the given type and value, as many as fit.
    ///
    /// Only values that the host itself can provide and the peer may read are compared.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.3 and 3.4.3.4.
    private func findByTypeValue(
        _ type: UInt16,
        _ value: [UInt8],
        in range: AttributeHandleRange,
        _ peerState: PeerState,
        mtu: Int
    ) -> Search {
        let entries = indices(in: range).lazy
            .filter { attributes[$0].type == .short(type) && read(at: $0, peerState) == .value(value) }
            .compactMap { AttributeHandleRange(attributes[$0].handle, groupEnd(at: $0)) }
            .prefix((mtu - 1) / 4)
            .map { ATT.FindByTypeValueResponse.Entry($0) }
        guard !entries.isEmpty else { return .refused(range.start, .attributeNotFound) }
        return .found(.findByTypeValueResponse(.init(entries: [ATT.FindByTypeValueResponse.Entry](entries))))
    }

    /// Returns the attributes of the given type with their values, as many as fit and have the length of the first
    /// value.
    ///
    /// If a client provides the first value, the response contains only this value.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.1 and 3.4.4.2.
    private func readByType(
        _ type: BluetoothUUID,
        in range: AttributeHandleRange,
        _ peerState: PeerState,
        mtu: Int
    ) -> Search {
        var entries = ATT.ReadByTypeResponse.Entries()
        search: for index in indices(in: range) where attributes[index].type == type {
            let handle = attributes[index].handle
            switch read(at: index, peerState) {
            case .value(let value): guard entries.append(handle, value, mtu: mtu) else { break search }
            case .provided(let owner):
                if entries.isEmpty { return .provided(handle, by: owner) }
                break search
            case .refused(let code):
                if entries.isEmpty { return .refused(handle, code) }
                break search
            }
        }
        guard !entries.isEmpty else { return .refused(range.start, .attributeNotFound) }
        return .found(.readByTypeResponse(.init(entries: entries)))
    }

    /// Returns the primary or secondary services, as many as fit and have UUIDs of the same length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.9 and 3.4.4.10; Part G, 2.5.3.
    private func readByGroupType(_ type: BluetoothUUID, in range: AttributeHandleRange, mtu: Int) -> Search {
        guard type == GATT.primaryService || type == GATT.secondaryService else {
            return .refused(range.start, .unsupportedGroupType)
        }
        var entries: [ATT.ReadByGroupTypeResponse.Entry] = []
        let first = services.indices.bisected { services[$0].range.start < range.start }
        for service in services[first...].prefix(while: { $0.range.start <= range.end })
        where service.isPrimary == (type == GATT.primaryService) {
            let value = service.uuid.attributeForm.octets
            let length = entries.first?.value.count ?? value.count
            guard value.count == length, (entries.count + 1) * (4 + length) <= mtu - 2 else { break }
            entries.append(.init(service.range, value: value))
        }
        guard !entries.isEmpty else { return .refused(range.start, .attributeNotFound) }
        return .found(.readByGroupTypeResponse(.init(entries: entries)))
    }

    /// Returns the last handle of the group that an attribute starts; the attribute's own handle if it starts no group.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.3.
    private func groupEnd(at index: Int) -> AttributeHandle {
        let handle = attributes[index].handle, end = service(around: handle)?.range.end ?? handle
        switch attributes[index].type {
        case GATT.primaryService, GATT.secondaryService: return end
        case GATT.characteristic:
            let next = attributes[index...].dropFirst().prefix { $0.handle <= end }
                .first { $0.type == GATT.characteristic }
            return next.map { AttributeHandle(wire: $0.handle.wire - 1) } ?? end
        default: return handle
        }
    }
}
