/// The handle of an extended advertising set, 0x00 to 0xEF, chosen by the host.
///
/// Core 6.0, Vol 4, Part E, 7.8.53.
package struct AdvertisingHandle: WireField, Hashable, Comparable {
    @usableFromInline package let wire: UInt8

    /// Creates a handle; returns `nil` for 0xF0 and above, which are reserved.
    package init?(wire: UInt8) {
        guard wire <= 0xEF else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt8) { self.wire = wire }

    /// The handle of the only set, for a host that uses a single set.
    package static let first = Self(valid: 0)
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

/// The advertising set identifier in extended advertising packets: 0x00 to 0x0F, or none.
///
/// Core 6.0, Vol 4, Part E, 7.8.53 and 7.7.65.13.
@usableFromInline package struct AdvertisingSID: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// The value for a packet without a set identifier.
    ///
    /// Legacy packets never have a set identifier.
    @inlinable package static var none: Self { Self(wire: 0xFF) }
    @usableFromInline package var description: String { self == .none ? "none" : "\(wire)" }
}
