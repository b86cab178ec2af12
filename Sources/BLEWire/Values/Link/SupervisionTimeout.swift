/// The time without received packets after which a connection is lost.
///
/// | property | value |
/// | --- | --- |
/// | unit on the wire | 10 ms |
/// | range | 100 ms to 32 s, 0x000A to 0x0C80 |
/// | source | Core 6.0, Vol 6, Part B, 4.5.2; Vol 4, Part E, 7.8.12 |
///
/// The timeout must be longer than (1 + latency) × connection interval × 2.
package struct SupervisionTimeout: WireField, Hashable, Comparable {
    package let wire: UInt16

    /// Creates a timeout of `wire` × 10 ms; returns `nil` if that is out of range.
    package init?(wire: UInt16) {
        guard 0x000A...0x0C80 ~= wire else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// Creates the longest timeout that is not longer than `duration`, limited to the valid range.
    package init(_ duration: Duration) { wire = UInt16(duration.units(of: .milliseconds(10), in: 0x000A...0x0C80)) }

    /// 100 ms.
    package static let shortest = Self(valid: 0x000A)

    package var duration: Duration { .milliseconds(Int(wire) * 10) }
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension SupervisionTimeout: CustomStringConvertible {
    package var description: String { (Int(wire) * 10_000).microsecondsText }
}
