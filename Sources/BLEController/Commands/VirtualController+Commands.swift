import BLEWire

extension VirtualController {
    /// Whether the controller knows a command; what it does not know it does not claim either.
    func knows(_ opcode: HCI.Opcode) -> Bool { commands.contains(opcode) }

    /// The commands that a controller knows, as far as its features let it.
    static func supportedCommands(_ profile: ControllerIdentity.Profile) -> SupportedCommands {
        var commands = SupportedCommands(basicCommands)
        let features = profile.features
        for (feature, opcodes) in featureCommands where features.contains(feature) {
            for opcode in opcodes { commands.insert(opcode) }
        }
        if !features.isDisjoint(with: [.phy2M, .phyCoded]) {
            for opcode: HCI.Opcode in [.leReadPHY, .leSetDefaultPHY, .leSetPHY] { commands.insert(opcode) }
        }
        for (version, opcodes) in versionCommands where profile.version >= version.wire {
            for opcode in opcodes { commands.insert(opcode) }
        }
        if features.contains(.privacy), profile.version >= HCI.CoreVersion.v5_0.wire {
            commands.insert(.leSetPrivacyMode)
        }
        return commands
    }

    private static let basicCommands: [HCI.Opcode] = [
        .disconnect, .readRemoteVersionInformation, .setEventMask, .reset, .readTransmitPowerLevel,
        .setEventMaskPage2, .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
        .readBDADDR, .readRSSI, .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures,
        .leSetRandomAddress, .leSetAdvertisingParameters, .leReadAdvertisingTransmitPower, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
        .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
        .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
        .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leEncrypt, .leRand,
        .leReadSupportedStates,
    ]

    private static let featureCommands: [(LEFeatures, [HCI.Opcode])] = [
        (
            .connectionParametersRequest,
            [.leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply]
        ),
        (.encryption, [.leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply]),
        (.ping, [.readAuthenticatedPayloadTimeout, .writeAuthenticatedPayloadTimeout]),
        (
            .privacy,
            [
                .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
                .leReadResolvingListSize, .leReadPeerResolvableAddress, .leReadLocalResolvableAddress,
                .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout,
            ]
        ),
        (
            .dataPacketLengthExtension,
            [
                .leSetDataLength, .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength,
                .leReadMaximumDataLength,
            ]
        ),
        (
            .extendedAdvertising,
            [
                .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters,
                .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
                .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets,
                .leRemoveAdvertisingSet, .leClearAdvertisingSets, .leSetExtendedScanParameters,
                .leSetExtendedScanEnable, .leExtendedCreateConnection, .leReadTransmitPower,
                .leReadRFPathCompensation, .leWriteRFPathCompensation,
            ]
        ),
    ]

    /// What came with a version of the Core Specification and has no feature of its own.
    private static let versionCommands: [(HCI.CoreVersion, [HCI.Opcode])] = [
        (.v4_2, [.leReadLocalP256PublicKey, .leGenerateDHKey]),
        (.v5_1, [.leGenerateDHKeyV2]),
    ]

    /// Notes that the host uses legacy or extended commands, and returns whether it may.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
    mutating func use(_ generation: Generation) -> Bool {
        if self.generation == .undecided { self.generation = generation }
        return self.generation == generation
    }
}
