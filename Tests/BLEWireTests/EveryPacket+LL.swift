import BLEWire

extension EveryPacket {
    static let linkLayer: [any Packet.Type] = [
        LL.AdvertisingHeader.self, LL.DataHeader.self, LL.Advertisement.self, LL.DirectedAdvertisement.self,
        LL.ScanRequest.self, LL.ConnectIndication.self, LL.ExtendedAdvertisement.self, LL.ConnectionUpdate.self,
        LL.ChannelMapIndication.self, LL.VersionIndication.self, LL.ConnectionParameters.self, LL.Rejection.self,
        LL.Lengths.self, LL.PHYPreference.self, LL.PHYUpdate.self, LL.EncryptionRequest.self,
        LL.EncryptionResponse.self,
    ]
}
