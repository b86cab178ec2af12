/// Names one extended advertising set of a controller, 0x00 to 0xEF; the host chooses it.
///
/// Core 6.0, Vol 4, Part E, 7.8.53.
package struct AdvertisingHandle: WireField, Hashable, Comparable {
    @usableFromInline package let wire: UInt8

    /// Creates a handle, or `nil` for 0xF0 and above, which are reserved.
    package init?(wire: UInt8) {
        guard wire <= 0xEF else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt8) { self.wire = wire }

    /// The set that a host with only one set uses.
    package static let first = Self(valid: 0)
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

/// What an advertiser calls the data of one of its sets: 0x00 to 0x0F, or none.
///
/// Core 6.0, Vol 4, Part E, 7.8.53 and 7.7.65.13.
@usableFromInline package struct AdvertisingSID: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// The report is of a packet without such an identifier, as all legacy ones are.
    @inlinable package static var none: Self { Self(wire: 0xFF) }
    @usableFromInline package var description: String { self == .none ? "none" : "\(wire)" }
}
