/// The identifier of an L2CAP channel at one end of a link (CID).
///
/// Core 6.0, Vol 3, Part A, 2.1, table 2.2.
@usableFromInline package struct ChannelIdentifier: WireField, Hashable, Comparable {
    @usableFromInline package let wire: UInt16
    @inlinable package init(wire: UInt16) { self.wire = wire }

    /// The identifier 0x0000, which no channel has.
    package static let none = Self(wire: 0x0000)
    @inlinable package static var attribute: Self { Self(wire: 0x0004) }
    package static let leSignaling = Self(wire: 0x0005)
    @inlinable package static var securityManager: Self { Self(wire: 0x0006) }

    /// The identifiers that credit-based channels on an LE link can have.
    package static let dynamic = Self(wire: 0x0040)...Self(wire: 0x007F)

    /// True if a credit-based channel on an LE link can have this identifier.
    package var isDynamic: Bool { Self.dynamic.contains(self) }

    @inlinable @inline(__always)
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }

    // Written here because other modules could not inline the comparison that the compiler generates.
    @inlinable @inline(__always)
    package static func == (a: Self, b: Self) -> Bool { a.wire == b.wire }
}

extension ChannelIdentifier: CustomStringConvertible {
    @usableFromInline package var description: String {
        switch self {
        case .attribute: "Attribute Protocol"
        case .leSignaling: "LE Signaling"
        case .securityManager: "Security Manager"
        default: "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
        }
    }
}

/// A simplified protocol/service multiplexer (SPSM), which identifies the service that a credit-based channel connects
/// to.
///
/// | values | assigned by |
/// | --- | --- |
/// | 0x0001 to 0x007F | Assigned Numbers |
/// | 0x0080 to 0x00FF | the server, which publishes the value through GATT |
///
/// Core 6.0, Vol 3, Part A, 4.22.
package struct SPSM: WireField, Hashable, Comparable {
    @usableFromInline package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// The value 0x0000, which no service has.
    package static let none = Self(wire: 0x0000)
    /// The value for Enhanced ATT bearers.
    package static let enhancedATT = Self(wire: 0x0027)

    /// The values that a server may assign to its own channels.
    package static let dynamic = Self(wire: 0x0080)...Self(wire: 0x00FF)

    /// True for values that the specification allows.
    package var isValid: Bool { 0x0001...0x00FF ~= wire }

    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension SPSM: CustomStringConvertible {
    package var description: String { "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased() }
}

/// The header of an L2CAP packet; ``length`` octets of payload follow it.
///
/// Core 6.0, Vol 3, Part A, 3.1.
@usableFromInline package struct L2CAPHeader: Packet {
    /// The length of the header, in octets.
    @inlinable package static var size: Int { 4 }

    /// The length of the payload, in octets.
    package var length: UInt16
    package var channel: ChannelIdentifier

    package init() { self.init(length: 0, channel: .none) }
    package init(length: UInt16, channel: ChannelIdentifier) {
        self.length = length
        self.channel = channel
    }

    @inline(__always)
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&length, "PDU Length")
        try wire.field(&channel, "Channel ID")
    }
}

extension L2CAPHeader {
    /// Decodes a header from the front of `decoder`.
    package init(from decoder: inout PacketDecoder) throws(PacketError) {
        self.init()
        try layout(&decoder)
    }

    /// Appends this header to `encoder`.
    package func encode(into encoder: inout PacketEncoder) { encoder.append(self) }

    /// The fields of this header.
    package var dissection: DissectedLayer { DissectedLayer(name: "L2CAP", fields: dissected) }
}
