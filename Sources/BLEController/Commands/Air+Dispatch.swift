import BLEWire

extension Air {
    /// Executes a command.
    ///
    /// Every path responds once.
    mutating func perform(_ command: HCICommandPacket, _ controller: Int) {
        if performSetup(command, controller) || performAdvertising(command, controller)
            || performScanning(command, controller) || performLink(command, controller)
            || performPrivacy(command, controller) || performKeys(command, controller)
        {
            return
        }
        preconditionFailure("a claimed command is not implemented: \(command)")
    }

    /// Rejects a command of the other generation (legacy or extended); returns true if it did.
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
