import BLEWire

/// What one advertising set says, how, and for how long.
///
/// Legacy commands work on a set too, the only one there is then.
///
/// Core 6.0, Vol 6, Part B, 4.4.2.
struct AdvertisingSet: Sendable {
    /// What an advertisement allows and how it is sent, with the bits of HCI.
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

    /// Whether and until when a set is on the air.
    enum State: Equatable, Sendable {
        case off
        /// `until` is when the host wants it over; `eventLimit` after how many events, 0 for no limit.
        case on(until: Instant?, eventLimit: Int)
    }

    let handle: UInt8
    var properties: Properties = [.connectable, .scannable, .legacy]
    /// Nanoseconds between two events, before the random delay.
    private(set) var interval: Int64 = 1_280_000_000
    /// A bit for each of the three primary channels.
    var channels: UInt8 = 7
    var ownAddressKind: UInt8 = 0
    var peer = DeviceAddress.none
    /// Who may answer: bit 0 keeps scan requests, bit 1 connections to the accept list.
    var filterPolicy: UInt8 = 0
    /// In dBm.
    var power = 0
    var primary = AirPHY.oneMegabit
    var secondary = AirPHY.oneMegabit
    /// 0 to 15; names the set among those of the advertiser.
    var identifier: UInt8 = 0
    var notifiesScanRequests = false
    var randomAddress: DeviceAddress?
    private(set) var data: [UInt8] = []
    private(set) var scanResponse: [UInt8] = []
    /// Changes with the data, so that scanners can tell.
    private(set) var dataIdentifier: UInt16 = 0
    private(set) var state = State.off
    /// How many events there have been since the set was enabled.
    private(set) var events = 0
    /// What of its data or scan response the host has given so far, while it gives it in pieces.
    private(set) var assembly: (isScanResponse: Bool, octets: [UInt8])?
    /// The schedule's latest entry for this set.
    var token: UInt64 = 0

    init(handle: UInt8) { self.handle = handle }

    var isEnabled: Bool { state != .off }

    /// Whether the host wants it over after some number of events.
    var hasEventLimit: Bool { if case .on(_, let eventLimit) = state { eventLimit > 0 } else { false } }

    /// The most octets of data that this kind of advertisement carries.
    var dataLimit: Int { properties.contains(.legacy) ? 31 : VirtualController.maximumAdvertisingData }

    /// Whether `data` may be sent with this kind of advertisement: whoever may connect has to do so after the first
    /// auxiliary packet, so there is no chain.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54 and 7.8.56.
    func fits(_ data: [UInt8]) -> Bool {
        guard properties.contains(.connectable), !properties.contains(.legacy) else { return true }
        let target = properties.contains(.directed) ? 6 : 0, power = properties.contains(.includesPower) ? 1 : 0
        return data.count <= 245 - target - power
    }

    /// Takes the interval that the host wants, which does not matter to a high duty cycle.
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

    /// Replaces the data or the scan response.
    mutating func replace(_ octets: [UInt8], isScanResponse: Bool) {
        assembly = nil
        if isScanResponse { scanResponse = octets } else { data = octets }
        changeIdentifier()
    }

    /// Keeps a piece of data that the host gives bit by bit.
    mutating func assemble(_ octets: [UInt8], isScanResponse: Bool) {
        assembly = (isScanResponse, octets)
    }

    /// Says that the data is new although it is the same.
    mutating func changeIdentifier() { dataIdentifier = (dataIdentifier &+ 1) & 0x0FFF }
}
