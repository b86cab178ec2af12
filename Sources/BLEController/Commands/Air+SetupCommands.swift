import BLEWire

extension Air {
    /// Executes the commands that set up the controller or read its properties; returns false for other commands.
    mutating func performSetup(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .reset:
            resetController(controller)
            complete(HCI.Reset.self, .success, controller)
        case .setEventMask(let command):
            controllers[controller].masks.page1 = command.mask
            complete(HCI.SetEventMask.self, .success, controller)
        case .setEventMaskPage2(let command):
            controllers[controller].masks.page2 = command.mask
            complete(HCI.SetEventMaskPage2.self, .success, controller)
        case .leSetEventMask(let command):
            controllers[controller].masks.le = command.mask
            complete(HCI.LESetEventMask.self, .success, controller)
        case .leSetRandomAddress(let command): setRandomAddress(command, controller)
        case .leWriteRFPathCompensation(let command):
            let isInRange = -1280...1280 ~= command.transmit && -1280...1280 ~= command.receive
            if isInRange { controllers[controller].compensation = (command.transmit, command.receive) }
            complete(
                HCI.LEWriteRFPathCompensation.self,
                isInRange ? .success : .invalidCommandParameters,
                controller
            )
        default: return performReading(command, controller)
        }
        return true
    }

    private mutating func performReading(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        let identity = controllers[controller].identity
        switch command {
        case .readLocalVersionInformation:
            let version = HCI.CoreVersion(wire: identity.profile.version)
            let value = HCI.ReadLocalVersionInformation.Return(
                status: .success,
                hciVersion: version,
                hciSubversion: identity.subversion,
                linkVersion: version,
                company: VirtualController.company,
                linkSubversion: VirtualController.subversion
            )
            complete(HCI.ReadLocalVersionInformation.self, value, controller)
        case .readLocalSupportedCommands:
            let commands = controllers[controller].commands
            complete(HCI.ReadLocalSupportedCommands.self, .init(status: .success, commands: commands), controller)
        case .readLocalSupportedFeatures:
            // BR/EDR Not Supported, LE Supported (Controller).
            let features: UInt64 = 1 << 37 | 1 << 38
            complete(HCI.ReadLocalSupportedFeatures.self, .init(status: .success, features: features), controller)
        case .readBDADDR:
            complete(HCI.ReadBDADDR.self, .init(status: .success, address: identity.address), controller)
        case .leReadBufferSize:
            let value = HCI.LEReadBufferSize.Return(
                status: .success,
                aclLength: UInt16(controllers[controller].aclLength),
                aclCount: UInt8(VirtualController.aclCount)
            )
            complete(HCI.LEReadBufferSize.self, value, controller)
        case .leReadLocalSupportedFeatures:
            let value = HCI.LEReadLocalSupportedFeatures.Return(status: .success, features: identity.profile.features)
            complete(HCI.LEReadLocalSupportedFeatures.self, value, controller)
        default: return performPowerReading(command, controller)
        }
        return true
    }

    private mutating func performPowerReading(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leReadSupportedStates:
            // The controller supports every combination of states and roles that the specification defines.
            let value = HCI.LEReadSupportedStates.Return(status: .success, states: 0x0000_03FF_FFFF_FFFF)
            complete(HCI.LEReadSupportedStates.self, value, controller)
        case .leReadTransmitPower:
            let value = HCI.LEReadTransmitPower.Return(
                status: .success,
                minimum: TransmitPower(dBm: Int8(VirtualController.powers.lowerBound)),
                maximum: TransmitPower(dBm: Int8(VirtualController.powers.upperBound))
            )
            complete(HCI.LEReadTransmitPower.self, value, controller)
        case .leReadRFPathCompensation:
            let value = controllers[controller].compensation
            complete(
                HCI.LEReadRFPathCompensation.self,
                .init(status: .success, transmit: value.transmit, receive: value.receive),
                controller
            )
        default: return false
        }
        return true
    }

    /// Sets the controller's random address; rejects the command during legacy advertising, scanning and initiating.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.4.
    private mutating func setRandomAddress(_ command: HCI.LESetRandomAddress, _ controller: Int) {
        let board = controllers[controller]
        let advertises = board.generation == .legacy && board.sets.contains { $0.isEnabled }
        guard !advertises, !board.scanner.isEnabled, board.initiator == nil else {
            return complete(HCI.LESetRandomAddress.self, .commandDisallowed, controller)
        }
        controllers[controller].randomAddress = command.address
        complete(HCI.LESetRandomAddress.self, .success, controller)
    }
}

/// The event masks that a host has set.
///
/// Core 6.0, Vol 4, Part E, 7.3.1, 7.3.69 and 7.8.1.
struct EventMasks: Sendable {
    var page1 = EventMask.standard
    var page2 = EventMaskPage2.none
    var le = LEEventMask.standard

    /// Returns whether the masks allow `event`.
    func allow(_ event: HCIEventPacket) -> Bool {
        if let subevent = event.subevent { return allow(subevent) }
        return allow(event.code)
    }

    /// Returns whether the masks allow a non-LE event.
    func allow(_ code: HCI.EventCode) -> Bool { code.wire >= 0x40 ? page2.allows(code) : page1.allows(code) }

    /// Returns whether the masks allow an LE event.
    func allow(_ subevent: HCI.LESubevent) -> Bool { page1.allows(.leMeta) && le.allows(subevent) }
}
