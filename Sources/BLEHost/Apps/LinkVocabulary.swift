package import BLEWire

/// The details of a link below ATT, as reported by the controller.
package struct LinkDetails: Equatable, Sendable {
    /// The peer's address.
    package var address: DeviceAddress
    /// The connection interval; `nil` if the controller reported an invalid one.
    package var interval: ConnectionInterval?
    /// The number of connection events that the peripheral may skip; `nil` if the controller reported an invalid
    /// number.
    package var latency: PeripheralLatency?
    /// The supervision timeout; `nil` if the controller reported an invalid one.
    package var timeout: SupervisionTimeout?
    package var transmitPHY = PHY.le1M
    package var receivePHY = PHY.le1M
    /// The maximum payload of a link-layer packet to the peer, in octets: 27 to 251.
    package var transmitOctets = 27
    /// The maximum payload of a link-layer packet from the peer, in octets: 27 to 251.
    package var receiveOctets = 27
    package var security = LinkSecurity.unencrypted

    package init(address: DeviceAddress) { self.address = address }
}

/// A change that a client requests for a link.
package enum LinkTuning: Equatable, Sendable {
    /// New connection parameters. If this host is the peripheral, the central must agree to them.
    case parameters(HCI.ConnectionParameters)
    /// New PHYs. An empty set leaves the choice to the controller.
    case physicalLayers(transmit: PHYSet, receive: PHYSet)
    /// A new maximum payload of link-layer packets, 27 to 251 octets.
    case dataLength(octets: UInt16)
}

/// The properties of an advertising packet other than its data.
package struct AdvertisementPacket: Equatable, Sendable {
    /// True if the packet is a legacy packet, false if it is an extended one.
    package var isLegacy = true
    package var isScannable = false
    /// True if the advertisement was directed to this host.
    package var isDirected = false
    /// True if part of the data was lost.
    package var isTruncated = false
    package var primaryPHY = PHY.le1M
    /// The PHY of the secondary channel; ``BLEWire/PHY/none`` if the data came on the primary channels.
    package var secondaryPHY = PHY.none
    /// The identifier that the advertiser has given the advertising set.
    package var set = AdvertisingSID.none
    package var transmitPower = TransmitPower.unavailable

    package init() {}
}
