import BLEWire

extension EveryPacket {
    /// Every packet of the Host Controller Interface: commands, what they return, events, and the parts of these.
    static let hci: [any Packet.Type] = HCI.commands + hciReturns + hciEvents + hciLEEvents + hciParts

    /// What commands return, each kind once.
    private static let hciReturns: [any Packet.Type] = [
        HCI.StatusReturn.self, HCI.HandleReturn.self, HCI.NoReturn.self,
        HCI.ReadTransmitPowerLevel.Return.self, HCI.ReadLEHostSupport.Return.self,
        HCI.ReadAuthenticatedPayloadTimeout.Return.self, HCI.ReadLocalVersionInformation.Return.self,
        HCI.ReadLocalSupportedCommands.Return.self, HCI.ReadLocalSupportedFeatures.Return.self,
        HCI.ReadBufferSize.Return.self, HCI.ReadBDADDR.Return.self, HCI.ReadRSSI.Return.self,
        HCI.LEReadBufferSize.Return.self, HCI.LEReadBufferSizeV2.Return.self,
        HCI.LEReadLocalSupportedFeatures.Return.self, HCI.LEReadSupportedStates.Return.self,
        HCI.LEEncrypt.Return.self, HCI.LERand.Return.self, HCI.LEReadTransmitPower.Return.self,
        HCI.LEReadRFPathCompensation.Return.self, HCI.LEReadAdvertisingTransmitPower.Return.self,
        HCI.LESetExtendedAdvertisingParameters.Return.self, HCI.LEReadMaximumAdvertisingDataLength.Return.self,
        HCI.LEReadNumberOfSupportedAdvertisingSets.Return.self, HCI.LEReadChannelMap.Return.self,
        HCI.LEReadSuggestedDefaultDataLength.Return.self, HCI.LEReadMaximumDataLength.Return.self,
        HCI.LEReadPHY.Return.self, HCI.LEReadFilterAcceptListSize.Return.self,
        HCI.LEReadResolvingListSize.Return.self, HCI.LEReadPeerResolvableAddress.Return.self,
        HCI.LEReadLocalResolvableAddress.Return.self,
    ]

    static let hciEvents: [any HCIEvent.Type] = [
        HCI.DisconnectionComplete.self, HCI.EncryptionChange.self,
        HCI.ReadRemoteVersionInformationComplete.self, HCI.CommandComplete.self, HCI.CommandStatus.self,
        HCI.HardwareError.self, HCI.NumberOfCompletedPackets.self, HCI.DataBufferOverflow.self,
        HCI.EncryptionKeyRefreshComplete.self, HCI.AuthenticatedPayloadTimeoutExpired.self,
        HCI.EncryptionChangeV2.self,
    ]

    static let hciLEEvents: [any HCILEEvent.Type] = [
        HCI.LEConnectionComplete.self, HCI.LEAdvertisingReport.self, HCI.LEConnectionUpdateComplete.self,
        HCI.LEReadRemoteFeaturesComplete.self, HCI.LELongTermKeyRequest.self,
        HCI.LERemoteConnectionParameterRequest.self, HCI.LEDataLengthChange.self,
        HCI.LEReadLocalP256PublicKeyComplete.self, HCI.LEGenerateDHKeyComplete.self,
        HCI.LEEnhancedConnectionComplete.self, HCI.LEDirectedAdvertisingReport.self,
        HCI.LEPHYUpdateComplete.self, HCI.LEExtendedAdvertisingReport.self, HCI.LEScanTimeout.self,
        HCI.LEAdvertisingSetTerminated.self, HCI.LEScanRequestReceived.self,
        HCI.LEChannelSelectionAlgorithm.self, HCI.LETransmitPowerReporting.self,
    ]

    private static let hciParts: [any Packet.Type] = [
        ACLHeader.self, HCI.CompletedPackets.self, HCI.PublicKey.self, HCI.ConnectionParameters.self,
        HCI.LEAdvertisingReport.Report.self, HCI.LEDirectedAdvertisingReport.Report.self,
        HCI.LEExtendedAdvertisingReport.Report.self, HCI.LESetExtendedAdvertisingEnable.Entry.self,
        HCI.LESetExtendedScanParameters.Scan.self, HCI.LEExtendedCreateConnection.Initiation.self,
    ]
}
