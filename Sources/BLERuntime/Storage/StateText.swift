import BLEHost
import BLEWire
import FoundationEssentials

/// The JSON encoding of a ``StateDocument``.
///
/// Values in a file can be wrong. All readable values are kept; ``losses`` lists the places of the others.
struct StateText: Codable {
    /// The reason why nothing in a file can be used.
    enum Unreadable: Error, Equatable {
        /// The file is not JSON, or has another format.
        case malformed
        /// The file was written by a later version of this package.
        case newer(version: Int)
    }

    private enum Key: String, CodingKey { case version, secret, peers }

    /// The version of this format.
    ///
    /// Files without a version are like version 1, except that they do not distinguish advertised names from others.
    /// Version 1 has one bond per peer, and does not say with which adapter the peer is bonded.
    private static let version = 2

    private var secret: UInt128?
    private var peers: [PeerRecord] = []
    /// The paths, within the file, of values that could not be read.
    private(set) var losses: [String] = []

    init(_ document: StateDocument) {
        secret = document.secret
        peers = document.peers.all
    }

    /// Decodes the contents of a file.
    init(reading octets: [UInt8]) throws(Unreadable) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(octets))
        } catch let reason as Unreadable {
            throw reason
        } catch {
            throw .malformed
        }
    }

    /// Returns the decoded state; `freshSecret` is used if the file contains no secret.
    func document(freshSecret: UInt128) -> StateDocument {
        StateDocument(secret: secret ?? freshSecret, peers: peers)
    }

    /// The contents of a file, as JSON.
    var octets: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("strings, integers and booleans can be encoded as JSON")
        }
        return [UInt8](data)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let version = values.decodeIfReadable(Int.self, forKey: .version, losses: &losses)
        if let version, version > Self.version { throw Unreadable.newer(version: version) }
        do { secret = try values.decodeNumber(forKey: .secret) } catch {
            losses.append(place(of: error, under: [Key.secret]))
        }
        do { try readPeers(in: values, tellsNames: version != nil) } catch {
            losses.append(place(of: error, under: [Key.peers]))
        }
        guard secret != nil || !peers.isEmpty else { throw Unreadable.malformed }
    }

    private mutating func readPeers(in values: KeyedDecodingContainer<Key>, tellsNames: Bool) throws {
        var list = try values.nestedUnkeyedContainer(forKey: .peers)
        while !list.isAtEnd {
            let element = try list.superDecoder()
            do {
                let peer = try PeerDocument(from: element)
                peers.append(tellsNames ? peer.record : peer.record.withNameAsAdvertised)
                losses += peer.losses
            } catch {
                losses.append(place(of: error, under: element.codingPath))
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.version, forKey: .version)
        try values.encodeIfPresent(secret.map { String($0, radix: 16) }, forKey: .secret)
        try values.encode(peers.map { PeerDocument($0) }, forKey: .peers)
    }
}

/// The encoding of a stored peer.
private struct PeerDocument: Codable {
    private enum Key: String, CodingKey { case identifier, address, isRandom, name, advertisedName, bond, adapterBonds }

    private(set) var record: PeerRecord
    /// The paths, within the file, of values that could not be read.
    private(set) var losses: [String] = []

    init(_ record: PeerRecord) { self.record = record }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        record = PeerRecord(
            identifier: PeerIdentifier(rawValue: try values.decodeNumber(forKey: .identifier)),
            address: try values.decodeAddress(forKey: .address, isRandom: .isRandom)
        )
        record.name = values.decodeIfReadable(String.self, forKey: .name, losses: &losses)
        record.advertisedName = values.decodeIfReadable(String.self, forKey: .advertisedName, losses: &losses)
        if let bond = values.decodeIfReadable(BondDocument.self, forKey: .bond, losses: &losses) {
            record.bond = bond.bond
            record.bond?.adapter = nil
            losses += bond.losses
        }
        guard values.contains(.adapterBonds) else { return }
        do { try readBonds(in: values) } catch {
            losses.append(place(of: error, under: decoder.codingPath + [Key.adapterBonds]))
        }
    }

    private mutating func readBonds(in values: KeyedDecodingContainer<Key>) throws {
        var list = try values.nestedUnkeyedContainer(forKey: .adapterBonds)
        while !list.isAtEnd {
            let element = try list.superDecoder()
            do {
                let bond = try BondDocument(from: element)
                losses += bond.losses
                guard let adapter = bond.bond.adapter else { throw values.malformed(.adapterBonds) }
                record.bonds = record.bonds.filter { $0.adapter != adapter } + [bond.bond]
            } catch {
                losses.append(place(of: error, under: element.codingPath))
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(String(record.identifier.rawValue, radix: 16), forKey: .identifier)
        try values.encode(record.address.description, forKey: .address)
        try values.encode(record.address.onAir.kind == .random, forKey: .isRandom)
        try values.encodeIfPresent(record.name, forKey: .name)
        try values.encodeIfPresent(record.advertisedName, forKey: .advertisedName)
        let bonds = record.bonds, others = bonds.filter { $0.adapter != nil }.map { BondDocument($0) }
        try values.encodeIfPresent(bonds.first { $0.adapter == nil }.map { BondDocument($0) }, forKey: .bond)
        if !others.isEmpty { try values.encode(others, forKey: .adapterBonds) }
    }
}

extension PeerRecord {
    /// The record as read from a file that does not distinguish advertised names: the name counts as advertised, so
    /// that a newly advertised name replaces it.
    fileprivate var withNameAsAdvertised: Self {
        var record = self
        (record.name, record.advertisedName) = (nil, name)
        return record
    }
}
