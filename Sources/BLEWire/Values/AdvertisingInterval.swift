/// The interval of legacy advertising.
///
/// | property | value |
/// | --- | --- |
/// | unit on the wire | 0.625 ms |
/// | range | 20 ms to 10.24 s, 0x0020 to 0x4000 |
/// | source | Core 6.0, Vol 4, Part E, 7.8.5 |
package struct AdvertisingInterval: WireField, Hashable, Comparable {
    package let wire: UInt16

    /// Creates an interval of `wire` × 0.625 ms; returns `nil` if that is out of range.
    package init?(wire: UInt16) {
        guard 0x0020...0x4000 ~= wire else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// Creates an interval of `duration`, rounded down to a multiple of 0.625 ms and clamped to the valid range.
    package init(_ duration: Duration) { wire = UInt16(duration.units(of: .microseconds(625), in: 0x0020...0x4000)) }

    /// 1.28 s, the default in the specification.
    package static let standard = Self(valid: 0x0800)

    package var duration: Duration { .microseconds(Int(wire) * 625) }
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension AdvertisingInterval: CustomStringConvertible {
    package var description: String { (Int(wire) * 625).microsecondsText }
}

/// The interval of extended advertising on the primary channels.
///
/// | property | value |
/// | --- | --- |
/// | unit on the wire | 0.625 ms, three octets |
/// | range | 20 ms to 10,485.759375 s, 0x000020 to 0xFFFFFF |
/// | source | Core 6.0, Vol 4, Part E, 7.8.53 |
package struct ExtendedAdvertisingInterval: Hashable, Comparable, Sendable {
    package let wire: UInt32

    /// Creates an interval of `wire` × 0.625 ms; returns `nil` if that is out of range.
    package init?(wire: UInt32) {
        guard 0x20...0xFF_FFFF ~= wire else { return nil }
        self.wire = wire
    }

    /// Creates an interval that may be out of range, for commands in which the controller ignores the interval.
    fileprivate init(ignored wire: UInt32) { self.wire = wire }

    /// Creates an extended advertising interval from a legacy one.
    package init(_ interval: AdvertisingInterval) { wire = UInt32(interval.wire) }

    package var duration: Duration { .microseconds(Int(wire) * 625) }
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension ExtendedAdvertisingInterval: CustomStringConvertible {
    package var description: String { (Int(wire) * 625).microsecondsText }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits the three octets of an extended advertising interval, which may be out of range if `isIgnored` is true.
    @_lifetime(self: copy self)
    package mutating func interval(
        _ value: inout ExtendedAdvertisingInterval,
        isIgnored: Bool,
        _ name: StaticString
    ) throws(PacketError) {
        var raw = UInt64(value.wire)
        try narrow(&raw, octets: 3, name)
        let octets = UInt32(truncatingIfNeeded: raw)
        if isIgnored {
            value = ExtendedAdvertisingInterval(ignored: octets)
        } else {
            guard let decoded = ExtendedAdvertisingInterval(wire: octets) else { throw .reserved(field: name) }
            value = decoded
        }
    }
}
