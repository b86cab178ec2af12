package import BLEWire

/// The kind of address that this host uses in an activity.
package enum OwnAddressKind: Equatable, Sendable {
    /// The public address of the controller, if it has one.
    case `public`
    /// The static address of this host. Scanning, connecting and legacy advertising commands share one random address,
    /// so they use the private address instead if the host has one.
    case random
    /// A resolvable private address. Only a host that uses private addresses has one.
    case resolvable
}

/// The parameters of an advertising set.
///
/// Core 6.0, Vol 4, Part E, 7.8.53.
package struct AdvertisingParameters: Equatable, Sendable {
    /// True to use legacy packets, which all devices receive.
    package var isLegacy = true
    /// True if centrals can connect.
    package var isConnectable = true
    /// True if scanners can request a scan response.
    ///
    /// Connectable legacy advertisements always allow scan requests, unless they are directed.
    package var isScannable = true
    /// The only central that can connect, for directed advertising; `nil` if any central can.
    package var target: DeviceAddress?
    /// The kind of address to advertise with; `nil` for the host's default.
    package var ownAddress: OwnAddressKind?
    /// The advertising interval, 20 ms to 10.24 s.
    package var interval = Duration.milliseconds(100)
    /// The transmit power, in dBm; `nil` for the controller's choice.
    package var transmitPower: Int8?
    package var primaryPHY = PHY.le1M
    package var secondaryPHY = PHY.le1M

    package init() {}

    /// The parameters for background apps, whose advertisement is sent a third as often as that of foreground apps.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .microseconds(318_750)
        return parameters
    }()

    /// True if the advertisement may contain advertising data.
    var hasData: Bool { isLegacy ? target == nil : isConnectable || !isScannable }

    /// True if scanners can request a scan response from this set.
    var hasScanResponse: Bool { target == nil && isScannable }

    /// The maximum length of the advertising data, in octets.
    ///
    /// A connectable extended advertisement must fit into one packet, because a central answers that packet to connect:
    /// Core 6.0, Vol 6, Part B, 2.3.4.
    var longestData: Int {
        guard hasData else { return 0 }
        guard !isLegacy else { return AdvertisingData.maximumLegacyLength }
        return isConnectable ? 245 : AdvertisingData.maximumExtendedLength
    }

    /// The maximum length of the scan response data, in octets.
    ///
    /// The data of an extended scan response must fit into one command.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.55.
    var longestScanResponse: Int {
        guard hasScanResponse else { return 0 }
        return isLegacy ? AdvertisingData.maximumLegacyLength : 251
    }

    /// True if the specification allows this combination of parameters.
    var isPossible: Bool {
        if isLegacy { return target == nil || isConnectable }
        return !(isConnectable && isScannable) && (target == nil || !isScannable) && primaryPHY != .le2M
    }

    /// The advertising type for legacy commands.
    var type: HCI.AdvertisingType {
        if target != nil { return .directedLowDutyCycle }
        return isConnectable ? .connectable : isScannable ? .scannable : .nonConnectable
    }

    /// The advertising properties for extended commands.
    var properties: HCI.AdvertisingProperties {
        var properties: HCI.AdvertisingProperties = isLegacy ? [.legacy] : []
        if isConnectable { properties.insert(.connectable) }
        if target != nil {
            properties.insert(.directed)
        } else if isScannable || isLegacy && isConnectable {
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
