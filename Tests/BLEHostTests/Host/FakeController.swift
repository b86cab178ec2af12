import BLEWire

/// A controller that answers every command as if all went well, and does nothing else.
struct FakeController {
    var commands: SupportedCommands
    var features: LEFeatures
    /// Bit 37 stands for BR/EDR Not Supported, bit 38 for LE Supported (Controller).
    var classicFeatures: UInt64 = 1 << 37 | 1 << 38
    /// Who made it.
    var company: UInt16 = 0x0059
    var subversion: UInt16 = 0
    var address = DeviceAddress(0x0000_1234_5678_9ABC, .public)
    var buffers: (length: UInt16, count: UInt8) = (27, 4)
    var sharedBuffers: (length: UInt16, count: UInt16) = (0, 0)
    var states: UInt64 = .max
    var acceptListSize: UInt8 = 8
    /// How many peers it can know by their keys, if it knows the commands for that.
    var resolvingListSize: UInt8 = 8
    /// Whether nothing at all is answered.
    var isMute = false
    /// Commands that are not answered.
    var silent: Set<UInt16> = []
    /// Commands that are refused.
    var refused: [UInt16: HCI.Status] = [:]
    /// The shortest connection interval that it accepts for new links.
    var leastInterval = Duration.zero

    /// A controller of version 4.0.
    static let old = Self(commands: SupportedCommands(Self.oldCommands), features: .encryption)

    /// A controller that knows whatever this host can use.
    static let new = Self(
        commands: SupportedCommands(Self.oldCommands + Self.newCommands),
        features: [
            .encryption, .connectionParametersRequest, .dataPacketLengthExtension, .privacy, .phy2M,
            .extendedAdvertising,
        ],
        buffers: (251, 8)
    )

    /// One of those that cannot encrypt.
    static let plain = Self(
        commands: SupportedCommands(Self.oldCommands.filter { !Self.encryption.contains($0) }),
        features: []
    )

    private static let encryption: [HCI.Opcode] = [
        .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
    ]

    /// The commands of controllers that resolve private addresses.
    static let resolving: [HCI.Opcode] = [
        .leReadResolvingListSize, .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList,
        .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
    ]

    private static let oldCommands: [HCI.Opcode] = [
        .disconnect, .setEventMask, .reset, .readLocalVersionInformation, .readLocalSupportedCommands,
        .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI, .leSetEventMask, .leReadBufferSize,
        .leReadLocalSupportedFeatures, .leSetRandomAddress, .leSetAdvertisingParameters, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
        .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
        .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
        .leReadRemoteFeatures, .leReadSupportedStates, .leEnableEncryption, .leLongTermKeyRequestReply,
        .leLongTermKeyRequestNegativeReply,
    ]

    private static let newCommands: [HCI.Opcode] = [
        .setEventMaskPage2, .leRemoteConnectionParameterRequestReply,
        .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength, .leReadMaximumDataLength,
        .leWriteSuggestedDefaultDataLength, .leClearResolvingList, .leSetDefaultPHY, .leSetPHY,
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leClearAdvertisingSets,
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
        .writeAuthenticatedPayloadTimeout,
    ]

    /// The commands that are answered by Command Status.
    private static let begun: [HCI.Opcode] = [
        .disconnect, .leCreateConnection, .leExtendedCreateConnection, .leConnectionUpdate, .leReadRemoteFeatures,
        .leSetPHY, .readRemoteVersionInformation, .leEnableEncryption,
    ]

    /// What the controller answers to a command; `nil` if it keeps silent.
    func answer(to command: HCICommandPacket) -> HCIEventPacket? {
        let opcode = command.opcode
        guard !isMute, !silent.contains(opcode.wire) else { return nil }
        var status = refused[opcode.wire] ?? .success
        if case .leCreateConnection(let create) = command, create.parameters.minimum.duration < leastInterval {
            status = .unsupportedFeatureOrParameterValue
        }
        if Self.begun.contains(opcode) || status == .unknownCommand {
            return .commandStatus(.init(status: status, opcode: opcode))
        }
        let parameters = status == .success ? returned(by: opcode) : [status.wire]
        return .commandComplete(.init(allowed: 1, opcode: opcode, parameters: parameters))
    }

    private func returned(by opcode: HCI.Opcode) -> [UInt8] {
        switch opcode {
        case .readLocalSupportedCommands:
            HCI.ReadLocalSupportedCommands.Return(status: .success, commands: commands).encoded
        case .readLocalVersionInformation:
            HCI.ReadLocalVersionInformation.Return(
                status: .success,
                hciVersion: HCI.CoreVersion(wire: 12),
                hciSubversion: subversion,
                linkVersion: HCI.CoreVersion(wire: 12),
                company: company,
                linkSubversion: 0
            ).encoded
        case .readLocalSupportedFeatures:
            HCI.ReadLocalSupportedFeatures.Return(status: .success, features: classicFeatures).encoded
        case .readBDADDR: HCI.ReadBDADDR.Return(status: .success, address: address).encoded
        case .leReadLocalSupportedFeatures:
            HCI.LEReadLocalSupportedFeatures.Return(status: .success, features: features).encoded
        case .leReadBufferSize:
            HCI.LEReadBufferSize.Return(status: .success, aclLength: buffers.length, aclCount: buffers.count).encoded
        case .readBufferSize:
            HCI.ReadBufferSize.Return(
                status: .success,
                aclLength: sharedBuffers.length,
                synchronousLength: 0,
                aclCount: sharedBuffers.count,
                synchronousCount: 0
            ).encoded
        case .leReadFilterAcceptListSize:
            HCI.LEReadFilterAcceptListSize.Return(status: .success, size: acceptListSize).encoded
        case .leReadResolvingListSize:
            HCI.LEReadResolvingListSize.Return(status: .success, size: resolvingListSize).encoded
        case .leReadSupportedStates: HCI.LEReadSupportedStates.Return(status: .success, states: states).encoded
        case .leReadMaximumDataLength:
            HCI.LEReadMaximumDataLength.Return(
                status: .success,
                transmitOctets: 251,
                transmitTime: 2120,
                receiveOctets: 251,
                receiveTime: 2120
            ).encoded
        case .readRSSI:
            HCI.ReadRSSI.Return(status: .success, handle: .lowest, rssi: RSSI(dBm: -60)).encoded
        default: [HCI.Status.success.wire]
        }
    }
}
