package import BLEWire

/// The services that did not fit into an advertisement or belong to background apps, as a set of 128 bits in
/// manufacturer data.
///
/// The area only shows whether an advertisement may contain a given service, because several services share each bit.
/// The field is manufacturer data with Apple's company identifier, type 0x01, and 16 octets; the first octet holds bits
/// 0 to 7, least significant bit first. Apple has not published which bit stands for which service. This stack uses the
/// exclusive or of all sixteen octets of the UUID, without the highest bit.
package struct OverflowArea: Equatable, Sendable {
    private static let header: [UInt8] = [0x4C, 0x00, 0x01]

    private var mask: UInt128

    /// Creates the area for `services`.
    package init(_ services: [BluetoothUUID]) { mask = services.reduce(0) { $0 | Self.bit(of: $1) } }

    /// Decodes the overflow area in advertising data; returns `nil` if there is none.
    package init?(in data: AdvertisingData) {
        let octets = data.data(of: .manufacturerData).first {
            $0.count == Self.header.count + 16 && $0.starts(with: Self.header)
        }
        guard let octets else { return nil }
        mask = octets.dropFirst(Self.header.count).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// Returns whether the area may contain `service`.
    package func contains(_ service: BluetoothUUID) -> Bool { mask & Self.bit(of: service) != 0 }

    /// The contents of the manufacturer data field.
    package var manufacturerData: [UInt8] { Self.header + mask.littleEndianOctets }

    private static func bit(of service: BluetoothUUID) -> UInt128 {
        let index = service.expanded.littleEndianOctets.reduce(0) { $0 ^ $1 } & 0x7F
        return 1 << UInt128(index)
    }
}
