import BLEWire

/// The target and the parameters of a connection that a controller is creating.
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
    /// True if an extended command started the initiator; it then also connects to extended advertisers.
    let isExtended: Bool

    /// Returns the timing for a connection on `phy`; if the host has given none, the timing for the first PHY.
    ///
    /// Returns `nil` if the host has given no timing at all.
    func timing(on phy: AirPHY) -> Link.Timing? {
        (terms.first { $0.phy == phy.number } ?? terms.first)?.timing
    }

    @inline(__always)
    func receives(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        windows.contains { $0.receives(channel, phy, at: instant) }
    }
}

/// The filter accept list of a controller.
///
/// It is stored in an array, because it is short.
///
/// Core 6.0, Vol 4, Part E, 7.8.14 to 7.8.17.
struct AcceptList: Sendable {
    static let capacity = 32
    private(set) var addresses: [DeviceAddress] = []

    /// Returns whether `address` is on the list.
    ///
    /// One entry of the list may stand for all anonymous devices.
    func contains(_ address: DeviceAddress) -> Bool { addresses.contains { Self.matches($0, address) } }

    /// Adds an address; returns false if the list is full.
    mutating func add(_ address: DeviceAddress) -> Bool {
        if contains(address) { return true }
        guard addresses.count < Self.capacity else { return false }
        addresses.append(address)
        return true
    }

    mutating func remove(_ address: DeviceAddress) { addresses.removeAll { Self.matches($0, address) } }
    mutating func removeAll() { addresses.removeAll() }

    private static func matches(_ a: DeviceAddress, _ b: DeviceAddress) -> Bool {
        a.kind == .anonymous ? b.kind == .anonymous : a == b
    }
}
