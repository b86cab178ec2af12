import BLEWire

/// The target and the parameters with which a controller is creating a connection.
///
/// Core 6.0, Vol 6, Part B, 4.4.4.
struct Initiator: Sendable {
    /// The devices to which the initiator may connect.
    enum Target: Equatable, Sendable {
        case address(DeviceAddress)
        case acceptList

        /// The address of the target; `nil` if the initiator uses the filter accept list.
        var address: DeviceAddress? { if case .address(let address) = self { address } else { nil } }
    }

    /// The connection parameters that apply on one PHY.
    struct Terms: Equatable, Sendable {
        /// The HCI number of the PHY.
        let phy: UInt8
        let timing: Link.Timing
    }

    let target: Target
    let ownAddressKind: UInt8
    var windows: [ScanWindow]
    let terms: [Terms]
    /// True if an extended command started the initiator, which then also connects to extended advertisers.
    let isExtended: Bool

    /// Returns the timing for a connection on `phy`, or the timing for the first PHY if the host has given none for
    /// `phy`.
    func timing(on phy: AirPHY) -> Link.Timing? {
        (terms.first { $0.phy == phy.number } ?? terms.first)?.timing
    }

    @inline(__always)
    func receives(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        windows.contains { $0.receives(channel, phy, at: instant) }
    }
}
