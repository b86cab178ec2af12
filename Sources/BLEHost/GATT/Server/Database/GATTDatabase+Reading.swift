package import BLEWire

extension GATTDatabase {
    /// What one peer may see.
    package struct View: Sendable {
        package var trust: LinkTrust
        package var configurations: ClientConfigurations
        package var features: ClientFeatures
        package init(
            trust: LinkTrust,
            configurations: ClientConfigurations = ClientConfigurations(),
            features: ClientFeatures = []
        ) {
            self.trust = trust
            self.configurations = configurations
            self.features = features
        }
    }

    /// What a read comes to.
    package enum Read: Equatable, Sendable {
        case value([UInt8])
        /// A client has the value.
        case held(by: Owner)
        case refused(ATT.ErrorCode)
    }

    /// Reads an attribute, as the peer that has this view may.
    package func read(_ attribute: Attribute, _ view: View) -> Read {
        if let code = attribute.permissions.refusal(of: .read, on: view.trust) { return .refused(code) }
        switch attribute.content {
        case .constant(let value), .stored(let value): return .value(value)
        case .held(let owner): return .held(by: owner)
        case .configuration: return .value(view.configurations[attribute.handle].littleEndianOctets)
        case .clientFeatures: return .value([view.features.rawValue])
        case .databaseHash: return .value(hash.littleEndianOctets)
        }
    }

    /// Reads the attribute with this handle.
    package func read(_ handle: AttributeHandle, _ view: View) -> Read {
        guard let attribute = attribute(at: handle) else { return .refused(.invalidHandle) }
        return read(attribute, view)
    }

    /// What a search by type comes to.
    package enum ReadByType: Equatable, Sendable {
        case response(ATT.ReadByTypeResponse)
        /// A client has the first value.
        case held(AttributeHandle, by: Owner)
        case refused(AttributeHandle, ATT.ErrorCode)
    }

    /// Reads the attributes of a type, as many as fit and are as long as the first.
    ///
    /// A value that a client holds is read alone.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.1 and 3.4.4.2.
    package func readByType(
        _ type: BluetoothUUID,
        in range: AttributeHandleRange,
        _ view: View,
        mtu: Int
    ) -> ReadByType {
        let room = min(mtu - 4, ATT.ReadByTypeResponse.maximumValueLength)
        var entries = ATT.ReadByTypeResponse.Entries()
        search: for attribute in attributes(in: range) where attribute.type == type {
            switch read(attribute, view) {
            case .value(let value):
                if entries.isEmpty, value.count > room {
                    entries.append(attribute.handle, value.prefix(room))
                    break search
                }
                let length = entries.isEmpty ? value.count : entries.valueLength
                guard value.count == length, (entries.count + 1) * (2 + length) <= mtu - 2 else { break search }
                entries.append(attribute.handle, value[...])
            case .held(let owner):
                if entries.isEmpty { return .held(attribute.handle, by: owner) }
                break search
            case .refused(let code):
                if entries.isEmpty { return .refused(attribute.handle, code) }
                break search
            }
        }
        guard !entries.isEmpty else { return .refused(range.start, .attributeNotFound) }
        return .response(.init(entries: entries))
    }
}
