/// The maximum time without an authenticated packet on a link.
///
/// The unit on the wire is 10 ms; the range is 10 ms to 655.35 s. Core 6.0, Vol 4, Part E, 7.3.94.
package struct AuthenticatedPayloadTimeout: WireField, Hashable {
    package let wire: UInt16

    /// Creates a timeout of `wire` × 10 ms; returns `nil` for 0.
    package init?(wire: UInt16) {
        guard wire > 0 else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// 30 s, the default in the specification.
    package static let standard = Self(valid: 0x0BB8)
    package var duration: Duration { .milliseconds(Int(wire) * 10) }
}

extension AuthenticatedPayloadTimeout: CustomStringConvertible {
    package var description: String { (Int(wire) * 10_000).microsecondsText }
}

/// The lifetime of a resolvable private address in the controller.
///
/// The unit on the wire is 1 s; the range is 1 s to 1 h. Core 6.0, Vol 4, Part E, 7.8.45.
package struct PrivateAddressTimeout: WireField, Hashable {
    package let wire: UInt16

    /// Creates a timeout of `wire` seconds; returns `nil` if that is out of range.
    package init?(wire: UInt16) {
        guard 0x0001...0x0E10 ~= wire else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// 15 min, the default in the specification.
    package static let standard = Self(valid: 0x0384)
    package var duration: Duration { .seconds(Int(wire)) }
}

extension PrivateAddressTimeout: CustomStringConvertible {
    package var description: String { "\(wire) s" }
}

/// The length of time that a host expects to need in each connection event.
///
/// The controller may ignore this length.
///
/// The unit on the wire is 0.625 ms. Core 6.0, Vol 4, Part E, 7.8.12.
package struct ConnectionEventLength: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// The value for a host that has no expectation.
    package static let any = Self(wire: 0)
    package var duration: Duration { .microseconds(Int(wire) * 625) }
    package var description: String { (Int(wire) * 625).microsecondsText }
}

/// The time after which a controller stops scanning or advertising.
///
/// The unit on the wire is 10 ms; 0 stands for no limit. Core 6.0, Vol 4, Part E, 7.8.56 and 7.8.65.
package struct EnableDuration: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// No limit: the controller scans or advertises until the host stops it.
    package static let unlimited = Self(wire: 0)
    /// The duration; `nil` if there is no limit.
    package var duration: Duration? { wire == 0 ? nil : .milliseconds(Int(wire) * 10) }
    package var description: String { wire == 0 ? "unlimited" : (Int(wire) * 10_000).microsecondsText }
}

/// The time from the start of a scan of limited duration to the start of its next repetition.
///
/// The unit on the wire is 1.28 s; 0 stands for a single scan. Core 6.0, Vol 4, Part E, 7.8.65.
package struct ScanPeriod: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// The value for a single scan, which is not repeated.
    package static let none = Self(wire: 0)
    /// The time from the start of one repetition to the start of the next; `nil` for a single scan.
    package var duration: Duration? { wire == 0 ? nil : .milliseconds(Int(wire) * 1280) }
    package var description: String { wire == 0 ? "none" : (Int(wire) * 1_280_000).microsecondsText }
}

extension Int {
    /// This number of microseconds as text, such as "7.5 ms" or "1.28 s".
    var microsecondsText: String {
        if self >= 1_000_000, isMultiple(of: 10_000) { return Self.decimal(self / 10_000, digits: 2) + " s" }
        return Self.decimal(self, digits: 3) + " ms"
    }

    /// Returns `value` ÷ 10^`digits` as a decimal number without trailing zeros.
    private static func decimal(_ value: Int, digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let fraction = String(value % scale)
        var padded = String(repeating: "0", count: digits - fraction.utf8.count) + fraction
        while padded.hasSuffix("0") { padded.removeLast() }
        return padded.isEmpty ? "\(value / scale)" : "\(value / scale).\(padded)"
    }
}
