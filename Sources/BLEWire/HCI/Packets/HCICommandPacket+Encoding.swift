extension HCICommandPacket {
    /// The opcode of this command.
    package var opcode: HCI.Opcode {
        if case .unknown(let opcode, _) = self { return opcode }
        return type(of: command).opcode
    }

    /// The encoded command, starting with the packet indicator.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        encode(into: &encoder)
        return encoder.bytes
    }

    /// Appends the encoded command, starting with the packet indicator.
    package func encode(into encoder: inout PacketEncoder) {
        let start = encoder.bytes.count
        do { try walk(&encoder, parameterLength: 0) } catch {
            preconditionFailure("cannot encode \(self): \(error)")
        }
        let count = encoder.bytes.count - start - Self.headerSize
        precondition(count <= 255, "the parameters of \(opcode) must take at most 255 octets, not \(count)")
        encoder.replace(at: start + Self.headerSize - 1, with: UInt8(count))
    }

    /// The fields of this command, starting with the packet indicator.
    package var dissection: DissectedLayer {
        var dissector = PacketDissector()
        let length = UInt8(truncatingIfNeeded: encoded.count - Self.headerSize)
        do { try walk(&dissector, parameterLength: length) } catch {
            preconditionFailure("cannot dissect \(self): \(error)")
        }
        return DissectedLayer(name: "HCI Command \(opcode)", fields: dissector.fields)
    }

    /// The number of octets before the parameters: packet indicator, opcode and length.
    private static let headerSize = 4

    private func walk(_ wire: inout some AnyWire, parameterLength: UInt8) throws(PacketError) {
        var type = HCI.PacketType.command
        try wire.field(&type, "Packet Type")
        var header = HCI.CommandHeader(opcode: opcode, length: parameterLength)
        try header.layout(&wire)
        if case .unknown(_, var parameters) = self { return try wire.rest(&parameters, "Parameters") }
        var command = command
        try command.layout(&wire)
    }

    /// The parameters as a packet; empty for an unknown command.
    private var command: any HCICommand {
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
        case .leGenerateDHKeyV2(let command): command
        case .leReadBufferSizeV2: HCI.LEReadBufferSizeV2()
        case .leSetHostFeature(let command): command
        case .leSetTransmitPowerReportingEnable(let command): command
        case .unknown: NoCommand()
        }
    }
}

/// The empty parameters that stand in for a command that this module does not declare.
private struct NoCommand: HCICommand {
    typealias Return = HCI.NoReturn
    static var opcode: HCI.Opcode { .none }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
}
