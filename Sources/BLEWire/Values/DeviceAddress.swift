/// A device address: 48 bits, and the kind of address that these bits form.
///
/// Core 6.0, Vol 6, Part B, 1.3.
@usableFromInline package struct DeviceAddress: Hashable, Comparable, Sendable {
    /// The kind of a device address.
    @usableFromInline package struct Kind: WireField, Hashable, CustomStringConvertible {
        @usableFromInline package let wire: UInt8
        @inlinable package init(wire: UInt8) { self.wire = wire }

        package static let `public` = Self(wire: 0)
        package static let random = Self(wire: 1)
        /// A public identity address, resolved by the controller from a private address.
        package static let publicIdentity = Self(wire: 2)
        /// A random static identity address, resolved by the controller from a private address.
        package static let randomIdentity = Self(wire: 3)
        /// A private address that the controller could not resolve; it is the target of a directed advertisement.
        package static let unresolved = Self(wire: 0xFE)
        /// The kind for an anonymous advertisement, which has no address.
        package static let anonymous = Self(wire: 0xFF)

        @usableFromInline package var description: String {
            switch self {
            case .public: "public"
            case .random: "random"
            case .publicIdentity: "public identity"
            case .randomIdentity: "random identity"
            case .unresolved: "unresolved"
            case .anonymous: "anonymous"
            default: "address type 0x\(String(wire, radix: 16))"
            }
        }
    }

    /// The kind of a random address, determined by the two highest bits of the address.
    package enum RandomKind: Sendable { case nonResolvable, resolvable, reserved, `static` }

    /// The 48 bits of the address; the first octet over the air is the least significant.
    @usableFromInline package let value: UInt64
    @usableFromInline package let kind: Kind

    @inlinable
    package init(_ value: UInt64, _ kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// A placeholder for no address.
    package static let none = Self(0, .public)

    /// The kind of this random address; meaningless for a public address.
    package var randomKind: RandomKind {
        switch value >> 46 {
        case 0: .nonResolvable
        case 1: .resolvable
        case 2: .reserved
        default: .static
        }
    }

    /// True for a resolvable private address.
    ///
    /// Core 6.0, Vol 6, Part B, 1.3.2.2.
    package var isResolvable: Bool { kind == .random && randomKind == .resolvable }

    /// True for an over-the-air address that can be an identity address: a public or a random static one.
    ///
    /// Core 6.0, Vol 6, Part B, 1.3.
    package var isIdentity: Bool { kind == .public || kind == .random && randomKind == .static }

    /// This address with the kind that it has over the air: public or random.
    ///
    /// The result does not show whether the controller resolved the address. It is meaningless for the kinds
    /// ``Kind/unresolved`` and ``Kind/anonymous``.
    package var onAir: Self { Self(value, Kind(wire: kind.wire & 1)) }

    @usableFromInline package static func < (a: Self, b: Self) -> Bool {
        (a.value, a.kind.wire) < (b.value, b.kind.wire)
    }
}

extension DeviceAddress: CustomStringConvertible {
    /// The six octets in hexadecimal, most significant first, separated by colons.
    @usableFromInline package var description: String {
        (0..<6).reversed().map { index in
            let octet = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
            return [octet].hexadecimal.uppercased()
        }.joined(separator: ":")
    }

    /// Parses six pairs of hex digits that are separated by colons; returns `nil` for anything else.
    package init?(_ text: some StringProtocol, _ kind: Kind) {
        let octets = text.split(separator: ":", omittingEmptySubsequences: false)
        guard octets.count == 6, octets.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        var value: UInt64 = 0
        for octet in octets {
            guard let octet = UInt8(octet, radix: 16) else { return nil }
            value = value << 8 | UInt64(octet)
        }
        self.init(value, kind)
    }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits the 48 bits of an address whose kind is known.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func address(_ value: inout DeviceAddress, _ name: StaticString) throws(PacketError) {
        var bits = value.value
        try narrow(&bits, octets: 6, name)
        value = DeviceAddress(bits, value.kind)
    }

    /// Visits the kind of an address and then its 48 bits.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func typedAddress(
        _ value: inout DeviceAddress,
        kind kindName: StaticString,
        _ name: StaticString
    ) throws(PacketError) {
        var kind = value.kind
        try field(&kind, kindName)
        value = DeviceAddress(value.value, kind)
        try address(&value, name)
    }
}
