package import BLEWire

extension GATTDatabase {
    /// A value that a peer has written, to be stored when all clients involved have agreed.
    package enum StoredValue: Equatable, Sendable {
        case value(AttributeHandle, [UInt8])
        case configuration(AttributeHandle, ConfiguredCharacteristic, UInt16)
        case features(ClientFeatures)
    }

    /// The result of a peer's write.
    package enum Write: Equatable, Sendable {
        case store(StoredValue)
        /// A client provides the value and must be asked.
        case provided(by: Owner)
        case refused(ATT.ErrorCode)
    }

    /// Returns the error if a peer may not write the attribute with this handle; `nil` if it may.
    package func refusalToWrite(_ handle: AttributeHandle, _ peerState: PeerState) -> ATT.ErrorCode? {
        guard let attribute = attribute(at: handle) else { return .invalidHandle }
        if let code = attribute.permissions.refusal(of: .write, on: peerState.trust) { return code }
        switch attribute.content {
        case .constant, .databaseHash: return .writeNotPermitted
        case .stored, .provided, .configuration, .clientFeatures: return nil
        }
    }

    /// Returns the result of writing a complete value.
    package func write(_ value: [UInt8], to handle: AttributeHandle, _ peerState: PeerState, limits: Limits) -> Write {
        write([.init(handle: handle, offset: 0, value: value)], isWhole: true, peerState, limits: limits)
    }

    /// Returns the result of writing one or more parts of one attribute, in order.
    ///
    /// `isWhole` is true if the parts replace the old value; otherwise they change parts of it.
    package func write(
        _ parts: [PreparedWrites.Part],
        isWhole: Bool = false,
        _ peerState: PeerState,
        limits: Limits
    ) -> Write {
        guard let handle = parts.first?.handle, let attribute = attribute(at: handle) else {
            return .refused(.invalidHandle)
        }
        if let code = refusalToWrite(handle, peerState) { return .refused(code) }
        switch attribute.content {
        case .constant, .databaseHash: return .refused(.writeNotPermitted)
        case .provided(let owner):
            let fits = parts.allSatisfy { $0.offset + $0.value.count <= limits.attributeLength }
            return fits ? .provided(by: owner) : .refused(.invalidAttributeValueLength)
        case .stored(let old):
            return combine(isWhole ? [] : old, parts, limits).map { .store(.value(handle, $0)) }.either
        case .configuration(let about):
            let old = isWhole ? [] : peerState.configurations[handle].littleEndianOctets
            return combine(old, parts, limits).map { configure(handle, about, with: $0) }.either
        case .clientFeatures:
            let old = isWhole ? [] : [peerState.features.rawValue]
            return combine(old, parts, limits).map { adopt($0, over: peerState.features) }.either
        }
    }

    /// Returns the first attribute that does not support reliable writes, if an atomic write concerns several
    /// attributes; `nil` if there is none.
    ///
    /// Only values that the host stores are checked. A client gets all parts for the values that it provides, and
    /// decides for itself.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.3.1 and 4.9.5.
    func firstWithoutReliableWrites(among handles: [AttributeHandle]) -> AttributeHandle? {
        guard handles.contains(where: { $0 != handles.first }) else { return nil }
        return handles.first { handle in
            guard case .stored? = attribute(at: handle)?.content else { return false }
            return !offersReliableWrites(handle)
        }
    }

    /// Returns whether the Extended Properties of the characteristic with value handle `value` allow reliable writes.
    private func offersReliableWrites(_ value: AttributeHandle) -> Bool {
        guard let end = service(around: value)?.range.end,
            let rest = AttributeHandleRange(value, end)?.after(value),
            let properties = attributes(in: rest).prefix(while: { $0.type != GATT.characteristic })
                .first(where: { $0.type == GATT.extendedProperties })
        else { return false }
        switch properties.content {
        case .constant(let octets), .stored(let octets): return (octets.first ?? 0) & 1 != 0
        case .provided, .configuration, .clientFeatures, .databaseHash: return false
        }
    }

    private func combine(
        _ old: [UInt8],
        _ parts: [PreparedWrites.Part],
        _ limits: Limits
    ) -> Result<[UInt8], ATT.ErrorCode> {
        PreparedWrites.value(old, with: parts, limit: limits.attributeLength)
    }

    /// Returns the result of writing a Client Characteristic Configuration.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.3.3.
    private func configure(_ handle: AttributeHandle, _ about: ConfiguredCharacteristic, with value: [UInt8]) -> Write {
        guard value.count == 2 else { return .refused(.invalidAttributeValueLength) }
        let bits = UInt16(value[0]) | UInt16(value[1]) << 8
        guard bits & ~about.properties.configurationBits == 0 else { return .refused(.valueNotAllowed) }
        return .store(.configuration(handle, about, bits))
    }

    /// Returns the result of writing Client Supported Features.
    ///
    /// A peer cannot clear bits that it has set. Unknown bits are ignored.
    ///
    /// Core 6.0, Vol 3, Part G, 7.2.
    private func adopt(_ value: [UInt8], over old: ClientFeatures) -> Write {
        guard let first = value.first else { return .refused(.invalidAttributeValueLength) }
        let features = ClientFeatures(rawValue: first).intersection(.all)
        guard features.isSuperset(of: old) else { return .refused(.valueNotAllowed) }
        return .store(.features(features))
    }
}

extension Result where Success == GATTDatabase.Write, Failure == ATT.ErrorCode {
    /// The write, if it succeeded; otherwise ``GATTDatabase/Write/refused(_:)`` with the error code.
    fileprivate var either: GATTDatabase.Write {
        switch self {
        case .success(let write): write
        case .failure(let code): .refused(code)
        }
    }
}
