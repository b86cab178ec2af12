import BLEWire

/// The target and the parameters of a connection that a controller is creating.
///
/// Core 6.0, Vol 6, Part B, 4.4.4.
struct Initiator: Sendable {
    /// The devices to connect to.
    enum Target: Equatable, Sendable {
        case address(DeviceAddress)
        case acceptList

        /// The address of the target, if there is only one.
        var address: DeviceAddress? { if case .address(let address) = self { address } else { nil } }
    }

    /// The connection parameters on one PHY.
    struct Terms: Equatable, Sendable {
        /// The HCI number of the PHY.
        let phy: UInt8
        let timing: Link.Timing
    }

    let target: Target
    let ownAddressKind: UInt8
    var windows: [ScanWindow]
    let terms: [Terms]
    /// True if extended commands started this, so that extended advertisers are included.
    let isExtended: Bool

    /// Returns the timing of a connection on `phy`; that of the first PHY if there is none for it.
    func timing(on phy: AirPHY) -> Link.Timing? {
        (terms.first { $0.phy == phy.number } ?? terms.first)?.timing
    }

    @inline(__always)
    func hears(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        windows.contains { $0.hears(channel, phy, at: instant) }
    }
}
