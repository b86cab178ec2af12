extension HCI {
    /// Creates the event with which a controller reports that a command has failed.
    ///
    /// For a command with return parameters, the event is Command Complete, with meaningless parameters after the
    /// status. For other commands, including unknown ones, the event is Command Status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.14 and 7.7.15.
    package static func refusal(of opcode: Opcode, _ status: Status) -> HCIEventPacket {
        guard let command = commands.first(where: { $0.opcode == opcode }) else {
            return .commandStatus(.init(status: status, opcode: opcode))
        }
        var parameters = blankReturn(of: command)
        guard !parameters.isEmpty else { return .commandStatus(.init(status: status, opcode: opcode)) }
        parameters[0] = status.wire
        return .commandComplete(.init(allowed: 1, opcode: opcode, parameters: parameters))
    }

    private static func blankReturn<Command: HCICommand>(of _: Command.Type) -> [UInt8] { Command.Return().encoded }
}
