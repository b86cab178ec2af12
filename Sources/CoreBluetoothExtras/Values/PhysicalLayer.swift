import BLEWire

/// A physical layer: a way of modulating and coding the radio signal.
///
/// Core 6.0, Vol 6, Part A, 1.
public enum PhysicalLayer: String, Hashable, Sendable, CaseIterable {
    /// 1 Mb/s, mandatory for every device.
    case le1M
    /// 2 Mb/s: half the transmission time, slightly less range.
    case le2M
    /// 125 or 500 kb/s: up to four times the range.
    case leCoded

    init?(_ phy: PHY) {
        switch phy {
        case .le1M: self = .le1M
        case .le2M: self = .le2M
        case .leCoded: self = .leCoded
        default: return nil
        }
    }

    var phy: PHY {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .leCoded: .leCoded
        }
    }
}

extension PHYSet {
    init(_ layers: Set<PhysicalLayer>) {
        self.init()
        if layers.contains(.le1M) { insert(.le1M) }
        if layers.contains(.le2M) { insert(.le2M) }
        if layers.contains(.leCoded) { insert(.leCoded) }
    }
}
