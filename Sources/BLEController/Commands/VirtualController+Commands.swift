import BLEWire

extension VirtualController {
    /// Returns whether the controller supports a command.
    ///
    /// The result agrees with the list of supported commands that the controller reports to its host.
    func knows(_ opcode: HCI.Opcode) -> Bool { commands.contains(opcode) }

    /// Returns the commands that a controller with this profile supports.
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

    /// The commands that no feature bit covers, by the version of the Core Specification that introduced them.
    private static let versionCommands: [(HCI.CoreVersion, [HCI.Opcode])] = [
        (.v4_2, [.leReadLocalP256PublicKey, .leGenerateDHKey]),
        (.v5_1, [.leGenerateDHKeyV2]),
    ]

    /// Records that the host uses commands of `generation`; returns false if it already uses the other generation.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
    mutating func use(_ generation: Generation) -> Bool {
        if self.generation == .undecided { self.generation = generation }
        return self.generation == generation
    }
}
