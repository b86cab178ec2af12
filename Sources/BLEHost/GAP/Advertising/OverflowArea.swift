package import BLEWire

/// Services that found no room in an advertisement, as a set of 128 bits in data of a maker.
///
/// Only who looks for a certain service finds it there, and not with certainty: several services share each bit. The
/// structure is manufacturer data of Apple's company identifier, type 0x01, and 16 octets of which the first holds the
/// bits 0 to 7, least significant first. Which bit a service has is this stack's own choice, since none is published:
/// the exclusive or of all sixteen octets of its UUID, without the highest bit.
package struct OverflowArea: Equatable, Sendable {
    private static let header: [UInt8] = [0x4C, 0x00, 0x01]

    private var mask: UInt128

    /// Creates the area that holds `services`.
    package init(_ services: [BluetoothUUID]) { mask = services.reduce(0) { $0 | Self.bit(of: $1) } }

    /// Finds the area in what somebody advertises; `nil` if there is none.
    package init?(in data: AdvertisingData) {
        let octets = data.data(of: .manufacturerData).first {
            $0.count == Self.header.count + 16 && $0.starts(with: Self.header)
        }
        guard let octets else { return nil }
        mask = octets.dropFirst(Self.header.count).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// Whether the area may hold `service`.
    package func contains(_ service: BluetoothUUID) -> Bool { mask & Self.bit(of: service) != 0 }

    /// What goes into the advertisement as manufacturer data.
    package var manufacturerData: [UInt8] { Self.header + mask.littleEndianOctets }

    private static func bit(of service: BluetoothUUID) -> UInt128 {
        let index = service.expanded.littleEndianOctets.reduce(0) { $0 ^ $1 } & 0x7F
        return 1 << UInt128(index)
    }
}
