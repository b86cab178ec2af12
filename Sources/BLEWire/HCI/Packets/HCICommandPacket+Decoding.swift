extension HCI {
    /// The header of a command.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.1.
    struct CommandHeader: Packet {
        var opcode = Opcode.none
        var length: UInt8 = 0

        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&opcode, "Opcode")
            try wire.integer(&length, "Parameter Total Length")
        }
    }
}

extension HCICommandPacket {
    /// Decodes a command that fills `bytes` exactly.
    ///
    /// `bytes` start after the packet indicator.
    ///
    /// - Throws: ``PacketError/truncated(field:)`` or ``PacketError/trailing(count:)`` if the length octet does not
    ///   match the packet; otherwise the error from decoding the parameters. An unknown opcode is not an error.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        let header = try HCI.CommandHeader(from: &decoder)
        try decoder.expect(Int(header.length), "Parameter Total Length")
        self = try Self.decode(header.opcode, parameters: decoder.unread)
    }

    /// Decodes a command that fills `bytes` exactly.
    ///
    /// `bytes` start after the packet indicator.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    private static func decode(
        _ opcode: HCI.Opcode,
        parameters: Span<UInt8>
    ) throws(PacketError) -> HCICommandPacket {
        if let packet = try decodeBasic(opcode, parameters) { return packet }
        if let packet = try decodeLegacy(opcode, parameters) { return packet }
        if let packet = try decodeLater(opcode, parameters) { return packet }
        if let packet = try decodeExtended(opcode, parameters) { return packet }
        return .unknown(opcode, [UInt8](copying: parameters))
    }

    /// Returns `packet`, a command without parameters; throws if `parameters` is not empty.
    private static func bare<Command: HCICommand>(
        _: Command.Type,
        _ parameters: Span<UInt8>,
        _ packet: HCICommandPacket
    ) throws(PacketError) -> HCICommandPacket {
        _ = try Command(decoding: parameters)
        return packet
    }

    /// Decodes link control, baseband, information and status commands; returns `nil` for other commands.
    private static func decodeBasic(
        _ opcode: HCI.Opcode,
        _ parameters: Span<UInt8>
    ) throws(PacketError) -> HCICommandPacket? {
        switch opcode {
        case .disconnect: .disconnect(try .init(decoding: parameters))
        case .readRemoteVersionInformation: .readRemoteVersionInformation(try .init(decoding: parameters))
        case .setEventMask: .setEventMask(try .init(decoding: parameters))
        case .reset: try bare(HCI.Reset.self, parameters, .reset)
        case .readTransmitPowerLevel: .readTransmitPowerLevel(try .init(decoding: parameters))
        case .setControllerToHostFlowControl: .setControllerToHostFlowControl(try .init(decoding: parameters))
        case .hostBufferSize: .hostBufferSize(try .init(decoding: parameters))
        case .hostNumberOfCompletedPackets: .hostNumberOfCompletedPackets(try .init(decoding: parameters))
        case .setEventMaskPage2: .setEventMaskPage2(try .init(decoding: parameters))
        case .readLEHostSupport: try bare(HCI.ReadLEHostSupport.self, parameters, .readLEHostSupport)
        case .writeLEHostSupport: .writeLEHostSupport(try .init(decoding: parameters))
        case .readAuthenticatedPayloadTimeout: .readAuthenticatedPayloadTimeout(try .init(decoding: parameters))
        case .writeAuthenticatedPayloadTimeout: .writeAuthenticatedPayloadTimeout(try .init(decoding: parameters))
        case .readLocalVersionInformation:
            try bare(HCI.ReadLocalVersionInformation.self, parameters, .readLocalVersionInformation)
        case .readLocalSupportedCommands:
            try bare(HCI.ReadLocalSupportedCommands.self, parameters, .readLocalSupportedCommands)
        case .readLocalSupportedFeatures:
            try bare(HCI.ReadLocalSupportedFeatures.self, parameters, .readLocalSupportedFeatures)
        case .readBufferSize: try bare(HCI.ReadBufferSize.self, parameters, .readBufferSize)
        case .readBDADDR: try bare(HCI.ReadBDADDR.self, parameters, .readBDADDR)
        case .readRSSI: .readRSSI(try .init(decoding: parameters))
        default: nil
        }
    }

    /// Decodes the LE commands of Core 4.0; returns `nil` for other commands.
    private static func decodeLegacy(
        _ opcode: HCI.Opcode,
        _ parameters: Span<UInt8>
    ) throws(PacketError) -> HCICommandPacket? {
        switch opcode {
        case .leSetEventMask: .leSetEventMask(try .init(decoding: parameters))
        case .leReadBufferSize: try bare(HCI.LEReadBufferSize.self, parameters, .leReadBufferSize)
        case .leReadLocalSupportedFeatures:
            try bare(HCI.LEReadLocalSupportedFeatures.self, parameters, .leReadLocalSupportedFeatures)
        case .leSetRandomAddress: .leSetRandomAddress(try .init(decoding: parameters))
        case .leSetAdvertisingParameters: .leSetAdvertisingParameters(try .init(decoding: parameters))
        case .leReadAdvertisingTransmitPower:
            try bare(HCI.LEReadAdvertisingTransmitPower.self, parameters, .leReadAdvertisingTransmitPower)
        case .leSetAdvertisingData: .leSetAdvertisingData(try .init(decoding: parameters))
        case .leSetScanResponseData: .leSetScanResponseData(try .init(decoding: parameters))
        case .leSetAdvertisingEnable: .leSetAdvertisingEnable(try .init(decoding: parameters))
        case .leSetScanParameters: .leSetScanParameters(try .init(decoding: parameters))
        case .leSetScanEnable: .leSetScanEnable(try .init(decoding: parameters))
        case .leCreateConnection: .leCreateConnection(try .init(decoding: parameters))
        case .leCreateConnectionCancel:
            try bare(HCI.LECreateConnectionCancel.self, parameters, .leCreateConnectionCancel)
        case .leReadFilterAcceptListSize:
            try bare(HCI.LEReadFilterAcceptListSize.self, parameters, .leReadFilterAcceptListSize)
        case .leClearFilterAcceptList: try bare(HCI.LEClearFilterAcceptList.self, parameters, .leClearFilterAcceptList)
        case .leAddDeviceToFilterAcceptList: .leAddDeviceToFilterAcceptList(try .init(decoding: parameters))
        case .leRemoveDeviceFromFilterAcceptList: .leRemoveDeviceFromFilterAcceptList(try .init(decoding: parameters))
        case .leConnectionUpdate: .leConnectionUpdate(try .init(decoding: parameters))
        case .leSetHostChannelClassification: .leSetHostChannelClassification(try .init(decoding: parameters))
        case .leReadChannelMap: .leReadChannelMap(try .init(decoding: parameters))
        case .leReadRemoteFeatures: .leReadRemoteFeatures(try .init(decoding: parameters))
        case .leEncrypt: .leEncrypt(try .init(decoding: parameters))
        case .leRand: try bare(HCI.LERand.self, parameters, .leRand)
        case .leEnableEncryption: .leEnableEncryption(try .init(decoding: parameters))
        case .leLongTermKeyRequestReply: .leLongTermKeyRequestReply(try .init(decoding: parameters))
        case .leLongTermKeyRequestNegativeReply: .leLongTermKeyRequestNegativeReply(try .init(decoding: parameters))
        case .leReadSupportedStates: try bare(HCI.LEReadSupportedStates.self, parameters, .leReadSupportedStates)
        default: nil
        }
    }

    /// Decodes the LE commands of Core 4.1 to 5.0, except extended advertising; returns `nil` for other commands.
    private static func decodeLater(
        _ opcode: HCI.Opcode,
        _ parameters: Span<UInt8>
    ) throws(PacketError) -> HCICommandPacket? {
        switch opcode {
        case .leRemoteConnectionParameterRequestReply:
            .leRemoteConnectionParameterRequestReply(try .init(decoding: parameters))
        case .leRemoteConnectionParameterRequestNegativeReply:
            .leRemoteConnectionParameterRequestNegativeReply(try .init(decoding: parameters))
        case .leSetDataLength: .leSetDataLength(try .init(decoding: parameters))
        case .leReadSuggestedDefaultDataLength:
            try bare(HCI.LEReadSuggestedDefaultDataLength.self, parameters, .leReadSuggestedDefaultDataLength)
        case .leWriteSuggestedDefaultDataLength: .leWriteSuggestedDefaultDataLength(try .init(decoding: parameters))
        case .leReadLocalP256PublicKey:
            try bare(HCI.LEReadLocalP256PublicKey.self, parameters, .leReadLocalP256PublicKey)
        case .leGenerateDHKey: .leGenerateDHKey(try .init(decoding: parameters))
        case .leAddDeviceToResolvingList: .leAddDeviceToResolvingList(try .init(decoding: parameters))
        case .leRemoveDeviceFromResolvingList: .leRemoveDeviceFromResolvingList(try .init(decoding: parameters))
        case .leClearResolvingList: try bare(HCI.LEClearResolvingList.self, parameters, .leClearResolvingList)
        case .leReadResolvingListSize: try bare(HCI.LEReadResolvingListSize.self, parameters, .leReadResolvingListSize)
        case .leReadPeerResolvableAddress: .leReadPeerResolvableAddress(try .init(decoding: parameters))
        case .leReadLocalResolvableAddress: .leReadLocalResolvableAddress(try .init(decoding: parameters))
        case .leSetAddressResolutionEnable: .leSetAddressResolutionEnable(try .init(decoding: parameters))
        case .leSetResolvablePrivateAddressTimeout:
            .leSetResolvablePrivateAddressTimeout(try .init(decoding: parameters))
        case .leReadMaximumDataLength: try bare(HCI.LEReadMaximumDataLength.self, parameters, .leReadMaximumDataLength)
        case .leReadPHY: .leReadPHY(try .init(decoding: parameters))
        case .leSetDefaultPHY: .leSetDefaultPHY(try .init(decoding: parameters))
        case .leSetPHY: .leSetPHY(try .init(decoding: parameters))
        default: nil
        }
    }

    /// Decodes the commands for extended advertising, and those that later versions added; returns `nil` for other
    /// commands.
    private static func decodeExtended(
        _ opcode: HCI.Opcode,
        _ parameters: Span<UInt8>
    ) throws(PacketError) -> HCICommandPacket? {
        switch opcode {
        case .leSetAdvertisingSetRandomAddress: .leSetAdvertisingSetRandomAddress(try .init(decoding: parameters))
        case .leSetExtendedAdvertisingParameters: .leSetExtendedAdvertisingParameters(try .init(decoding: parameters))
        case .leSetExtendedAdvertisingData: .leSetExtendedAdvertisingData(try .init(decoding: parameters))
        case .leSetExtendedScanResponseData: .leSetExtendedScanResponseData(try .init(decoding: parameters))
        case .leSetExtendedAdvertisingEnable: .leSetExtendedAdvertisingEnable(try .init(decoding: parameters))
        case .leReadMaximumAdvertisingDataLength:
            try bare(HCI.LEReadMaximumAdvertisingDataLength.self, parameters, .leReadMaximumAdvertisingDataLength)
        case .leReadNumberOfSupportedAdvertisingSets:
            try bare(
                HCI.LEReadNumberOfSupportedAdvertisingSets.self,
                parameters,
                .leReadNumberOfSupportedAdvertisingSets
            )
        case .leRemoveAdvertisingSet: .leRemoveAdvertisingSet(try .init(decoding: parameters))
        case .leClearAdvertisingSets: try bare(HCI.LEClearAdvertisingSets.self, parameters, .leClearAdvertisingSets)
        case .leSetExtendedScanParameters: .leSetExtendedScanParameters(try .init(decoding: parameters))
        case .leSetExtendedScanEnable: .leSetExtendedScanEnable(try .init(decoding: parameters))
        case .leExtendedCreateConnection: .leExtendedCreateConnection(try .init(decoding: parameters))
        case .leReadTransmitPower: try bare(HCI.LEReadTransmitPower.self, parameters, .leReadTransmitPower)
        case .leReadRFPathCompensation:
            try bare(HCI.LEReadRFPathCompensation.self, parameters, .leReadRFPathCompensation)
        case .leWriteRFPathCompensation: .leWriteRFPathCompensation(try .init(decoding: parameters))
        case .leSetPrivacyMode: .leSetPrivacyMode(try .init(decoding: parameters))
        case .leGenerateDHKeyV2: .leGenerateDHKeyV2(try .init(decoding: parameters))
        case .leReadBufferSizeV2: try bare(HCI.LEReadBufferSizeV2.self, parameters, .leReadBufferSizeV2)
        case .leSetHostFeature: .leSetHostFeature(try .init(decoding: parameters))
        case .leSetTransmitPowerReportingEnable: .leSetTransmitPowerReportingEnable(try .init(decoding: parameters))
        default: nil
        }
    }
}
