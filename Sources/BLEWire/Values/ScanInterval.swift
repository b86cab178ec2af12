/// The interval or the window of a scanner.
///
/// The scanner listens for the length of the window at the start of each interval.
///
/// | property | value |
/// | --- | --- |
/// | unit on the wire | 0.625 ms |
/// | range | 2.5 ms to 40.96 s, 0x0004 to 0xFFFF; in legacy commands at most 10.24 s, 0x4000 |
/// | source | Core 6.0, Vol 4, Part E, 7.8.10, 7.8.12 and 7.8.64 |
///
/// If the window is as long as the interval, the scanner listens all the time.
package struct ScanInterval: WireField, Hashable, Comparable {
    package let wire: UInt16

    /// Creates an interval of `wire` × 0.625 ms; returns `nil` if that is out of range.
    package init?(wire: UInt16) {
        guard wire >= 0x0004 else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// Creates an interval of `duration`, rounded down to a multiple of 0.625 ms and clamped to the valid range.
    package init(_ duration: Duration) { wire = UInt16(duration.units(of: .microseconds(625), in: 0x0004...0xFFFF)) }

    /// 10 ms, the default in the specification.
    package static let standard = Self(valid: 0x0010)

    /// True if the legacy scan commands can represent this interval.
    package var fitsLegacyCommands: Bool { wire <= 0x4000 }

    package var duration: Duration { .microseconds(Int(wire) * 625) }
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension ScanInterval: CustomStringConvertible {
    package var description: String { (Int(wire) * 625).microsecondsText }
}

extension Duration {
    /// Returns the number of whole units in this duration, limited to `range`.
    func units(of unit: Duration, in range: ClosedRange<Int>) -> Int {
        let count = (self / unit).rounded(.down)
        return Int(min(max(count, Double(range.lowerBound)), Double(range.upperBound)))
    }
}
