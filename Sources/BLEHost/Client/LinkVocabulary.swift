package import BLEWire

/// What a link is like below its attributes, as far as the controller has told.
package struct LinkDetails: Equatable, Sendable {
    /// Where the peer was reached.
    package var address: DeviceAddress
    /// How often the ends meet; `nil` if the controller said nothing sensible.
    package var interval: ConnectionInterval?
    /// How many meetings the peripheral may skip.
    package var latency: PeripheralLatency?
    /// How long nothing may be heard before the link counts as lost.
    package var timeout: SupervisionTimeout?
    package var transmitPHY = PHY.le1M
    package var receivePHY = PHY.le1M
    /// The longest payload of one packet on the air, in octets: 27 to 251.
    package var transmitOctets = 27
    package var receiveOctets = 27
    /// How far the link can be trusted.
    package var security = LinkSecurity.unencrypted

    package init(address: DeviceAddress) { self.address = address }
}

/// A change that a client would like to see made to a link.
package enum LinkTuning: Equatable, Sendable {
    /// Other connection parameters; a peripheral asks its central for them.
    case parameters(HCI.ConnectionParameters)
    /// Other physical layers; those of which none is preferred are left to the controller.
    case physicalLayers(transmit: PHYSet, receive: PHYSet)
    /// Packets whose payload has at most this many octets, 27 to 251.
    case dataLength(octets: UInt16)
}

/// What an advertisement's packet tells beside its data.
package struct AdvertisementPacket: Equatable, Sendable {
    /// Whether it came in one of the packets from before extended advertising.
    package var isLegacy = true
    package var isScannable = false
    /// Whether it was meant for this host alone.
    package var isDirected = false
    /// Whether a part of the data was not received.
    package var isTruncated = false
    package var primaryPHY = PHY.le1M
    /// Where the data was sent, ``BLEWire/PHY/none`` for the primary channels themselves.
    package var secondaryPHY = PHY.none
    /// What the advertiser calls this set.
    package var set = AdvertisingSID.none
    package var transmitPower = TransmitPower.unavailable

    package init() {}
}
