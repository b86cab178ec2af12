/// How long a link may go without an authenticated packet.
///
/// Unit on the wire 10 ms, 10 ms to 655.35 s. Core 6.0, Vol 4, Part E, 7.3.94.
package struct AuthenticatedPayloadTimeout: WireField, Hashable {
    package let wire: UInt16

    /// Creates a timeout of `wire` × 10 ms, or `nil` for none at all.
    package init?(wire: UInt16) {
        guard wire > 0 else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// 30 s, which the specification gives as the default.
    package static let standard = Self(valid: 0x0BB8)
    package var duration: Duration { .milliseconds(Int(wire) * 10) }
}

extension AuthenticatedPayloadTimeout: CustomStringConvertible {
    package var description: String { (Int(wire) * 10_000).microsecondsText }
}

/// How long the controller uses one resolvable private address before it makes another.
///
/// Unit on the wire 1 s, 1 s to 1 h. Core 6.0, Vol 4, Part E, 7.8.45.
package struct PrivateAddressTimeout: WireField, Hashable {
    package let wire: UInt16

    /// Creates a timeout of `wire` seconds, or `nil` if that is out of range.
    package init?(wire: UInt16) {
        guard 0x0001...0x0E10 ~= wire else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// 15 min, which the specification gives as the default.
    package static let standard = Self(valid: 0x0384)
    package var duration: Duration { .seconds(Int(wire)) }
}

extension PrivateAddressTimeout: CustomStringConvertible {
    package var description: String { "\(wire) s" }
}

/// How much time of each connection event a host expects to need; the controller may ignore it.
///
/// Unit on the wire 0.625 ms. Core 6.0, Vol 4, Part E, 7.8.12.
package struct ConnectionEventLength: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// No time in particular.
    package static let any = Self(wire: 0)
    package var duration: Duration { .microseconds(Int(wire) * 625) }
    package var description: String { (Int(wire) * 625).microsecondsText }
}

/// How long a controller scans or advertises before it stops by itself.
///
/// Unit on the wire 10 ms; 0 goes on until the host stops it. Core 6.0, Vol 4, Part E, 7.8.56 and 7.8.65.
package struct EnableDuration: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// Until the host says otherwise.
    package static let unlimited = Self(wire: 0)
    /// How long that is, or `nil` if there is no limit.
    package var duration: Duration? { wire == 0 ? nil : .milliseconds(Int(wire) * 10) }
    package var description: String { wire == 0 ? "unlimited" : (Int(wire) * 10_000).microsecondsText }
}

/// How often a scan of limited duration starts again.
///
/// Unit on the wire 1.28 s; 0 never starts it again. Core 6.0, Vol 4, Part E, 7.8.65.
package struct ScanPeriod: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// One scan, and no other.
    package static let none = Self(wire: 0)
    /// The time from start to start, or `nil` if the scan does not repeat.
    package var duration: Duration? { wire == 0 ? nil : .milliseconds(Int(wire) * 1280) }
    package var description: String { wire == 0 ? "none" : (Int(wire) * 1_280_000).microsecondsText }
}
