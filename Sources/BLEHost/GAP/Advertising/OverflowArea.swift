package import BLEWire

/// The services that did not fit into an advertisement, as a set of 128 bits in manufacturer data.
///
/// It only answers whether a given service may be contained, because several services share each bit. The structure is
/// manufacturer data with Apple's company identifier, type 0x01, and 16 octets; the first holds bits 0 to 7, least
/// significant first. The bit of a service is this stack's own choice, because none is published: the exclusive or of
/// all sixteen octets of its UUID, without the highest bit.
package struct OverflowArea: Equatable, Sendable {
    private static let header: [UInt8] = [0x4C, 0x00, 0x01]

    private var mask: UInt128

    /// Creates the area for `services`.
    package init(_ services: [BluetoothUUID]) { mask = services.reduce(0) { $0 | Self.bit(of: $1) } }

    /// Reads the area from advertising data; returns `nil` if there is none.
    package init?(in data: AdvertisingData) {
        let octets = data.data(of: .manufacturerData).first {
            $0.count == Self.header.count + 16 && $0.starts(with: Self.header)
        }
        guard let octets else { return nil }
        mask = octets.dropFirst(Self.header.count).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// Returns whether the area may contain `service`.
    package func contains(_ service: BluetoothUUID) -> Bool { mask & Self.bit(of: service) != 0 }

    /// The manufacturer data for the advertisement.
    package var manufacturerData: [UInt8] { Self.header + mask.littleEndianOctets }

    private static func bit(of service: BluetoothUUID) -> UInt128 {
        let index = service.expanded.littleEndianOctets.reduce(0) { $0 ^ $1 } & 0x7F
        return 1 << UInt128(index)
    }
}
