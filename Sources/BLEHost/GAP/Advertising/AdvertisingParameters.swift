package import BLEWire

/// Which of its addresses this host shows.
package enum OwnAddressKind: Equatable, Sendable {
    /// The public address of the controller, which not every controller has.
    case `public`
    /// The random static address of this host; where only one random address can be in use, the private one instead, if
    /// this host has such.
    case random
    /// A private address that paired peers resolve; only where this host is private.
    case resolvable
}

/// How an advertising set advertises.
///
/// Core 6.0, Vol 4, Part E, 7.8.53.
package struct AdvertisingParameters: Equatable, Sendable {
    /// Whether to use the packets from before extended advertising, which every device hears.
    package var isLegacy = true
    /// Whether centrals may connect.
    package var isConnectable = true
    /// Whether there is a scan response, which legacy packets that centrals connect to always allow.
    package var isScannable = true
    /// The only central that may connect, if it is for one alone.
    package var target: DeviceAddress?
    /// The address to show; what this host shows otherwise if `nil`.
    package var ownAddress: OwnAddressKind?
    /// How often to advertise, 20 ms to 10.24 s.
    package var interval = Duration.milliseconds(100)
    /// How strong to send, in dBm; the controller's choice if `nil`.
    package var transmitPower: Int8?
    package var primaryPHY = PHY.le1M
    package var secondaryPHY = PHY.le1M

    package init() {}

    /// For apps in the background alone: a third as often.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .microseconds(318_750)
        return parameters
    }()

    /// Whether the packet of the advertisement has room for data.
    var hasData: Bool { isLegacy ? target == nil : isConnectable || !isScannable }

    /// Whether whoever scans may ask for more.
    var hasScanResponse: Bool { target == nil && isScannable }

    /// The most octets of data in the advertisement.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.4: to connect, centrals answer the first packet, so there is no other one.
    var longestData: Int {
        guard hasData else { return 0 }
        guard !isLegacy else { return AdvertisingData.maximumLegacyLength }
        return isConnectable ? 245 : AdvertisingData.maximumExtendedLength
    }

    /// The most octets of data in the scan response; in an extended one, as many as a command holds.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.55.
    var longestScanResponse: Int {
        guard hasScanResponse else { return 0 }
        return isLegacy ? AdvertisingData.maximumLegacyLength : 251
    }

    /// Whether there is such an advertisement.
    var isPossible: Bool {
        if isLegacy { return target == nil || isConnectable }
        return !(isConnectable && isScannable) && (target == nil || !isScannable) && primaryPHY != .le2M
    }

    /// The packet of the older commands.
    var type: HCI.AdvertisingType {
        if target != nil { return .directedLowDutyCycle }
        return isConnectable ? .connectable : isScannable ? .scannable : .nonConnectable
    }

    /// The properties of the extended commands.
    var properties: HCI.AdvertisingProperties {
        var properties: HCI.AdvertisingProperties = isLegacy ? [.legacy] : []
        if isConnectable { properties.insert(.connectable) }
        if target != nil {
            properties.insert(.directed)
        } else if isScannable {
            properties.insert(.scannable)
        }
        return properties
    }
}

extension AdvertisingParameters {
    /// How a client's advertisement is to be sent that says more than apps can.
    init(_ broadcast: BroadcastRequest) {
        isLegacy = !broadcast.isExtended
        isConnectable = broadcast.isConnectable
        let hasResponse = broadcast.octets.map { !$0.scanResponse.isEmpty }
        isScannable =
            broadcast.isExtended ? hasResponse == true && !isConnectable : isConnectable || hasResponse != false
        interval = broadcast.interval
        transmitPower = broadcast.transmitPower
        primaryPHY = broadcast.primaryPHY
        secondaryPHY = broadcast.secondaryPHY
    }
}
