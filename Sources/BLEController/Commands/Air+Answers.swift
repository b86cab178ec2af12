import BLEWire

extension Air {
    /// Lets the host of a controller have an event, if it wants to see it.
    mutating func emit(_ event: HCIEventPacket, to controller: Int, at instant: Instant) {
        guard controllers[controller].masks.allow(event), !loses(controller) else { return }
        outbox.add(.hci(event.encoded, to: ControllerID(rawValue: controller)), at: instant, now: now)
    }

    /// Whether the host of a controller is to have an event now that is none of LE.
    mutating func admits(_ code: HCI.EventCode, _ controller: Int) -> Bool {
        controllers[controller].masks.allow(code) && !loses(controller)
    }

    /// Whether the host of a controller is to have an LE event now.
    mutating func admits(_ subevent: HCI.LESubevent, _ controller: Int) -> Bool {
        controllers[controller].masks.allow(subevent) && !loses(controller)
    }

    /// Whether a fault keeps the host of a controller from an event that it would see.
    private mutating func loses(_ controller: Int) -> Bool {
        let faults = controllers[controller].faults
        guard !faults.isMute else { return true }
        guard faults.dropEvents > 0, path.random.happens(faults.dropEvents) else { return false }
        note(.droppedEvent, controller)
        return true
    }

    /// Answers a command that takes time: it has begun, or cannot.
    mutating func status(_ status: HCI.Status, of opcode: HCI.Opcode, _ controller: Int) {
        emit(.commandStatus(.init(status: status, opcode: opcode)), to: controller, at: now)
    }

    /// Answers a command that is done.
    mutating func complete<Command: HCICommand>(
        _ command: Command.Type,
        _ value: Command.Return,
        _ controller: Int
    ) {
        emit(.commandComplete(.init(command, returning: value)), to: controller, at: now)
    }

    /// Answers a command that says no more than whether it worked.
    mutating func complete<Command: HCICommand>(
        _ command: Command.Type,
        _ status: HCI.Status,
        _ controller: Int
    ) where Command.Return == HCI.StatusReturn {
        complete(command, .init(status: status), controller)
    }

    /// Answers a command that fails, in the form in which it would be answered if it did not.
    mutating func fail(_ opcode: HCI.Opcode, _ status: HCI.Status, _ controller: Int) {
        emit(HCI.refusal(of: opcode, status), to: controller, at: now)
    }
}
