import BLEWire

/// The data, parameters and state of one advertising set.
///
/// A host that uses legacy commands has exactly one set.
///
/// Core 6.0, Vol 6, Part B, 4.4.2.
struct AdvertisingSet: Sendable {
    /// The advertising event properties, with the bits that HCI assigns.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.53.
    struct Properties: OptionSet, Hashable, Sendable {
        let rawValue: UInt16
        init(rawValue: UInt16) { self.rawValue = rawValue }

        static let connectable = Self(rawValue: 1)
        static let scannable = Self(rawValue: 2)
        static let directed = Self(rawValue: 4)
        static let highDutyCycle = Self(rawValue: 8)
        static let legacy = Self(rawValue: 16)
        static let anonymous = Self(rawValue: 32)
        static let includesPower = Self(rawValue: 64)
    }

    /// The state of a set: off, or advertising with or without a limit.
    enum State: Equatable, Sendable {
        case off
        /// The set is advertising.
        ///
        /// It stops at `until` (`nil` for no end), or after `eventLimit` advertising events (0 for no limit).
        case on(until: Instant?, eventLimit: Int)
    }

    let handle: UInt8
    var properties: Properties = [.connectable, .scannable, .legacy]
    /// The time between two advertising events in nanoseconds, not counting the random delay.
    private(set) var interval: Int64 = 1_280_000_000
    /// The primary channels in use: bit 0 for channel 37, bit 1 for 38, bit 2 for 39.
    var channels: UInt8 = 7
    var ownAddressKind: UInt8 = 0
    var peer = DeviceAddress.none
    /// The filter policy: bit 0 restricts scan requests to devices on the filter accept list, bit 1 restricts
    /// connections.
    var filterPolicy: UInt8 = 0
    /// The transmit power, in dBm.
    var power = 0
    var primary = AirPHY.oneMegabit
    var secondary = AirPHY.oneMegabit
    /// The set identifier that the packets contain (the Advertising SID), 0 to 15.
    var identifier: UInt8 = 0
    var notifiesScanRequests = false
    var randomAddress: DeviceAddress?
    private(set) var data: [UInt8] = []
    private(set) var scanResponse: [UInt8] = []
    /// The data identifier that the packets contain, which changes with the data so that scanners notice new data.
    private(set) var dataIdentifier: UInt16 = 0
    private(set) var state = State.off
    /// The number of advertising events since the set was enabled.
    private(set) var events = 0
    /// The octets of the data or scan response that the host has sent so far; `nil` unless the host is sending
    /// fragments.
    private(set) var assembly: (isScanResponse: Bool, octets: [UInt8])?
    /// The token of the latest schedule entry for this set; ``pausedToken`` if none is scheduled.
    var token = Self.pausedToken
    /// The token of a set that is not scheduled; no schedule entry has this token.
    static let pausedToken: UInt64 = 0

    init(handle: UInt8) { self.handle = handle }

    var isEnabled: Bool { state != .off }

    /// True if the set is advertising with a limited number of events.
    var hasEventLimit: Bool { if case .on(_, let eventLimit) = state { eventLimit > 0 } else { false } }

    /// The maximum length of the data with the current ``properties``, in octets.
    var dataLimit: Int { properties.contains(.legacy) ? 31 : VirtualController.maximumAdvertisingData }

    /// Returns whether `data` is short enough to be sent with the current ``properties``.
    ///
    /// Only connectable extended advertisements are checked. They cannot continue in a chain of packets, because a
    /// central must connect after the first auxiliary packet.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54 and 7.8.56.
    func fits(_ data: [UInt8]) -> Bool {
        guard properties.contains(.connectable), !properties.contains(.legacy) else { return true }
        let target = properties.contains(.directed) ? 6 : 0, power = properties.contains(.includesPower) ? 1 : 0
        return data.count <= 245 - target - power
    }

    /// Sets the interval that the host requested: `units` × 625 µs.
    ///
    /// High duty cycle advertising uses its own fixed interval instead.
    ///
    /// Core 6.0, Vol 6, Part B, 4.4.2.4.2.
    mutating func setInterval(_ units: Int64) {
        interval = properties.contains(.highDutyCycle) ? 3_750_000 : units * Spacing.unit
    }

    mutating func enable(until: Instant?, eventLimit: Int) {
        state = .on(until: until, eventLimit: eventLimit)
        events = 0
    }

    mutating func disable() {
        state = .off
        token = 0
    }

    mutating func countEvent() { events += 1 }

    /// Replaces the scan response if `isScanResponse` is true, otherwise the data.
    mutating func replace(_ octets: [UInt8], isScanResponse: Bool) {
        assembly = nil
        if isScanResponse { scanResponse = octets } else { data = octets }
        changeIdentifier()
    }

    /// Stores the octets that the host has sent so far of the scan response if `isScanResponse` is true, otherwise of
    /// the data.
    mutating func assemble(_ octets: [UInt8], isScanResponse: Bool) {
        assembly = (isScanResponse, octets)
    }

    /// Changes the data identifier, so that scanners treat the data as new.
    mutating func changeIdentifier() { dataIdentifier = (dataIdentifier &+ 1) & 0x0FFF }
}
