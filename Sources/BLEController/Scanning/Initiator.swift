import BLEWire

/// Whom a controller wants to connect to, and on what terms.
///
/// Core 6.0, Vol 6, Part B, 4.4.4.
struct Initiator: Sendable {
    /// Who is wanted.
    enum Target: Equatable, Sendable {
        case address(DeviceAddress)
        case acceptList

        /// The address that is wanted, if it is just one.
        var address: DeviceAddress? { if case .address(let address) = self { address } else { nil } }
    }

    /// The terms on one PHY.
    struct Terms: Equatable, Sendable {
        /// The PHY as HCI numbers it.
        let phy: UInt8
        let timing: Link.Timing
    }

    let target: Target
    let ownAddressKind: UInt8
    var windows: [ScanWindow]
    let terms: [Terms]
    /// Whether extended commands began this, so that extended advertisers are wanted too.
    let isExtended: Bool

    /// The terms of a connection on `phy`; those of the first PHY if there are none for it.
    func timing(on phy: AirPHY) -> Link.Timing? {
        (terms.first { $0.phy == phy.number } ?? terms.first)?.timing
    }

    @inline(__always)
    func hears(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        windows.contains { $0.hears(channel, phy, at: instant) }
    }
}
