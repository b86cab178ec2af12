import BLEWire

/// A Bluetooth 4.0 controller that accepts all commands, and sends no events except in response to them.
enum ObedientController {
    /// The commands that a host may send to a Bluetooth 4.0 controller.
    private static let known: [HCI.Opcode] = [
        .disconnect, .setEventMask, .reset, .readLocalVersionInformation, .readLocalSupportedCommands,
        .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI, .leSetEventMask, .leReadBufferSize,
        .leReadLocalSupportedFeatures, .leSetRandomAddress, .leSetAdvertisingParameters, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
        .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
        .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
        .leReadRemoteFeatures, .leReadSupportedStates,
    ]

    /// The commands to which the controller responds with Command Status.
    private static let begun: [HCI.Opcode] = [
        .disconnect, .leCreateConnection, .leConnectionUpdate, .leReadRemoteFeatures,
    ]

    /// Returns the event with which the controller responds to a command.
    static func answer(to command: HCICommandPacket) -> HCIEventPacket {
        let opcode = command.opcode
        if begun.contains(opcode) { return .commandStatus(.init(status: .success, opcode: opcode)) }
        return .commandComplete(.init(allowed: 1, opcode: opcode, parameters: returned(by: opcode)))
    }

    private static func returned(by opcode: HCI.Opcode) -> [UInt8] {
        switch opcode {
        case .readLocalVersionInformation: HCI.ReadLocalVersionInformation.Return().encoded
        case .readLocalSupportedCommands:
            HCI.ReadLocalSupportedCommands.Return(status: .success, commands: SupportedCommands(known)).encoded
        case .readLocalSupportedFeatures:
            HCI.ReadLocalSupportedFeatures.Return(status: .success, features: 1 << 37 | 1 << 38).encoded
        case .readBDADDR:
            HCI.ReadBDADDR.Return(status: .success, address: DeviceAddress(0x0000_1234_5678_9ABC, .public)).encoded
        case .leReadLocalSupportedFeatures:
            HCI.LEReadLocalSupportedFeatures.Return(status: .success, features: .encryption).encoded
        case .leReadBufferSize:
            HCI.LEReadBufferSize.Return(status: .success, aclLength: 251, aclCount: 8).encoded
        case .leReadFilterAcceptListSize:
            HCI.LEReadFilterAcceptListSize.Return(status: .success, size: 8).encoded
        case .leReadSupportedStates: HCI.LEReadSupportedStates.Return(status: .success, states: .max).encoded
        default: [HCI.Status.success.wire]
        }
    }
}
