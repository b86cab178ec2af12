import BLEWire

extension EveryPacket {
    static let smp: [any Packet.Type] = [
        SMP.PairingFeatures.self, SMP.PairingConfirm.self, SMP.PairingRandom.self, SMP.PairingFailed.self,
        SMP.EncryptionInformation.self, SMP.CentralIdentification.self, SMP.IdentityInformation.self,
        SMP.IdentityAddressInformation.self, SMP.SigningInformation.self, SMP.SecurityRequest.self,
        SMP.PairingPublicKey.self, SMP.PairingDHKeyCheck.self, SMP.PairingKeypressNotification.self,
    ]
}
