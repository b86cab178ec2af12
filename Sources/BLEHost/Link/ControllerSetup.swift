import BLEWire

/// The setup of a controller, depending on what it supports.
///
/// Commands are sent one after the other. Commands that the controller does not support are left out, and optional
/// commands may fail. Write Authenticated Payload Timeout is not included, because it concerns encrypted links.
///
/// Core 6.0, Vol 4, Part E, 4.2 and 7; Vol 6, Part D, 2.
struct ControllerSetup {
    private enum Step: Int, CaseIterable {
        case reset, version, commands, classicFeatures, publicAddress, features, buffers, sharedBuffers
        case eventMask, eventMaskPage2, lowEnergyEventMask, hostSupport
        case acceptListSize, clearAcceptList, clearResolvingList, resolvingListSize, states
        case maximumDataLength, suggestedDataLength, defaultPHY, clearAdvertisingSets, randomAddress
    }

    private var step = Step.reset
    private(set) var controller = ControllerDescription()
    private let address: DeviceAddress?
    private let fallback: DeviceAddress
    private let isPrivate: Bool
    private let doubted: [HCI.Opcode]

    /// Creates a setup that sets the random address: `address` or, if it is `nil` and the controller has no public
    /// address, `fallback`.
    ///
    /// For a private host, the setup also reads the capacity of the resolving list. Commands in `doubted` are treated
    /// as unsupported.
    init(
        address: DeviceAddress?,
        fallback: DeviceAddress,
        isPrivate: Bool = false,
        doubting doubted: [HCI.Opcode] = []
    ) {
        self.doubted = doubted
        self.address = address
        self.fallback = fallback
        self.isPrivate = isPrivate
        controller.randomAddress = address ?? fallback
    }

    /// The first command.
    var first: HCICommandPacket { .reset }

    enum OnAnswer: Equatable {
        case proceed(HCICommandPacket)
        case ready(ControllerDescription)
        /// The host cannot use this controller; the associated value is the reason.
        case refused(Note.Refusal)
        /// The controller cannot be used, because even its reset failed.
        case broken
    }

    /// Processes the answer to the command that was sent last.
    ///
    /// - Parameters:
    ///   - status: The status of the command.
    ///   - answer: The Command Complete event with the return parameters; `nil` if the answer was Command Status.
    /// - Returns: The next action.
    /// - Throws: `PacketError` if the answer is malformed; the setup then continues with ``skip()``.
    mutating func answered(_ status: HCI.Status, _ answer: HCI.CommandComplete?) throws(PacketError) -> OnAnswer {
        if status == .success, let answer { try read(answer) }
        return proceed(status)
    }

    /// Continues after a malformed answer, as if the controller had rejected the command.
    mutating func skip() -> OnAnswer { proceed(.unspecifiedError) }

    private mutating func proceed(_ status: HCI.Status) -> OnAnswer {
        switch step {
        case .reset: guard status == .success else { return .broken }
        case .publicAddress:
            if let address { controller.address = address }
            if !controller.address.isAssigned { controller.address = fallback }
        case .features: guard status == .success, controller.isLowEnergy else { return .refused(.noLowEnergy) }
        case .sharedBuffers: guard hasBuffers else { return .refused(.noBuffers) }
        default: break
        }
        if status == .unknownCommand, let opcode = command(for: step)?.opcode { controller.commands.remove(opcode) }
        while let next = Step(rawValue: step.rawValue + 1) {
            step = next
            if let command = command(for: next) { return .proceed(command) }
        }
        return .ready(controller)
    }

    private var hasBuffers: Bool { controller.bufferSize > 0 && controller.bufferCount > 0 }

