import BLERuntime
import BLEWire

/// What a controller answers, by opcode; which commands it says it knows follows from that.
struct ControllerAnswers: Sendable {
    var answers: [(opcode: HCI.Opcode, parameters: [UInt8])]

    init(_ answers: [(HCI.Opcode, [UInt8])]) { self.answers = answers }

    /// A controller that can do what apps need.
    static let able = Self([
        (.reset, [0]), (.readLocalVersionInformation, [0, 0x0C, 1, 0, 0x0C, 0x59, 0x00, 2, 0]),
        (.readBDADDR, [0, 0x13, 0x71, 0xDA, 0x7D, 0x1A, 0x00]),
        (.leReadLocalSupportedFeatures, [0, 0x01, 0x01, 0, 0, 0, 0, 0, 0]), (.leReadBufferSize, [0, 0xFB, 0, 8]),
        (.leReadSupportedStates, [0] + [UInt8](repeating: 0xFF, count: 8)), (.leReadFilterAcceptListSize, [0, 16]),
    ])

    /// The same controller, but for one answer; `nil` if it does not know the command.
    func answering(_ opcode: HCI.Opcode, with parameters: [UInt8]?) -> Self {
        Self(answers.filter { $0.opcode != opcode } + (parameters.map { [(opcode, $0)] } ?? []))
    }

    /// The event that answers a command, both with their indicator.
    func answer(to command: [UInt8]) -> [UInt8] {
        let opcode = HCI.Opcode(wire: UInt16(command[1]) | UInt16(command[2]) << 8)
        let known = SupportedCommands(answers.map(\.opcode)).octets
        let parameters =
            opcode == .readLocalSupportedCommands
            ? [0] + known : answers.first { $0.opcode == opcode }?.parameters ?? [HCI.Status.unknownCommand.wire]
        let event = HCI.CommandComplete(allowed: 1, opcode: opcode, parameters: parameters)
        return HCIEventPacket.commandComplete(event).encoded
    }

    /// Has a controller answer what it is asked, for as long as somebody asks.
    func speak(as controller: ScriptedController) -> Task<Void, Never> {
        Task {
            // Each question is a command without parameters.
            for end in stride(from: 4, to: .max, by: 4) {
                let octets = await controller.received(end)
                controller.send(answer(to: Array(octets[(end - 4)..<end])))
            }
        }
    }
}
