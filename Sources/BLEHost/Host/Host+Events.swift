import BLEWire

// Events of a controller that is ready.
extension Host {
    mutating func receive(_ event: HCIEventPacket, from controller: ControllerDescription, at now: Instant) {
        switch event {
        case .leExtendedAdvertisingReport(let event):
            scanner.noteReport()
            received(event.reports, at: now)
        case .leDirectedAdvertisingReport(let event): received(event.reports, at: now)
        case .leConnectionComplete(let event):
            connectionCompleted(event.status, event.link, from: controller, at: now)
        case .leEnhancedConnectionComplete(let event):
            connectionCompleted(event.status, event.link, from: controller, at: now)
        case .disconnectionComplete(let event): disconnected(event, at: now)
        case .leAdvertisingSetTerminated(let event): setEnded(event)
        case .leReadRemoteFeaturesComplete(let event): tune(event, from: controller, at: now)
        case .leRemoteConnectionParameterRequest(let event): answer(event, at: now)
        case .leConnectionUpdateComplete(let event): updated(event, at: now)
        case .lePHYUpdateComplete(let event): updated(event, at: now)
        case .leDataLengthChange(let event): updated(event)
        case .leLongTermKeyRequest(let event): answer(event, at: now)
        case .leChannelSelectionAlgorithm, .leScanRequestReceived,
            .readRemoteVersionInformationComplete, .leTransmitPowerReporting:
            break
        case .dataBufferOverflow: note(.unexpectedEvent(.dataBufferOverflow))
        case .encryptionChange(let event):
            encryptionChanged(event.handle, event.status, isOn: event.encryption != .off, at: now)
        case .encryptionChangeV2(let event):
            encryptionChanged(event.handle, event.status, isOn: event.encryption != .off, at: now)
        case .encryptionKeyRefreshComplete(let event):
            encryptionChanged(event.handle, event.status, isOn: true, at: now)
        case .authenticatedPayloadTimeoutExpired: note(.unexpectedEvent(.authenticatedPayloadTimeoutExpired))
        case .leReadLocalP256PublicKeyComplete, .leGenerateDHKeyComplete, .leScanTimeout:
            note(.unexpectedEvent(.leMeta))
        case .unknown(let code, _): note(.unexpectedEvent(code))
        case .unknownLE: note(.unexpectedEvent(.leMeta))
        case .commandComplete, .commandStatus, .hardwareError, .numberOfCompletedPackets, .leAdvertisingReport:
            preconditionFailure("these events are handled before the controller's state is looked up")
        }
    }

    /// Records that buffers of a link are free again.
    mutating func completed(_ entry: HCI.CompletedPackets, at now: Instant) {
        guard case .ready = phase else { return }
        switch scheduler.completed(Int(entry.count), on: entry.handle) {
        case .freed: confirmPairing(on: entry.handle, at: now)
        case .clamped(let counted):
            note(.creditsClamped(entry.handle, claimed: Int(entry.count), counted: counted))
        case .noLink: note(.unknownLink(entry.handle))
        }
    }

    /// Processes the controller's answer to a command.
    ///
    /// `answer` is the Command Complete event with the return parameters; `nil` if the answer was Command Status.
    /// `allowed` is the number of commands that the controller can accept now.
    mutating func answered(
        _ opcode: HCI.Opcode,
        _ status: HCI.Status,
        _ answer: HCI.CommandComplete?,
        allowed: UInt8,
        at now: Instant
    ) {
        switch commands.answered(opcode, allowed: allowed, at: now) {
        case .credits: break
        case .unexpected: note(.unexpectedAnswer(opcode))
        case .answered(let owner):
            if status != .success { note(.commandFailed(opcode, status)) }
            deliver(status, answer, to: owner, at: now)
            if status == .unknownCommand { markUnsupported(opcode, at: now) }
        }
    }

    /// Stops using a command that the controller lists as supported but rejects.
    ///
    /// If it is one of the extended commands that the host uses, the host resets the controller and uses legacy
    /// commands.
    private mutating func markUnsupported(_ opcode: HCI.Opcode, at now: Instant) {
        guard case .ready(var controller) = phase, controller.commands.contains(opcode) else { return }
        let wasExtended = controller.usesExtendedCommands
        controller.commands.remove(opcode)
        describe(controller)
        unknownCommands.append(opcode)
        if wasExtended != controller.usesExtendedCommands { recover(at: now) }
    }

    private mutating func deliver(
        _ status: HCI.Status,
        _ answer: HCI.CommandComplete?,
        to owner: CommandQueue.Owner,
        at now: Instant
    ) {
        switch owner {
        case .setup: setupAnswered(status, answer, at: now)
        case .scanner: scanner.answered(status, at: now)
        case .initiator: initiatorAnswered(status, at: now)
        case .advertiser(let set): advertiserAnswered(status, in: set, at: now)
        case .privacy: privacyAnswered(status, at: now)
        case .link, .reply: break
        case .encryption(let link): encryptionAnswered(status, on: link, at: now)
        case .linkRequest(let link, let number): answered(number, status, answer, on: link, at: now)
        case .disconnection(let link):
            // The controller does not know this link, so it will not report the end of the link.
            if status == .unknownConnectionIdentifier { ended(link, .connectionTerminatedByLocalHost, at: now) }
        }
    }
}
