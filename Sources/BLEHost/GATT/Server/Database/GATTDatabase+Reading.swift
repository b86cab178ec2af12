package import BLEWire

extension GATTDatabase {
    /// The state of a peer that determines the results of its reads: its security, Client Characteristic Configurations
    /// and Client Supported Features.
    package struct PeerState: Sendable {
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

    /// The result of reading an attribute.
    package enum Read: Equatable, Sendable {
        case value([UInt8])
        /// A client provides the value.
        case provided(by: Owner)
        case refused(ATT.ErrorCode)
    }

    /// Reads the attribute at `index` for a peer in this state.
    func read(at index: Int, _ peerState: PeerState) -> Read {
        if let code = attributes[index].permissions.refusal(of: .read, on: peerState.trust) { return .refused(code) }
        switch attributes[index].content {
        case .constant(let value), .stored(let value): return .value(value)
        case .provided(let owner): return .provided(by: owner)
        case .configuration: return .value(peerState.configurations[attributes[index].handle].littleEndianOctets)
        case .clientFeatures: return .value([peerState.features.rawValue])
        case .databaseHash: return .value(hash.littleEndianOctets)
        }
    }

    /// Reads the attribute with this handle for a peer in this state.
    package func read(_ handle: AttributeHandle, _ peerState: PeerState) -> Read {
        guard let index = index(of: handle) else { return .refused(.invalidHandle) }
        return read(at: index, peerState)
    }
}
