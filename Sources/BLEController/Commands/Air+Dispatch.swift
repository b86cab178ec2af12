import BLEWire

extension Air {
    /// Executes a command from a controller's host.
    ///
    /// Every command is answered exactly once.
    mutating func perform(_ command: HCICommandPacket, _ controller: Int) {
        if performSetup(command, controller) || performAdvertising(command, controller)
            || performScanning(command, controller) || performLink(command, controller)
            || performPrivacy(command, controller) || performKeys(command, controller)
        {
            return
        }
        preconditionFailure("a claimed command is not implemented: \(command)")
    }

    /// Rejects a command if the host already uses commands of the other generation (legacy or extended); returns
    /// whether it rejected the command.
    mutating func refuses(
        _ generation: VirtualController.Generation,
        _ opcode: HCI.Opcode,
        _ controller: Int
    ) -> Bool {
        if controllers[controller].use(generation) { return false }
        fail(opcode, .commandDisallowed, controller)
        return true
    }
}
