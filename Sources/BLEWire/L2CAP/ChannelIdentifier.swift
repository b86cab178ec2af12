/// Names one L2CAP channel at one end of a link.
///
/// Core 6.0, Vol 3, Part A, 2.1, table 2.2.
@usableFromInline package struct ChannelIdentifier: WireField, Hashable, Comparable {
    @usableFromInline package let wire: UInt16
    @inlinable package init(wire: UInt16) { self.wire = wire }

    /// 0x0000, which names no channel.
    package static let none = Self(wire: 0x0000)
    @inlinable package static var attribute: Self { Self(wire: 0x0004) }
    package static let leSignaling = Self(wire: 0x0005)
    @inlinable package static var securityManager: Self { Self(wire: 0x0006) }

    /// What an end of an LE link may give to its credit-based channels.
    package static let dynamic = Self(wire: 0x0040)...Self(wire: 0x007F)

    /// Whether this may name a credit-based channel of an LE link.
    package var isDynamic: Bool { Self.dynamic.contains(self) }

    @inlinable @inline(__always)
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }

    // Here and not made by the compiler, so that other modules need no call for it.
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

/// Names what a credit-based channel is for: a simplified protocol and service multiplexer.
///
/// | values | given out by |
/// | --- | --- |
/// | 0x0001 to 0x007F | Assigned Numbers |
/// | 0x0080 to 0x00FF | the server, which tells clients through GATT |
///
/// Core 6.0, Vol 3, Part A, 4.22.
package struct SPSM: WireField, Hashable, Comparable {
    @usableFromInline package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// 0x0000, which names nothing.
    package static let none = Self(wire: 0x0000)
    /// The enhanced attribute bearer.
    package static let enhancedATT = Self(wire: 0x0027)

    /// What a server may give to its own channels.
    package static let dynamic = Self(wire: 0x0080)...Self(wire: 0x00FF)

    /// Whether the specification allows this value at all.
    package var isValid: Bool { 0x0001...0x00FF ~= wire }

    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension SPSM: CustomStringConvertible {
    package var description: String { "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased() }
}
