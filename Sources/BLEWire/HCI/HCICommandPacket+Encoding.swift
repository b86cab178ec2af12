extension HCICommandPacket {
    /// What this command is.
    package var opcode: HCI.Opcode {
        if case .unknown(let opcode, _) = self { return opcode }
        return command.map { type(of: $0).opcode } ?? .none
    }

    /// The octets of this command, the packet indicator first.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        encode(into: &encoder)
        return encoder.bytes
    }

    /// Appends the octets of this command, the packet indicator first.
    package func encode(into encoder: inout PacketEncoder) {
        let opcode = opcode.wire
        let octets: [UInt8]
        if case .unknown(_, let parameters) = self { octets = parameters } else { octets = command?.encoded ?? [] }
        precondition(octets.count <= 255, "the parameters of \(self.opcode) take \(octets.count) octets")
        encoder.append(octet: HCI.PacketType.command.wire)
        encoder.append(octet: UInt8(truncatingIfNeeded: opcode))
        encoder.append(octet: UInt8(truncatingIfNeeded: opcode >> 8))
        encoder.append(octet: UInt8(octets.count))
        encoder.append(contentsOf: octets)
    }

    private var basicCommand: (any HCICommand)? {
        switch self {
        case .disconnect(let command): command
        case .readRemoteVersionInformation(let command): command
        case .setEventMask(let command): command
        case .reset: HCI.Reset()
        case .readTransmitPowerLevel(let command): command
        case .setControllerToHostFlowControl(let command): command
        case .hostBufferSize(let command): command
        case .hostNumberOfCompletedPackets(let command): command
        case .setEventMaskPage2(let command): command
        case .readLEHostSupport: HCI.ReadLEHostSupport()
        case .writeLEHostSupport(let command): command
        case .readAuthenticatedPayloadTimeout(let command): command
        case .writeAuthenticatedPayloadTimeout(let command): command
        case .readLocalVersionInformation: HCI.ReadLocalVersionInformation()
        case .readLocalSupportedCommands: HCI.ReadLocalSupportedCommands()
        case .readLocalSupportedFeatures: HCI.ReadLocalSupportedFeatures()
        case .readBufferSize: HCI.ReadBufferSize()
        case .readBDADDR: HCI.ReadBDADDR()
        case .readRSSI(let command): command
        case .unknown: nil
        case .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress,
            .leSetAdvertisingParameters, .leReadAdvertisingTransmitPower, .leSetAdvertisingData,
            .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
            .leCreateConnection, .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
            .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
            .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leEncrypt, .leRand,
            .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
            .leReadSupportedStates, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength, .leReadSuggestedDefaultDataLength,
            .leWriteSuggestedDefaultDataLength, .leReadLocalP256PublicKey, .leGenerateDHKey,
            .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
            .leReadResolvingListSize, .leReadPeerResolvableAddress, .leReadLocalResolvableAddress,
            .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leReadMaximumDataLength,
            .leReadPHY, .leSetDefaultPHY, .leSetPHY, .leSetAdvertisingSetRandomAddress,
            .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
            .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
            .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
            .leReadTransmitPower, .leReadRFPathCompensation, .leWriteRFPathCompensation, .leSetPrivacyMode,
            .leReadBufferSizeV2, .leSetHostFeature, .leSetTransmitPowerReportingEnable:
            nil
        }
    }

    private var legacyCommand: (any HCICommand)? {
        switch self {
        case .leSetEventMask(let command): command
        case .leReadBufferSize: HCI.LEReadBufferSize()
        case .leReadLocalSupportedFeatures: HCI.LEReadLocalSupportedFeatures()
        case .leSetRandomAddress(let command): command
        case .leSetAdvertisingParameters(let command): command
        case .leReadAdvertisingTransmitPower: HCI.LEReadAdvertisingTransmitPower()
        case .leSetAdvertisingData(let command): command
        case .leSetScanResponseData(let command): command
        case .leSetAdvertisingEnable(let command): command
        case .leSetScanParameters(let command): command
        case .leSetScanEnable(let command): command
        case .leCreateConnection(let command): command
        case .leCreateConnectionCancel: HCI.LECreateConnectionCancel()
        case .leReadFilterAcceptListSize: HCI.LEReadFilterAcceptListSize()
        case .leClearFilterAcceptList: HCI.LEClearFilterAcceptList()
        case .leAddDeviceToFilterAcceptList(let command): command
        case .leRemoveDeviceFromFilterAcceptList(let command): command
        case .leConnectionUpdate(let command): command
        case .leSetHostChannelClassification(let command): command
        case .leReadChannelMap(let command): command
        case .leReadRemoteFeatures(let command): command
        case .leEncrypt(let command): command
        case .leRand: HCI.LERand()
        case .leEnableEncryption(let command): command
        case .leLongTermKeyRequestReply(let command): command
        case .leLongTermKeyRequestNegativeReply(let command): command
        case .leReadSupportedStates: HCI.LEReadSupportedStates()
        case .unknown: nil
        case .disconnect, .readRemoteVersionInformation, .setEventMask, .reset, .readTransmitPowerLevel,
            .setControllerToHostFlowControl, .hostBufferSize, .hostNumberOfCompletedPackets, .setEventMaskPage2,
            .readLEHostSupport, .writeLEHostSupport, .readAuthenticatedPayloadTimeout,
            .writeAuthenticatedPayloadTimeout, .readLocalVersionInformation, .readLocalSupportedCommands,
            .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI,
            .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply,
            .leSetDataLength, .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength,
            .leReadLocalP256PublicKey, .leGenerateDHKey, .leAddDeviceToResolvingList,
            .leRemoveDeviceFromResolvingList, .leClearResolvingList, .leReadResolvingListSize,
            .leReadPeerResolvableAddress, .leReadLocalResolvableAddress, .leSetAddressResolutionEnable,
            .leSetResolvablePrivateAddressTimeout, .leReadMaximumDataLength, .leReadPHY, .leSetDefaultPHY,
            .leSetPHY, .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters,
            .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
            .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet,
            .leClearAdvertisingSets, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
            .leExtendedCreateConnection, .leReadTransmitPower, .leReadRFPathCompensation,
            .leWriteRFPathCompensation, .leSetPrivacyMode, .leReadBufferSizeV2, .leSetHostFeature,
            .leSetTransmitPowerReportingEnable:
            nil
        }
    }

    private var extendedCommand: (any HCICommand)? {
        switch self {
        case .leRemoteConnectionParameterRequestReply(let command): command
        case .leRemoteConnectionParameterRequestNegativeReply(let command): command
        case .leSetDataLength(let command): command
        case .leReadSuggestedDefaultDataLength: HCI.LEReadSuggestedDefaultDataLength()
        case .leWriteSuggestedDefaultDataLength(let command): command
        case .leReadLocalP256PublicKey: HCI.LEReadLocalP256PublicKey()
        case .leGenerateDHKey(let command): command
        case .leAddDeviceToResolvingList(let command): command
        case .leRemoveDeviceFromResolvingList(let command): command
        case .leClearResolvingList: HCI.LEClearResolvingList()
        case .leReadResolvingListSize: HCI.LEReadResolvingListSize()
        case .leReadPeerResolvableAddress(let command): command
        case .leReadLocalResolvableAddress(let command): command
        case .leSetAddressResolutionEnable(let command): command
        case .leSetResolvablePrivateAddressTimeout(let command): command
        case .leReadMaximumDataLength: HCI.LEReadMaximumDataLength()
        case .leReadPHY(let command): command
        case .leSetDefaultPHY(let command): command
        case .leSetPHY(let command): command
        case .leSetAdvertisingSetRandomAddress(let command): command
        case .leSetExtendedAdvertisingParameters(let command): command
        case .leSetExtendedAdvertisingData(let command): command
        case .leSetExtendedScanResponseData(let command): command
        case .leSetExtendedAdvertisingEnable(let command): command
        case .leReadMaximumAdvertisingDataLength: HCI.LEReadMaximumAdvertisingDataLength()
        case .leReadNumberOfSupportedAdvertisingSets: HCI.LEReadNumberOfSupportedAdvertisingSets()
        case .leRemoveAdvertisingSet(let command): command
        case .leClearAdvertisingSets: HCI.LEClearAdvertisingSets()
        case .leSetExtendedScanParameters(let command): command
        case .leSetExtendedScanEnable(let command): command
        case .leExtendedCreateConnection(let command): command
        case .leReadTransmitPower: HCI.LEReadTransmitPower()
        case .leReadRFPathCompensation: HCI.LEReadRFPathCompensation()
        case .leWriteRFPathCompensation(let command): command
        case .leSetPrivacyMode(let command): command
        case .leReadBufferSizeV2: HCI.LEReadBufferSizeV2()
        case .leSetHostFeature(let command): command
        case .leSetTransmitPowerReportingEnable(let command): command
        case .unknown: nil
        case .disconnect, .readRemoteVersionInformation, .setEventMask, .reset, .readTransmitPowerLevel,
            .setControllerToHostFlowControl, .hostBufferSize, .hostNumberOfCompletedPackets, .setEventMaskPage2,
            .readLEHostSupport, .writeLEHostSupport, .readAuthenticatedPayloadTimeout,
            .writeAuthenticatedPayloadTimeout, .readLocalVersionInformation, .readLocalSupportedCommands,
            .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI, .leSetEventMask,
            .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress, .leSetAdvertisingParameters,
            .leReadAdvertisingTransmitPower, .leSetAdvertisingData, .leSetScanResponseData,
            .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
            .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
            .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
            .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leEncrypt, .leRand,
            .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
            .leReadSupportedStates:
            nil
        }
    }

    /// The parameters as a command of their own, or `nil` for an unknown one.
    private var command: (any HCICommand)? { legacyCommand ?? extendedCommand ?? basicCommand }
}
