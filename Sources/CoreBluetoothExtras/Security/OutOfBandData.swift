import BLEHost
import BLEWire
public import CoreBluetooth

/// The out-of-band data of a device for LE Secure Connections.
///
/// Pairing with this data is protected against a man in the middle.
///
/// The data is not secret, but the transfer must protect it from modification.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.4.
public struct OutOfBandData: Equatable, Sendable {
    /// The commitment to the device's public key: 16 octets, least significant first.
    public let confirmation: Data
    /// A random number from the device: 16 octets, least significant first.
    public let random: Data
    let deviceData: SecurityManager.OutOfBandData.DeviceData

    /// Creates data from two values; returns `nil` unless each has 16 octets.
    public init?(confirmation: Data, random: Data) {
        guard confirmation.count == 16, random.count == 16 else { return nil }
        self.init(.init(confirm: Key128(octets: confirmation), random: Key128(octets: random)))
    }

    /// Parses the structures of types 0x22 and 0x23 in an NFC record or a printed code, in the format of advertising
    /// data; returns `nil` unless both are present with 16 octets each.
    ///
    /// Core Specification Supplement 11, Part A, 1.6.
    public init?(structures octets: Data) {
        let structures = AdvertisingData(decoding: [UInt8](octets)).structures
        func value(_ type: UInt8) -> Data? { structures.first { $0.type.wire == type }.map { Data($0.data) } }
        guard let confirmation = value(0x22), let random = value(0x23) else { return nil }
        self.init(confirmation: confirmation, random: random)
    }

    /// The structures of types 0x22 and 0x23 for an NFC record or a printed code, 36 octets in total.
    public var structures: Data { Data([17, 0x22]) + confirmation + Data([17, 0x23]) + random }

    init(_ deviceData: SecurityManager.OutOfBandData.DeviceData) {
        self.deviceData = deviceData
        confirmation = deviceData.confirm.octets
        random = deviceData.random.octets
    }
}

/// A key that two devices exchange by means other than Bluetooth, such as NFC, for legacy pairing with
/// man-in-the-middle protection.
///
/// Keep the key secret: anyone who knows it can decrypt the connection or act as a man in the middle.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.4.
public struct TemporaryKey: Equatable, Sendable {
    let key: Key128

    /// Creates a key from 16 octets, least significant first; returns `nil` for any other count.
    public init?(_ octets: Data) {
        guard octets.count == 16 else { return nil }
        key = Key128(octets: octets)
    }

    /// Generates a random key.
    public static func random() -> Self { Self(key: Key128(wire: .random(in: 1 ... .max))) }

    private init(key: Key128) { self.key = key }

    /// The 16 octets, least significant first.
    public var octets: Data { key.octets }

    /// Parses the structure of type 0x10 in an NFC record or a printed code, in the format of advertising data; returns
    /// `nil` unless it is present with 16 octets.
    ///
    /// Core Specification Supplement 11, Part A, 1.8.
    public init?(structures octets: Data) {
        let structures = AdvertisingData(decoding: [UInt8](octets)).structures
        guard let structure = structures.first(where: { $0.type.wire == 0x10 }) else { return nil }
        self.init(Data(structure.data))
    }

    /// The structure of type 0x10 for an NFC record or a printed code, 18 octets.
    public var structures: Data { Data([17, 0x10]) + octets }
}

/// The cases in which the host pairs with a device although no ``BluetoothPairing`` object asks the user.
public enum UnattendedPairing: CaseIterable, Sendable {
    /// Never, unless ``BluetoothPairing/pair(with:)`` is called or the pairing uses out-of-band data.
    ///
    /// If a ``BluetoothPairing`` object asks the user, it does so before every pairing, as on Apple's systems.
    case never
    /// When an app needs it: a device has refused an app's request, an app is connected to the device, or an app has
    /// published a characteristic or a channel that needs encryption.
    case whenNeeded
    /// Whenever a device wants to pair, so any device in range can pair with this host.
    case always

    var wire: BLEHost.UnattendedPairing {
        switch self {
        case .never: .never
        case .whenNeeded: .whenNeeded
        case .always: .always
        }
    }
}

/// The minimum requirements for pairings and bonds.
///
/// Core 6.0, Vol 3, Part C, 10.2.4.
public struct PairingPolicy: Equatable, Sendable {
    /// True to refuse devices that support only legacy pairing, which does not protect against eavesdropping.
    public var requiresSecureConnections: Bool
    /// The minimum key size in octets, 7 to 16; other numbers are replaced by the nearest valid one.
    public var minimumKeySize: Int
    /// True to store the keys of a pairing, as a bond.
    ///
    /// If `false`, a pairing is valid only until the connection ends, which suits a device that many people use.
    /// Existing bonds remain valid.
    public var keepsBonds: Bool

    /// The cases in which the host pairs although no ``BluetoothPairing`` object asks the user.
    ///
    /// If `nil`, the other policies decide. If no policy sets this property, the host pairs
    /// ``UnattendedPairing/whenNeeded``.
    ///
    /// An app that shares a radio through the daemon can only restrict what the daemon's policy file allows under its
    /// key `unattendedPairing`.
    public var unattendedPairing: UnattendedPairing?

    /// Creates a policy.
    ///
    /// Without arguments, it requires nothing.
    public init(
        requiresSecureConnections: Bool = false,
        minimumKeySize: Int = 7,
        keepsBonds: Bool = true,
        unattendedPairing: UnattendedPairing? = nil
    ) {
        self.requiresSecureConnections = requiresSecureConnections
        self.minimumKeySize = minimumKeySize
        self.keepsBonds = keepsBonds
        self.unattendedPairing = unattendedPairing
    }

    var wire: BLEHost.PairingPolicy {
        .init(
            requiresSecureConnections: requiresSecureConnections,
            leastKeySize: minimumKeySize,
            keepsBonds: keepsBonds,
            unattended: unattendedPairing?.wire
        )
    }
}

extension Key128 {
    /// Creates a key from 16 octets, least significant first.
    fileprivate init(octets: Data) { self.init(wire: octets.reversed().reduce(0) { $0 << 8 | UInt128($1) }) }

    /// The 16 octets, least significant first.
    fileprivate var octets: Data { Data((0..<16).map { UInt8(truncatingIfNeeded: wire >> (8 * UInt128($0))) }) }
}
