import BLEHost
import BLEWire
public import CoreBluetooth

/// What a user can be shown and asked, which decides how devices make sure of each other.
///
/// Core 6.0, Vol 3, Part H, 2.3.2.
public enum PairingCapability: CaseIterable, Sendable {
    /// Six digits can be shown.
    case displayOnly
    /// Six digits can be shown, and the user can say yes or no.
    case displayYesNo
    /// Digits can be typed in.
    case keyboardOnly
    /// Nothing at all.
    case noInputNoOutput
    /// Digits can be shown and typed in.
    case keyboardDisplay

    var wire: SMP.IOCapability {
        switch self {
        case .displayOnly: .displayOnly
        case .displayYesNo: .displayYesNo
        case .keyboardOnly: .keyboardOnly
        case .noInputNoOutput: .noInputNoOutput
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}

/// How far a connection can be trusted.
///
/// Core 6.0, Vol 3, Part C, 10.2.1.
public enum ConnectionSecurity: Comparable, Sendable {
    /// Everybody may listen.
    case unencrypted
    /// Encrypted, with a key of which nobody knows who else has it.
    case encrypted
    /// Encrypted, with a key that nobody in between can have.
    case authenticated

    init(_ security: LinkSecurity) {
        self =
            switch security {
            case .unencrypted: .unencrypted
            case .encrypted: .encrypted
            case .authenticated: .authenticated
            }
    }
}

/// How two devices made sure of each other.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.1.
public enum PairingMethod: Sendable {
    /// Not at all: somebody may have stood in between.
    case justWorks
    /// The user carried six digits from one to the other.
    case passkeyEntry
    /// The user saw that both showed the same six digits.
    case numericComparison
    /// They told each other something by other means than Bluetooth.
    case outOfBand

    init(_ method: BLEHost.PairingMethod) {
        self =
            switch method {
            case .justWorks: .justWorks
            case .passkeyEntry: .passkeyEntry
            case .numericComparison: .numericComparison
            case .outOfBand: .outOfBand
            }
    }
}

/// Why devices were not paired; what was kept of an earlier pairing is as it was.
public enum PairingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// This host, or its user, ended it; the reason is one of Core 6.0, Vol 3, Part H, 3.5.5.
    case refused(reason: UInt8)
    /// The device ended it; likewise.
    case refusedByDevice(reason: UInt8)
    /// Nothing happened for 30 s.
    case timedOut
    /// The connection could not be encrypted with the new key.
    case encryptionFailed
    /// There is no connection, or none any more.
    case disconnected
    /// Pairing failed a moment ago, and may be tried again after a while.
    case tooManyAttempts
    /// The device needs a key that keeps out somebody in between, for which this host has neither display nor keyboard
    /// nor out-of-band data. Nothing was sent to the device.
    case cannotAuthenticate
    /// There is nobody to ask, and ``PairingPolicy/unattendedPairing`` allows no pairing then. Nothing was sent.
    case nobodyToAsk
    /// There is no Bluetooth.
    case unsupported

    init(_ failure: PairingFailure) {
        self =
            switch failure {
            case .refused(let reason): .refused(reason: reason.wire)
            case .refusedByPeer(let reason): .refusedByDevice(reason: reason.wire)
            case .timedOut: .timedOut
            case .encryptionFailed: .encryptionFailed
            case .disconnected: .disconnected
            case .tooSoon: .tooManyAttempts
            case .cannotAuthenticate: .cannotAuthenticate
            case .nobodyToAsk: .nobodyToAsk
            }
    }

    /// What happened, in words.
    public var description: String {
        switch self {
        case .refused(let reason): "this end refused to pair: \(SMP.Reason(wire: reason))"
        case .refusedByDevice(let reason): "the device refused to pair: \(SMP.Reason(wire: reason))"
        case .timedOut: "pairing took too long"
        case .encryptionFailed: "the connection could not be encrypted with the new key"
        case .disconnected: "there is no connection"
        case .tooManyAttempts: "pairing failed a moment ago; try again in a minute"
        case .cannotAuthenticate:
            "the device needs a key that keeps out somebody in between; that takes a display, a keyboard or data told "
                + "out of band at this end"
        case .nobodyToAsk: "there is nobody to ask, and the policy allows no pairing without a user"
        case .unsupported: "there is no Bluetooth"
        }
    }
}

/// A device that this host is bonded with.
public struct Bond: Equatable, Sendable {
    /// What the device is called in apps: `CBPeripheral.identifier`, `CBCentral.identifier`.
    public let identifier: UUID
    /// What it calls itself, if that is known.
    public let name: String?
    /// The identity address of the device, or one that it had on the air if it has not shown that the former is its
    /// own.
    public let address: BluetoothAddress
    /// Whether nobody can have stood in between when the devices were paired.
    public let isAuthenticated: Bool
    /// Whether they were paired by LE Secure Connections.
    public let isSecureConnections: Bool
    /// How long the key is, in octets: 7 to 16.
    public let keySize: Int

    init(_ bond: BondedPeer) {
        identifier = UUID(bond.peer)
        name = bond.name
        address = BluetoothAddress(bond.identity)
        isAuthenticated = bond.strength.isAuthenticated
        isSecureConnections = bond.strength.isSecureConnections
        keySize = bond.strength.keySize
    }
}
