import BLEWire

/// Where a device is reached on the air, which Core Bluetooth hides behind an identifier.
///
/// A private address changes every few minutes: keep the identifier of a peer rather than such an address.
///
/// Core 6.0, Vol 6, Part B, 1.3.
public struct BluetoothAddress: Hashable, Sendable {
    /// Who chose an address, and for how long it lasts.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Given by the IEEE to the maker, for ever.
        case `public`
        /// Chosen by the device, at least until it is switched off.
        case `static`
        /// Changes, and tells who it is only to those who hold the device's key.
        case resolvable
        /// Changes, and tells nothing to anybody.
        case nonResolvable
        /// Of no kind that is specified.
        case reserved
    }

    /// The six octets, in the order in which people write them.
    public let octets: [UInt8]
    /// What sort of address it is.
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
    /// The address as people write it, such as `C0:FF:EE:00:00:01`.
    public var description: String {
        octets.map { octet in
            let digits = String(octet, radix: 16, uppercase: true)
            return digits.count == 2 ? digits : "0" + digits
        }.joined(separator: ":")
    }
}
