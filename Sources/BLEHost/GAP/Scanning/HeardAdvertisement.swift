import BLEWire

/// One advertisement or scan response that a controller heard, whichever event it came in, but for its data.
struct HeardAdvertisement {
    var address: DeviceAddress
    var isConnectable = false
    /// Whether a scan response may follow.
    var isScannable = false
    var isScanResponse = false
    var rssi = RSSI.unavailable
    var packet = AdvertisementPacket()
    /// The type of the legacy report that told of it, from which all but the address and the strength follows.
    var legacyType: HCI.LEAdvertisingReport.EventType?
}

extension HeardAdvertisement {
    /// Creates what a legacy report tells; `nil` if nobody knows what its type means.
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
