import BLEHost
import BLEWire

/// The encoding of a bond in a ``StateFile``.
///
/// Values in a file can be wrong, and a bond must contain only valid ones. If the peer or the key of a bond cannot be
/// read, the whole bond is lost; otherwise only the unreadable parts are lost.
struct BondDocument: Codable {
    private enum Key: String, CodingKey {
        case adapter, isAdapterRandom, address, isRandom, security, keySize, isSecureConnections, longTermKey,
            localLongTermKey, resolvingKey, wantedBy
        case localSigningKey, remoteSigning, database, users
    }

    private struct LongTerm: Codable {
        private enum Key: String, CodingKey { case key, random, diversifier }

        let value: LongTermKey

        init(_ value: LongTermKey) { self.value = value }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            value = LongTermKey(
                key: Key128(wire: try values.decodeNumber(forKey: .key)),
                random: try values.decode(UInt64.self, forKey: .random),
                diversifier: try values.decode(UInt16.self, forKey: .diversifier)
            )
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Key.self)
            try values.encode(value.key.digits, forKey: .key)
            try values.encode(value.random, forKey: .random)
            try values.encode(value.diversifier, forKey: .diversifier)
        }
    }

    private struct Signing: Codable {
        private enum Key: String, CodingKey { case key, nextCounter }

        let value: RemoteSigning

        init(_ value: RemoteSigning) { self.value = value }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            value = RemoteSigning(
                key: Key128(wire: try values.decodeNumber(forKey: .key)),
                nextCounter: try values.decodeIfPresent(UInt32.self, forKey: .nextCounter)
            )
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Key.self)
            try values.encode(value.key.digits, forKey: .key)
            try values.encodeIfPresent(value.nextCounter, forKey: .nextCounter)
        }
    }

    private(set) var bond: Bond
    /// The paths, within the file, of values that could not be read, such as `peers[3].bond.keySize`.
    private(set) var losses: [String] = []

    init(_ bond: Bond) { self.bond = bond }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let keySize = try values.decode(Int.self, forKey: .keySize)
        guard let security = LinkSecurity(rawValue: try values.decode(Int.self, forKey: .security)) else {
            throw values.malformed(.security)
        }
        guard 7...16 ~= keySize else { throw values.malformed(.keySize) }
        bond = Bond(
            identity: try values.decodeAddress(forKey: .address, isRandom: .isRandom),
            security: security,
            keySize: keySize,
            longTermKey: try values.decodeIfPresent(LongTerm.self, forKey: .longTermKey)?.value
        )
        if values.contains(.adapter) {
            bond.adapter = try values.decodeAddress(forKey: .adapter, isRandom: .isAdapterRandom)
        }
        bond.isSecureConnections = try values.decodeIfPresent(Bool.self, forKey: .isSecureConnections) ?? false
        let party = values.decodeIfReadable(String.self, forKey: .wantedBy, losses: &losses)
        bond.wantedBy = party.flatMap { Bond.Origin(name: $0) } ?? .user
        bond.localLongTermKey = try values.decodeIfPresent(LongTerm.self, forKey: .localLongTermKey)?.value
        bond.resolvingKey = try values.decodeKey(forKey: .resolvingKey)
        bond.localSigningKey = try values.decodeKey(forKey: .localSigningKey)
        bond.remoteSigning = values.decodeIfReadable(Signing.self, forKey: .remoteSigning, losses: &losses)?.value
        do {
            bond.client = try ClientDocument(from: decoder).memory
        } catch {
            losses.append(place(of: error, under: decoder.codingPath))
            bond.client = .lost
        }
        if values.contains(.users) {
            let users = values.decodeIfReadable([UInt32].self, forKey: .users, losses: &losses) ?? []
            bond.users = Array(users.prefix(Bond.mostUsers))
        }
        bond.database = (try? values.decodeIfPresent(DatabaseDocument.self, forKey: .database))?.database
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(bond.adapter?.description, forKey: .adapter)
        try values.encodeIfPresent(bond.adapter.map { $0.onAir.kind == .random }, forKey: .isAdapterRandom)
        try values.encode(bond.identity.description, forKey: .address)
        try values.encode(bond.identity.onAir.kind == .random, forKey: .isRandom)
        try values.encode(bond.security.rawValue, forKey: .security)
        try values.encode(bond.keySize, forKey: .keySize)
        if bond.isSecureConnections { try values.encode(true, forKey: .isSecureConnections) }
        if bond.wantedBy != .user { try values.encode(bond.wantedBy.name, forKey: .wantedBy) }
        try values.encodeIfPresent(bond.localLongTermKey.map { LongTerm($0) }, forKey: .localLongTermKey)
        try values.encodeIfPresent(bond.resolvingKey.map(\.digits), forKey: .resolvingKey)
        try values.encodeIfPresent(bond.localSigningKey.map(\.digits), forKey: .localSigningKey)
        try values.encodeIfPresent(bond.longTermKey.map { LongTerm($0) }, forKey: .longTermKey)
        try values.encodeIfPresent(bond.remoteSigning.map { Signing($0) }, forKey: .remoteSigning)
        if !bond.users.isEmpty { try values.encode(bond.users, forKey: .users) }
        try values.encodeIfPresent(bond.database.map { DatabaseDocument($0) }, forKey: .database)
        try ClientDocument(bond.client).encode(to: encoder)
    }
}

