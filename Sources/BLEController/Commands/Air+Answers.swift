import BLEWire

extension Air {
    /// Sends an event to a controller's host, unless the host's event mask or a fault suppresses the event.
    mutating func emit(_ event: HCIEventPacket, to controller: Int, at instant: Instant) {
        guard controllers[controller].masks.allow(event), !drawEventLoss(controller) else { return }
        outbox.add(.hci(event.encoded, to: ControllerID(rawValue: controller)), at: instant, now: now)
    }

    /// Decides whether a non-LE event is sent to a controller's host: the event mask or a fault may suppress it.
    mutating func decideToSend(_ code: HCI.EventCode, _ controller: Int) -> Bool {
        controllers[controller].masks.allow(code) && !drawEventLoss(controller)
    }

    /// Decides whether an LE event is sent to a controller's host: the event mask or a fault may suppress it.
    mutating func decideToSend(_ subevent: HCI.LESubevent, _ controller: Int) -> Bool {
        controllers[controller].masks.allow(subevent) && !drawEventLoss(controller)
    }

    /// Decides whether a fault suppresses an event for a controller's host.
    private mutating func drawEventLoss(_ controller: Int) -> Bool {
        let faults = controllers[controller].faults
        guard !faults.isMute else { return true }
        guard faults.dropEvents > 0, path.random.happens(faults.dropEvents) else { return false }
        note(.droppedEvent, controller)
        return true
    }

    /// Sends Command Status, which reports that a command has started or why it cannot start.
    mutating func status(_ status: HCI.Status, of opcode: HCI.Opcode, _ controller: Int) {
        emit(.commandStatus(.init(status: status, opcode: opcode)), to: controller, at: now)
    }

    /// Sends Command Complete with return parameters.
    mutating func complete<Command: HCICommand>(
        _ command: Command.Type,
        _ value: Command.Return,
        _ controller: Int
    ) {
        emit(.commandComplete(.init(command, returning: value)), to: controller, at: now)
    }

    /// Sends Command Complete with only a status.
    mutating func complete<Command: HCICommand>(
        _ command: Command.Type,
        _ status: HCI.Status,
        _ controller: Int
    ) where Command.Return == HCI.StatusReturn {
        complete(command, .init(status: status), controller)
    }

    /// Reports that a command has failed, with the event (Command Status or Command Complete) that would also report
    /// success.
    mutating func fail(_ opcode: HCI.Opcode, _ status: HCI.Status, _ controller: Int) {
        emit(HCI.refusal(of: opcode, status), to: controller, at: now)
    }
}
