package import BLEWire

/// The own address to use.
package enum OwnAddressKind: Equatable, Sendable {
    /// The public address of the controller, if it has one.
    case `public`
    /// The random static address of this host, or its private one where the controller has only one random address and
    /// the host is private.
    case random
    /// A resolvable private address; only on a private host.
    case resolvable
}

/// The parameters of an advertising set.
///
/// Core 6.0, Vol 4, Part E, 7.8.53.
package struct AdvertisingParameters: Equatable, Sendable {
    /// True if to use legacy packets, which all devices receive.
    package var isLegacy = true
    /// True if centrals can connect.
    package var isConnectable = true
    /// True if there is a scan response.
    ///
    /// Connectable legacy advertisements always have one.
    package var isScannable = true
    /// The only central that can connect, for directed advertising.
    package var target: DeviceAddress?
    /// The own address to use; `nil` for the host's usual one.
    package var ownAddress: OwnAddressKind?
    /// The advertising interval, 20 ms to 10.24 s.
    package var interval = Duration.milliseconds(100)
    /// The transmit power, in dBm; `nil` for the controller's choice.
    package var transmitPower: Int8?
    package var primaryPHY = PHY.le1M
    package var secondaryPHY = PHY.le1M

    package init() {}

    /// The parameters for background apps: a third as often.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .microseconds(318_750)
        return parameters
    }()

    /// True if the advertisement has data.
    var hasData: Bool { isLegacy ? target == nil : isConnectable || !isScannable }

    /// True if scanners can request a scan response.
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

    /// True if the combination exists.
    var isPossible: Bool {
        if isLegacy { return target == nil || isConnectable }
        return !(isConnectable && isScannable) && (target == nil || !isScannable) && primaryPHY != .le2M
    }

    /// The packet type for legacy commands.
    var type: HCI.AdvertisingType {
        if target != nil { return .directedLowDutyCycle }
        return isConnectable ? .connectable : isScannable ? .scannable : .nonConnectable
    }

    /// The properties for extended commands.
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
    /// Creates the parameters for an advertisement with options beyond Core Bluetooth.
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
