import BLEHost
import BLEWire
public import CoreBluetooth

/// The input and output capabilities of the user interface, which determine the pairing method.
///
/// Core 6.0, Vol 3, Part H, 2.3.2.
public enum PairingCapability: CaseIterable, Sendable {
    /// The user interface can display six digits.
    case displayOnly
    /// The user interface can display six digits, and the user can answer yes or no.
    case displayYesNo
    /// The user can enter digits.
    case keyboardOnly
    /// The user interface can neither display digits nor ask the user.
    case noInputNoOutput
    /// The user interface can display digits, and the user can enter them.
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

/// The security of a connection.
///
/// Core 6.0, Vol 3, Part C, 10.2.1.
public enum ConnectionSecurity: Comparable, Sendable {
    /// Not encrypted.
    case unencrypted
    /// Encrypted with a key that a man in the middle may know.
    case encrypted
    /// Encrypted with a key that no man in the middle can know.
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

/// The method by which two devices authenticated each other.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.1.
public enum PairingMethod: Sendable {
    /// No authentication: there may have been a man in the middle.
    case justWorks
    /// The user transferred six digits from one device to the other.
    case passkeyEntry
    /// The user compared six digits on both devices.
    case numericComparison
    /// The devices exchanged data by means other than Bluetooth, such as NFC.
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

/// The reason why a pairing has failed.
///
/// An existing bond stays as it is.
public enum PairingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// This host or its user ended the pairing, with a reason from Core 6.0, Vol 3, Part H, 3.5.5.
    case refused(reason: UInt8)
    /// The device ended the pairing, with a reason from Core 6.0, Vol 3, Part H, 3.5.5.
    case refusedByDevice(reason: UInt8)
    /// The pairing made no progress for 30 s.
    case timedOut
    /// The connection could not be encrypted with the new key.
    case encryptionFailed
    /// There is no connection to the device, or it was lost.
    case disconnected
    /// Pairing with this device failed recently; try again later.
    case tooManyAttempts
    /// The device requires protection against a man in the middle, but this host has no display, keyboard or
    /// out-of-band data. Nothing was sent to the device.
    case cannotAuthenticate
    /// There is no ``BluetoothPairing`` object that can ask the user, and ``PairingPolicy/unattendedPairing`` does not
    /// allow pairing without one. Nothing was sent to the device.
    case nobodyToAsk
    /// Bluetooth is not available on this machine.
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
            case .noAgent: .nobodyToAsk
            }
    }

    /// A description of the error.
    public var description: String {
        switch self {
        case .refused(let reason): "this host ended the pairing (\(SMP.Reason(wire: reason)))"
        case .refusedByDevice(let reason): "the device ended the pairing (\(SMP.Reason(wire: reason)))"
        case .timedOut: "pairing timed out"
        case .encryptionFailed: "the connection could not be encrypted with the new key"
        case .disconnected: "not connected"
        case .tooManyAttempts: "an earlier attempt failed a moment ago; try again in a minute"
        case .cannotAuthenticate:
            "the device requires protection against a man in the middle; for that, this host needs a display, a "
                + "keyboard or out-of-band data"
        case .nobodyToAsk: "the policy requires an agent that can ask the user, and there is none"
        case .unsupported: "Bluetooth is not available, or became unavailable during the call"
        }
    }
}

/// A bonded device.
public struct Bond: Equatable, Sendable {
    /// The identifier of the device: `CBPeripheral.identifier` or `CBCentral.identifier`.
    public let identifier: UUID
    /// The name of the device, if known.
    public let name: String?
    /// The identity address of the device.
    ///
    /// If the device has not proved its identity address, this is an address that it has used over the air.
    public let address: BluetoothAddress
    /// True if the pairing had man-in-the-middle protection.
    public let isAuthenticated: Bool
    /// True if the pairing used LE Secure Connections.
    public let isSecureConnections: Bool
    /// The key size, in octets: 7 to 16.
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
