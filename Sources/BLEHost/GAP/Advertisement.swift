import BLEWire

/// One advertisement or scan response that a controller heard, whichever event it came in.
struct Advertisement {
    var address: DeviceAddress
    var isConnectable = false
    /// Whether a scan response may follow.
    var isScannable = false
    var isScanResponse = false
    var rssi = RSSI.unavailable
    var data: [UInt8] = []
    var packet = AdvertisementPacket()
}
