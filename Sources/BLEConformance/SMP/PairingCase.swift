import BLECrypto
import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// A test case for the command `smp`, as described in a file.
struct PairingCase: Decodable {
    struct Address: Decodable {
        private enum Key: String, CodingKey { case address, address_type }

        let value: DeviceAddress

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            let octets = try values.decode(Octets.self, forKey: .address)
            let kind = try values.decode(Bounds(UInt8(0)...1), forKey: .address_type)
            value = DeviceAddress(UInt64(try octets.number(of: 6)), DeviceAddress.Kind(wire: kind))
        }
    }

    /// Octets in the order of transmission.
    struct Octets: Decodable {
        let bytes: [UInt8]

        init(from decoder: any Decoder) throws {
            bytes = try [UInt8](hexadecimal: decoder.singleValueContainer().decode(String.self))
        }

        /// Returns the number that these octets encode, least significant octet first; `count` is the required length.
        func number(of count: Int) throws -> UInt128 {
            guard bytes.count == count else { throw InvalidInput("\(count) octets expected: \(bytes.hexadecimal)") }
            return bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
        }

        var key: Key128 { get throws { Key128(wire: try number(of: 16)) } }
    }

    let role: String
    let local: Address
    let peer: Address
    let identity: Address?
    let irk: Octets?
    let csrk: Octets?
    let ltk: Octets?
    let ediv: UInt16?
    let rand: UInt64?
    let io_capability: UInt8
    let oob: Octets?
    let bonding: Bool?
    let mitm: Bool?
    let secure_connections: Bool?
    let max_key_size: Int?
    let initiator_keys: UInt8?
    let responder_keys: UInt8?
    let passkey: String?
    let confirm_numeric: Bool?
    let private_key: Octets?
    let random: [Octets]?

    init(file path: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch let error as InvalidInput { throw InvalidInput("\(path): \(error)") } catch {
            throw InvalidInput("\(path): \(SystemFile.reason(for: error, at: path))")
        }
    }

    init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }

    /// The passkey to enter or display; `nil` if the test case has none.
    var digits: UInt32? {
        get throws { try passkey.map { try Bounds(SMP.passkeys).read($0) } }
    }

    var linkRole: LinkRole {
        get throws {
            switch role {
            case "initiator": return .central
            case "responder": return .peripheral
            default: throw InvalidInput("invalid role: \(role)")
            }
        }
    }

    /// Creates the described security manager.
    func makeManager() throws -> SecurityManager {
        SecurityManager(
            role: try linkRole,
            local: local.value,
            peer: peer.value,
            identity: .init(
                address: (identity ?? local).value,
                resolvingKey: try irk?.key,
                signingKey: try csrk?.key
            ),
            configuration: try makeConfiguration(),
            random: ListedNumbers((random ?? []).flatMap(\.bytes))
        )
    }

    private func makeConfiguration() throws -> SecurityManager.Configuration {
        var configuration = SecurityManager.Configuration()
        guard let capability = SMP.IOCapability(wire: io_capability) else {
            throw InvalidInput("io_capability: expected a whole number from 0 to 4")
        }
        configuration.ioCapability = capability
        configuration.isBonding = bonding ?? true
        configuration.protection = mitm == true ? .required : .none
        configuration.secureConnections = secure_connections == false ? .off : .preferred
        configuration.leastKeySize = SMP.keySizes.lowerBound
        configuration.greatestKeySize = max_key_size ?? SMP.keySizes.upperBound
        guard SMP.keySizes.contains(configuration.greatestKeySize) else {
            throw InvalidInput("max_key_size: expected a whole number from 7 to 16")
        }
        if let initiator_keys { configuration.initiatorKeys = SMP.KeyDistribution(rawValue: initiator_keys) }
        if let responder_keys { configuration.responderKeys = SMP.KeyDistribution(rawValue: responder_keys) }
        configuration.asksForConsent = false
        configuration.outOfBand = try makeOutOfBandData()
        configuration.passkey = try digits
        if let ltk {
            configuration.longTermKey = LongTermKey(key: try ltk.key, random: rand ?? 0, diversifier: ediv ?? 0)
        }
        configuration.keyPair = try makeKeyPair()
        return configuration
    }

    /// Creates the key pair of the test case.
    ///
    /// If the test case has none, the key pair is random, and uses none of the test case's random numbers.
    private func makeKeyPair() throws -> P256KeyPair {
        guard let private_key else {
            var system = SystemRandomNumberGenerator()
            return P256KeyPair(using: &system)
        }
        guard let pair = P256KeyPair(privateKey: private_key.bytes) else {
            throw InvalidInput("invalid private key: \(private_key.bytes.hexadecimal)")
        }
        return pair
    }

    /// Returns the out-of-band data of the test case.
    ///
    /// 16 octets are a temporary key; 32 octets are the peer's confirm value and random number.
    private func makeOutOfBandData() throws -> SecurityManager.OutOfBandData {
        guard let oob else { return .init() }
        guard oob.bytes.count == 32 else { return .init(temporaryKey: try oob.key) }
        let number = try oob.number(of: 32, from: 16), confirm = try oob.number(of: 32, from: 0)
        return .init(remote: .init(confirm: Key128(wire: confirm), random: Key128(wire: number)))
    }
}

extension PairingCase.Octets {
    /// Returns the 16-octet number at `start`, least significant octet first.
    ///
    /// Throws an error unless there are exactly `count` octets in total.
    fileprivate func number(of count: Int, from start: Int) throws -> UInt128 {
        guard bytes.count == count, start + 16 <= count else { throw InvalidInput("expected \(count) octets") }
        return bytes[start..<start + 16].reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }
}

/// A random number generator that first returns the numbers of a test case, eight octets at a time, and then real
/// random numbers.
struct ListedNumbers: RandomNumberGenerator, Sendable {
    private var rest: ArraySlice<UInt8>

    init(_ octets: [UInt8]) { rest = octets[...] }

    mutating func next() -> UInt64 {
        guard rest.count >= 8 else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
