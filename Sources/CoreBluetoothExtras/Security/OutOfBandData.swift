import BLEHost
import BLEWire
public import CoreBluetooth

/// What a device tells another by other means than Bluetooth, so that the two can pair by LE Secure Connections without
/// anybody in between.
///
/// It tells nothing that has to be kept from those who see it; but whoever can change it on its way can stand between.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.4.
public struct OutOfBandData: Equatable, Sendable {
    /// What commits the device to its public key: 16 octets, the least significant first.
    public let confirmation: Data
    /// A number that the device drew: 16 octets, the least significant first.
    public let random: Data
    let told: SecurityManager.OutOfBandData.Told

    /// Takes the two values as another device says them; `nil` unless each has 16 octets.
    public init?(confirmation: Data, random: Data) {
        guard confirmation.count == 16, random.count == 16 else { return nil }
        self.init(.init(confirm: Key128(octets: confirmation), random: Key128(octets: random)))
    }

    /// Reads the values out of the structures of an NFC record or a code, as of advertising data: those of types 0x22
    /// and 0x23; `nil` if they are not both there, with 16 octets each.
    ///
    /// Core Specification Supplement 11, Part A, 1.6.
    public init?(structures octets: Data) {
        let structures = AdvertisingData(decoding: [UInt8](octets)).structures
        func value(_ type: UInt8) -> Data? { structures.first { $0.type.wire == type }.map { Data($0.data) } }
        guard let confirmation = value(0x22), let random = value(0x23) else { return nil }
        self.init(confirmation: confirmation, random: random)
    }

    /// The values as structures of types 0x22 and 0x23: 36 octets, for an NFC record or a code.
    public var structures: Data { Data([17, 0x22]) + confirmation + Data([17, 0x23]) + random }

    init(_ told: SecurityManager.OutOfBandData.Told) {
        self.told = told
        confirmation = told.confirm.octets
        random = told.random.octets
    }
}

/// A key that two devices know by other means than Bluetooth, such as NFC, so that they can pair the legacy way without
/// anybody in between.
///
/// Whoever gets to see it can stand between and listen.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.4.
public struct TemporaryKey: Equatable, Sendable {
    let key: Key128

    /// Takes the key as another device says it, 16 octets with the least significant first; `nil` if there are not as
    /// many.
    public init?(_ octets: Data) {
        guard octets.count == 16 else { return nil }
        key = Key128(octets: octets)
    }

    /// Draws a key.
    public static func random() -> Self { Self(key: Key128(wire: .random(in: 1 ... .max))) }

    private init(key: Key128) { self.key = key }

    /// Its 16 octets, the least significant first.
    public var octets: Data { key.octets }

    /// Reads the key out of the structures of an NFC record or a code, as of advertising data: that of type 0x10; `nil`
    /// if it is not there, with 16 octets.
    ///
    /// Core Specification Supplement 11, Part A, 1.8.
    public init?(structures octets: Data) {
        let structures = AdvertisingData(decoding: [UInt8](octets)).structures
        guard let structure = structures.first(where: { $0.type.wire == 0x10 }) else { return nil }
        self.init(Data(structure.data))
    }

    /// The key as a structure of type 0x10: 18 octets, for an NFC record or a code.
    public var structures: Data { Data([17, 0x10]) + octets }
}

/// When devices are paired although no ``BluetoothPairing`` asks the user.
public enum UnattendedPairing: CaseIterable, Sendable {
    /// Never, unless ``BluetoothPairing/pair(with:)`` is called or the device told something out of band.
    ///
    /// If a user is asked, that is before each pairing, as on Apple's systems.
    case never
    /// When an app needs it: a device refuses what an app asked for, an app is connected to the device, or an app has
    /// published a characteristic or a channel that needs encryption.
    case whenNeeded
    /// Whenever a device wants it. Anybody in range can pair with this host then.
    case always

    var wire: BLEHost.UnattendedPairing {
        switch self {
        case .never: .never
        case .whenNeeded: .whenNeeded
        case .always: .always
        }
    }
}

/// What a host insists on, in pairings and of the bonds that it uses.
///
/// Core 6.0, Vol 3, Part C, 10.2.4.
public struct PairingPolicy: Equatable, Sendable {
    /// Whether devices are refused that know only the pairing from before Core 4.2, which does not protect from those
    /// who listen to it.
    public var requiresSecureConnections: Bool
    /// How long a key must be, in octets, 7 to 16; numbers beyond these count as the nearest.
    public var minimumKeySize: Int
    /// Whether keys are kept.
    ///
    /// If not, what comes of a pairing counts until the connection ends, as befits a device that many people use; bonds
    /// that there are already stay of use.
    public var keepsBonds: Bool

    /// When devices are paired while no ``BluetoothPairing`` asks the user; `nil` to leave that to other policies, or,
    /// if none of them says, to ``UnattendedPairing/whenNeeded``.
    ///
    /// An app that shares a radio through the daemon can only allow less than the daemon does, whose policy file has
    /// the key `unattendedPairing`.
    public var unattendedPairing: UnattendedPairing?

    /// Creates a policy that refuses nothing unless it is told so.
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
    /// Creates a key of 16 octets, the least significant first.
    fileprivate init(octets: Data) { self.init(wire: octets.reversed().reduce(0) { $0 << 8 | UInt128($1) }) }

    /// Its 16 octets, the least significant first.
    fileprivate var octets: Data { Data((0..<16).map { UInt8(truncatingIfNeeded: wire >> (8 * UInt128($0))) }) }
}
