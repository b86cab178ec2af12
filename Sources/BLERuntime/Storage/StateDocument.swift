import BLEHost
import BLEWire

/// What is in a ``StateFile``.
struct StateDocument: Equatable {
    var secret: UInt128
    private(set) var peers: [PeerRecord] = []

    init(secret: UInt128) { self.secret = secret }

    /// Adds a peer, or replaces what was known of it.
    mutating func remember(_ record: PeerRecord) {
        if let index = peers.firstIndex(where: { $0.identifier == record.identifier }) {
            peers[index] = record
        } else {
            peers.append(record)
        }
        boundDatabases(keeping: record.identifier)
    }

    /// Drops what is known of the attributes of peers until the rest fits a file.
    ///
    /// Those that became known first come first, and `newest` last. It is learnt again when they are connected.
    private mutating func boundDatabases(keeping newest: PeerIdentifier) {
        let lines = peers.map { $0.bond?.database?.lines ?? 0 }
        var total = lines.reduce(0, +)
        let order =
            peers.indices.filter { peers[$0].identifier != newest }
            + peers.indices.filter { peers[$0].identifier == newest }
        for index in order where total > DatabaseDocument.mostLines && lines[index] > 0 {
            peers[index].bond?.database = nil
            total -= lines[index]
        }
    }
}

extension StateDocument: Codable {
    private enum Key: String, CodingKey { case secret, peers }
    private enum PeerKey: String, CodingKey { case identifier, address, isRandom, name, bond }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        secret = try Self.number(values, .secret)
        var list = try values.nestedUnkeyedContainer(forKey: .peers)
        while !list.isAtEnd {
            let peer = try list.nestedContainer(keyedBy: PeerKey.self)
            let text = try peer.decode(String.self, forKey: .address)
            let kind: DeviceAddress.Kind = try peer.decode(Bool.self, forKey: .isRandom) ? .random : .public
            guard let address = DeviceAddress(text, kind) else {
                throw DecodingError.dataCorruptedError(forKey: .address, in: peer, debugDescription: text)
            }
            remember(
                PeerRecord(
                    identifier: PeerIdentifier(rawValue: try Self.number(peer, .identifier)),
                    address: address,
                    name: try peer.decodeIfPresent(String.self, forKey: .name),
                    bond: try peer.decodeIfPresent(BondDocument.self, forKey: .bond)?.bond()
                )
            )
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(String(secret, radix: 16), forKey: .secret)
        var list = values.nestedUnkeyedContainer(forKey: .peers)
        for record in peers {
            var peer = list.nestedContainer(keyedBy: PeerKey.self)
            try peer.encode(String(record.identifier.rawValue, radix: 16), forKey: .identifier)
            try peer.encode(record.address.description, forKey: .address)
            try peer.encode(record.address.onAir.kind == .random, forKey: .isRandom)
            try peer.encodeIfPresent(record.name, forKey: .name)
            try peer.encodeIfPresent(record.bond.map { BondDocument($0) }, forKey: .bond)
        }
    }

    /// Reads 128 bits, written as hexadecimal digits.
    private static func number<K>(_ values: KeyedDecodingContainer<K>, _ key: K) throws -> UInt128 {
        let text = try values.decode(String.self, forKey: key)
        guard let number = UInt128(text, radix: 16) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: text)
        }
        return number
    }
}
