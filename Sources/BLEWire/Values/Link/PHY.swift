/// A physical layer of LE.
///
/// Unknown values are kept. The value 0 stands for no PHY, in reports and in events about a failure.
///
/// Core 6.0, Vol 4, Part E, 7.8.47 and 7.7.65.13.
@usableFromInline package struct PHY: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// The value in an event that has no PHY to report.
    @inlinable package static var none: Self { Self(wire: 0) }
    /// 1 Mb/s, which every device supports.
    @inlinable package static var le1M: Self { Self(wire: 1) }
    /// 2 Mb/s.
    package static let le2M = Self(wire: 2)
    /// 1 Mb/s with coding, for long range.
    package static let leCoded = Self(wire: 3)

    @usableFromInline package var description: String {
        switch self {
        case .none: "none"
        case .le1M: "LE 1M"
        case .le2M: "LE 2M"
        case .leCoded: "LE Coded"
        default: "PHY 0x\(String(wire, radix: 16))"
        }
    }
}

/// A set of physical layers; reserved bits are kept.
///
/// Core 6.0, Vol 4, Part E, 7.8.48 and 7.8.49.
package struct PHYSet: OptionSet, WireField, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package init(wire: UInt8) { rawValue = wire }
    package var wire: UInt8 { rawValue }

    package static let le1M = Self(rawValue: 1 << 0)
    package static let le2M = Self(rawValue: 1 << 1)
    package static let leCoded = Self(rawValue: 1 << 2)

    /// Returns whether the set contains `phy`.
    package func contains(_ phy: PHY) -> Bool {
        switch phy {
        case .le1M: contains(.le1M)
        case .le2M: contains(.le2M)
        case .leCoded: contains(.leCoded)
        default: false
        }
    }
}

extension PHYSet: CustomStringConvertible {
    package var description: String { names(of: ["LE 1M", "LE 2M", "LE Coded"]) }
}