    /// Returns the command of a step; `nil` if this controller does not need or support it.
    private func command(for step: Step) -> HCICommandPacket? {
        switch step {
        case .reset: .reset
        case .version: .readLocalVersionInformation
        case .commands: .readLocalSupportedCommands
        case .classicFeatures: .readLocalSupportedFeatures
        case .publicAddress: .readBDADDR
        case .features: .leReadLocalSupportedFeatures
        case .buffers: .leReadBufferSize
        case .sharedBuffers: hasBuffers ? nil : .readBufferSize
        case .eventMask: .setEventMask(.init(mask: Self.events))
        case .eventMaskPage2: ifKnown(.setEventMaskPage2(.init(mask: .none)))
        case .lowEnergyEventMask: .leSetEventMask(.init(mask: lowEnergyEvents))
        case .hostSupport: controller.isDualMode ? ifKnown(.writeLEHostSupport(.init(supported: true))) : nil
        case .acceptListSize: ifKnown(.leReadFilterAcceptListSize)
        case .clearAcceptList: ifKnown(.leClearFilterAcceptList)
        case .clearResolvingList: controller.features.contains(.privacy) ? ifKnown(.leClearResolvingList) : nil
        case .resolvingListSize:
            isPrivate && controller.features.contains(.privacy) ? ifKnown(.leReadResolvingListSize) : nil
        case .states: ifKnown(.leReadSupportedStates)
        case .maximumDataLength:
            controller.features.contains(.dataPacketLengthExtension) ? ifKnown(.leReadMaximumDataLength) : nil
        case .suggestedDataLength:
            controller.dataLength.flatMap {
                ifKnown(.leWriteSuggestedDefaultDataLength(.init(octets: $0.octets, time: $0.time)))
            }
        case .defaultPHY:
            controller.features.contains(.phy2M)
                ? ifKnown(.leSetDefaultPHY(.init(noPreference: [.transmitter, .receiver], transmit: [], receive: [])))
                : nil
        case .clearAdvertisingSets: controller.usesExtendedCommands ? ifKnown(.leClearAdvertisingSets) : nil
        case .randomAddress:
            controller.address.kind == .public ? nil : .leSetRandomAddress(.init(address: controller.address))
        }
    }

    private func ifKnown(_ command: HCICommandPacket) -> HCICommandPacket? {
        controller.commands.contains(command.opcode) ? command : nil
    }

    private static let events: EventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]

    /// The event mask with the LE events that this controller supports.
    ///
    /// A controller may reject a mask with other events.
    private var lowEnergyEvents: LEEventMask {
        let features = controller.features
        var masks: [LEEventMask] = [.standard]
        if features.contains(.connectionParametersRequest) { masks.append([.remoteConnectionParameterRequest]) }
        if features.contains(.dataPacketLengthExtension) { masks.append([.dataLengthChange]) }
        if features.contains(.privacy) { masks.append([.enhancedConnectionComplete, .directedAdvertisingReport]) }
        if features.contains(.phy2M) || features.contains(.phyCoded) { masks.append([.phyUpdateComplete]) }
        if controller.usesExtendedCommands {
            masks.append([.enhancedConnectionComplete, .extendedAdvertisingReport, .advertisingSetTerminated])
        }
        return LEEventMask(wire: masks.reduce(0) { $0 | $1.wire })
    }

    private mutating func read(_ answer: HCI.CommandComplete) throws(PacketError) {
        switch step {
        case .version:
            let version = try answer.returned(by: HCI.ReadLocalVersionInformation.self)
            controller.company = CompanyIdentifier(wire: version.company)
            controller.subversion = version.hciSubversion
        case .commands:
            controller.commands = try answer.returned(by: HCI.ReadLocalSupportedCommands.self).commands
            for opcode in doubted { controller.commands.remove(opcode) }
        case .classicFeatures:
            controller.classicFeatures = try answer.returned(by: HCI.ReadLocalSupportedFeatures.self).features
        case .publicAddress: controller.address = try answer.returned(by: HCI.ReadBDADDR.self).address
        case .features:
            controller.claimedFeatures = try answer.returned(by: HCI.LEReadLocalSupportedFeatures.self).features
        case .buffers:
            let buffers = try answer.returned(by: HCI.LEReadBufferSize.self)
            (controller.bufferSize, controller.bufferCount) = (Int(buffers.aclLength), Int(buffers.aclCount))
        case .sharedBuffers:
            let buffers = try answer.returned(by: HCI.ReadBufferSize.self)
            (controller.bufferSize, controller.bufferCount) = (Int(buffers.aclLength), Int(buffers.aclCount))
        case .acceptListSize:
            controller.acceptListSize = Int(try answer.returned(by: HCI.LEReadFilterAcceptListSize.self).size)
        case .resolvingListSize:
            controller.resolvingListSize = Int(try answer.returned(by: HCI.LEReadResolvingListSize.self).size)
        case .states: controller.states = try answer.returned(by: HCI.LEReadSupportedStates.self).states
        case .maximumDataLength:
            let longest = try answer.returned(by: HCI.LEReadMaximumDataLength.self)
            controller.dataLength = (longest.transmitOctets, longest.transmitTime)
        case .reset, .eventMask, .eventMaskPage2, .lowEnergyEventMask, .hostSupport, .clearAcceptList,
            .clearResolvingList, .suggestedDataLength, .defaultPHY, .clearAdvertisingSets, .randomAddress:
            break
        }
    }
}
