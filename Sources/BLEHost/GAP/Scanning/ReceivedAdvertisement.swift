import BLEWire

/// A received advertisement or scan response without its data, from any kind of event.
struct ReceivedAdvertisement {
    var address: DeviceAddress
    var isConnectable = false
    /// True if a scan response may follow.
    var isScannable = false
    var isScanResponse = false
    var rssi = RSSI.unavailable
    var packet = AdvertisementPacket()
    /// The legacy event type, which determines everything except the address and signal strength.
    var legacyType: HCI.LEAdvertisingReport.EventType?
}

extension ReceivedAdvertisement {
    /// Creates it from a legacy report; returns `nil` for an unknown event type.
    @inline(__always)
    init?(_ type: HCI.LEAdvertisingReport.EventType, _ address: DeviceAddress, _ rssi: RSSI) {
        guard type.isKnown else { return nil }
        self.init(address: address, rssi: rssi)
        legacyType = type
        isConnectable = type.isConnectable
        isScannable = type.isScannable
        isScanResponse = type.isScanResponse
        packet.isScannable = isScannable
        packet.isDirected = type.isDirected
    }
}