/// The encoding of the data that the local server keeps about a bonded client.
private struct ClientDocument: Codable {
    private enum Key: String, CodingKey { case configurations, features, databaseHash, isAware, pendingChange }

    private struct Configuration: Codable {
        let handle: UInt16
        let characteristic: String
        let bits: UInt16
    }

    private struct Range: Codable {
        let start: UInt16
        let end: UInt16
    }

    private(set) var memory = ClientMemory()

    init(_ memory: ClientMemory) { self.memory = memory }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        memory.configurations = try values.decode([Configuration].self, forKey: .configurations).map { entry in
            guard let type = BluetoothUUID(entry.characteristic) else { throw values.malformed(.configurations) }
            return .init(handle: AttributeHandle(wire: entry.handle), characteristic: type, bits: entry.bits)
        }
        memory.features = ClientFeatures(rawValue: try values.decode(UInt8.self, forKey: .features)).intersection(.all)
        if values.contains(.databaseHash) { memory.databaseHash = try values.decodeNumber(forKey: .databaseHash) }
        memory.isAware = try values.decode(Bool.self, forKey: .isAware)
        memory.pendingChange = try values.decodeIfPresent(Range.self, forKey: .pendingChange).flatMap {
            AttributeHandleRange(AttributeHandle(wire: $0.start), AttributeHandle(wire: $0.end))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        let configurations = memory.configurations.map {
            Configuration(handle: $0.handle.wire, characteristic: $0.characteristic.description, bits: $0.bits)
        }
        let range = memory.pendingChange.map { Range(start: $0.start.wire, end: $0.end.wire) }
        try values.encode(configurations, forKey: .configurations)
        try values.encode(memory.features.rawValue, forKey: .features)
        try values.encodeIfPresent(memory.databaseHash.map { String($0, radix: 16) }, forKey: .databaseHash)
        try values.encode(memory.isAware, forKey: .isAware)
        try values.encodeIfPresent(range, forKey: .pendingChange)
    }
}

extension ClientMemory {
    /// The data to use for a client whose stored Client Characteristic Configurations could not be read: the server
    /// must assume that everything has changed.
    fileprivate static var lost: Self {
        var memory = Self()
        memory.isAware = false
        memory.pendingChange = .all
        return memory
    }
}

extension Bond.Origin {
    /// Creates the origin with this name in a file; returns `nil` if no origin has this name.
    fileprivate init?(name: String) {
        switch name {
        case "peer": self = .peer
        case "app": self = .app
        case "user": self = .user
        default: return nil
        }
    }

    fileprivate var name: String {
        switch self {
        case .peer: "peer"
        case .app: "app"
        case .user: "user"
        }
    }
}

extension Key128 {
    /// The key in hexadecimal digits.
    fileprivate var digits: String { String(wire, radix: 16) }
}

extension KeyedDecodingContainer {
    /// Decodes a hexadecimal key; returns `nil` if there is none.
    fileprivate func decodeKey(forKey key: Key) throws -> Key128? {
        contains(key) ? Key128(wire: try decodeNumber(forKey: key)) : nil
    }
}
