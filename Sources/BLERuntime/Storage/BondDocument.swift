import BLEHost
import BLEWire

/// How a bond is written to a ``StateFile``.
///
/// Everything in a file may be wrong: ``bond()`` takes nothing that a ``Bond`` cannot hold. A bond that is malformed is
/// an error, but for its ``database``, which alone is lost then.
struct BondDocument: Codable {
    struct Signing: Codable {
        let key: String
        /// None when all counters have been used.
        let nextCounter: UInt32?
    }

    struct LongTerm: Codable {
        let key: String
        let random: UInt64
        let diversifier: UInt16
    }

    struct Configuration: Codable {
        let handle: UInt16
        let characteristic: String
        let bits: UInt16
    }

    struct Range: Codable {
        let start: UInt16
        let end: UInt16
    }

    /// What no bond can hold.
    struct Malformed: Error {}

    let address: String
    let isRandom: Bool
    let security: Int
    let keySize: Int
    let longTermKey: LongTerm?
    let remoteSigning: Signing?
    let configurations: [Configuration]
    let features: UInt8
    let databaseHash: String?
    let isAware: Bool
    let pendingChange: Range?
    /// What is known of the peer's attributes, which can be learnt again.
    var database: Lenient<DatabaseDocument>?

    init(_ bond: Bond) {
        address = bond.identity.description
        isRandom = bond.identity.onAir.kind == .random
        security = bond.security.rawValue
        keySize = bond.keySize
        longTermKey = bond.longTermKey.map {
            LongTerm(key: String($0.key.wire, radix: 16), random: $0.random, diversifier: $0.diversifier)
        }
        remoteSigning = bond.remoteSigning.map {
            Signing(key: String($0.key.wire, radix: 16), nextCounter: $0.nextCounter)
        }
        configurations = bond.client.configurations.map {
            Configuration(handle: $0.handle.wire, characteristic: $0.characteristic.description, bits: $0.bits)
        }
        features = bond.client.features.rawValue
        databaseHash = bond.client.databaseHash.map { String($0, radix: 16) }
        isAware = bond.client.isAware
        pendingChange = bond.client.pendingChange.map { Range(start: $0.start.wire, end: $0.end.wire) }
        database = bond.database.map { Lenient(DatabaseDocument($0)) }
    }

    func bond() throws -> Bond {
        guard let identity = DeviceAddress(address, isRandom ? .random : .public),
            let security = LinkSecurity(rawValue: security), 7...16 ~= keySize
        else { throw Malformed() }
        var bond = Bond(identity: identity, security: security, keySize: keySize)
        bond.longTermKey = try longTermKey.map {
            LongTermKey(key: Key128(wire: try Self.number($0.key)), random: $0.random, diversifier: $0.diversifier)
        }
        bond.remoteSigning = try remoteSigning.map {
            RemoteSigning(key: Key128(wire: try Self.number($0.key)), nextCounter: $0.nextCounter)
        }
        bond.client.configurations = try configurations.map { entry in
            guard let type = BluetoothUUID(entry.characteristic) else { throw Malformed() }
            return .init(handle: AttributeHandle(wire: entry.handle), characteristic: type, bits: entry.bits)
        }
        bond.client.features = ClientFeatures(rawValue: features).intersection(.all)
        bond.client.databaseHash = try databaseHash.map { try Self.number($0) }
        bond.client.isAware = isAware
        bond.client.pendingChange = pendingChange.flatMap {
            AttributeHandleRange(AttributeHandle(wire: $0.start), AttributeHandle(wire: $0.end))
        }
        bond.database = database?.value?.database
        return bond
    }

    private static func number(_ text: String) throws -> UInt128 {
        guard let number = UInt128(text, radix: 16) else { throw Malformed() }
        return number
    }
}
