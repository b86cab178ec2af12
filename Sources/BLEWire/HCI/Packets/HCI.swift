/// The Host Controller Interface (HCI): commands from the host, events from the controller, and data in both
/// directions.
///
/// Core 6.0, Vol 4, Part E.
@usableFromInline package enum HCI {
    /// The packet indicator, which announces the type of the next packet on a serial line, on a socket or in a capture.
    ///
    /// Unknown values are kept. Core 6.0, Vol 4, Part A, 2.
    @usableFromInline package struct PacketType: WireField, Hashable {
        @usableFromInline package let wire: UInt8
        @inlinable package init(wire: UInt8) { self.wire = wire }

        package static let command = Self(wire: 1)
        @inlinable package static var acl: Self { Self(wire: 2) }
        package static let synchronous = Self(wire: 3)
        @inlinable package static var event: Self { Self(wire: 4) }
        package static let iso = Self(wire: 5)

        /// The length of the header that follows the packet indicator, in octets; `nil` for an unknown type.
        package var headerSize: Int? {
            switch self {
            case .command, .synchronous: 3
            case .acl, .iso: 4
            case .event: 2
            default: nil
            }
        }

        /// Returns the length of the payload as stated in a header, in octets; `nil` for an unknown type or a truncated
        /// header.
        ///
        /// The header consists of the ``headerSize`` octets after the packet indicator.
        package func payloadSize(header: Span<UInt8>) -> Int? {
            guard let headerSize, header.count >= headerSize else { return nil }
            switch self {
            case .command, .synchronous: return Int(header[2])
            case .event: return Int(header[1])
            case .acl: return Int(header[2]) | Int(header[3]) << 8
            default: return (Int(header[2]) | Int(header[3]) << 8) & 0x3FFF
            }
        }
    }
}

extension HCI.PacketType: CustomStringConvertible {
    @usableFromInline package var description: String {
        switch self {
        case .command: "HCI Command"
        case .acl: "ACL Data"
        case .synchronous: "Synchronous Data"
        case .event: "HCI Event"
        case .iso: "ISO Data"
        default: "packet type 0x\(String(wire, radix: 16))"
        }
    }
}
