import BLEWire

/// The properties of a received advertisement or scan response, without its data.
///
/// The properties do not depend on the kind of HCI event that reported the packet.
struct ReceivedAdvertisement {
    var address: DeviceAddress
    var isConnectable = false
    /// True if a scan response may follow.
    var isScannable = false
    var isScanResponse = false
    var rssi = RSSI.unavailable
    var packet = AdvertisementPacket()
    /// The event type of a legacy report, which determines everything except the address and signal strength; `nil` for
    /// an extended report.
    var legacyType: HCI.LEAdvertisingReport.EventType?
}

extension ReceivedAdvertisement {
    /// Creates the properties from a legacy report; returns `nil` if the event type is unknown.
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
