package import BLEWire

extension GATTDatabase {
    /// The types of the attributes in a range, as many as fit and share a format; `nil` if there are none.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.1 and 3.4.3.2.
    package func findInformation(in range: AttributeHandleRange, mtu: Int) -> ATT.FindInformationResponse? {
        guard let first = attributes(in: range).first else { return nil }
        let format = ATT.FindInformationResponse.Format(of: first.type)
        let room = (mtu - 2) / (2 + format.octets)
        let entries = attributes(in: range).prefix(room)
            .prefix { ATT.FindInformationResponse.Format(of: $0.type) == format }
            .map { ATT.FindInformationResponse.Entry(handle: $0.handle, type: $0.type) }
        return .init(entries: entries)
    }

    /// Where attributes of a type with a known value are, as many as fit; `nil` if there are none.
    ///
    /// Only values that the host knows and the peer may read are compared.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.3 and 3.4.3.4.
    package func findByTypeValue(
        _ type: UInt16,
        _ value: [UInt8],
        in range: AttributeHandleRange,
        _ view: View,
        mtu: Int
    ) -> ATT.FindByTypeValueResponse? {
        let entries = attributes(in: range).lazy
            .filter { $0.type == .short(type) && read($0, view) == .value(value) }
            .compactMap { AttributeHandleRange($0.handle, groupEnd(of: $0)) }
            .prefix((mtu - 1) / 4)
            .map { ATT.FindByTypeValueResponse.Entry($0) }
        return entries.isEmpty ? nil : .init(entries: [ATT.FindByTypeValueResponse.Entry](entries))
    }

    /// What a search for groups comes to.
    package enum ReadByGroupType: Equatable, Sendable {
        case response(ATT.ReadByGroupTypeResponse)
        case refused(AttributeHandle, ATT.ErrorCode)
    }

    /// The services of a kind, as many as fit and have types of one length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.9 and 3.4.4.10; Part G, 2.5.3.
    package func readByGroupType(
        _ type: BluetoothUUID,
        in range: AttributeHandleRange,
        mtu: Int
    ) -> ReadByGroupType {
        guard type == GATT.primaryService || type == GATT.secondaryService else {
            return .refused(range.start, .unsupportedGroupType)
        }
        var entries: [ATT.ReadByGroupTypeResponse.Entry] = []
        for service in services
        where range.contains(service.range.start) && service.isPrimary == (type == GATT.primaryService) {
            let value = service.uuid.attributeForm.octets
            let length = entries.first?.value.count ?? value.count
            guard value.count == length, (entries.count + 1) * (4 + length) <= mtu - 2 else { break }
            entries.append(.init(service.range, value: value))
        }
        guard !entries.isEmpty else { return .refused(range.start, .attributeNotFound) }
        return .response(.init(entries: entries))
    }

    /// The last handle of the group that the attribute begins; its own if it begins none.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.3.
    private func groupEnd(of attribute: Attribute) -> AttributeHandle {
        let service = service(around: attribute.handle)
        switch attribute.type {
        case GATT.primaryService, GATT.secondaryService: return service?.range.end ?? attribute.handle
        case GATT.characteristic:
            guard let end = service?.range.end, let rest = AttributeHandleRange(attribute.handle, end) else {
                return attribute.handle
            }
            let next = attributes(in: rest).dropFirst().first { $0.type == GATT.characteristic }
            return next.map { AttributeHandle(wire: $0.handle.wire - 1) } ?? end
        default: return attribute.handle
        }
    }
}
