import BLEWire

/// The over-the-air address of a device, which Core Bluetooth hides behind an identifier.
///
/// A private address changes every few minutes, so store the identifier of a peer instead of its address.
///
/// Core 6.0, Vol 6, Part B, 1.3.
public struct BluetoothAddress: Hashable, Sendable {
    /// The kind of an address.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Assigned to the manufacturer by the IEEE; permanent.
        case `public`
        /// Chosen by the device; constant at least until the device is switched off.
        case `static`
        /// Changes every few minutes. With the device's key (IRK), it can be recognized as the device's own.
        case resolvable
        /// Changes, and cannot be recognized as belonging to a particular device.
        case nonResolvable
        /// An undefined kind.
        case reserved
    }

    /// The six octets, most significant first.
    public let octets: [UInt8]
    /// The kind of address.
    public let kind: Kind

    init(_ address: DeviceAddress) {
        octets = (0..<6).map { UInt8(truncatingIfNeeded: address.value >> (40 - 8 * UInt64($0))) }
        kind =
            switch (address.onAir.kind, address.randomKind) {
            case (.public, _): .public
            case (_, .static): .static
            case (_, .resolvable): .resolvable
            case (_, .nonResolvable): .nonResolvable
            case (_, .reserved): .reserved
            }
    }
}

extension BluetoothAddress: CustomStringConvertible {
    /// The address as text, such as `C0:FF:EE:00:00:01`.
    public var description: String {
        octets.map { octet in
            let digits = String(octet, radix: 16, uppercase: true)
            return digits.count == 2 ? digits : "0" + digits
        }.joined(separator: ":")
    }
}
