import BLEWire
import Testing

@testable import BLEHost

@Suite("Setup of a controller")
struct ControllerSetupTests {
    static let fallback = DeviceAddress(0xC000_0000_0001, .random)

    /// What came of a setup, and which commands it took.
    static func run(
        _ controller: FakeController,
        isPrivate: Bool = false,
        doubting doubted: [HCI.Opcode] = []
    ) -> (end: ControllerSetup.OnAnswer, commands: [HCI.Opcode]) {
        var setup = ControllerSetup(address: nil, fallback: fallback, isPrivate: isPrivate, doubting: doubted)
        var command = setup.first, commands: [HCI.Opcode] = []
        while commands.count < 100 {
            commands.append(command.opcode)
            let event: ControllerSetup.OnAnswer
            switch controller.answer(to: command) {
            case .commandComplete(let answer):
                let status = HCI.Status(wire: answer.parameters.first ?? 0)
                event = (try? setup.answered(status, answer)) ?? setup.skip()
            case .commandStatus(let answer): event = (try? setup.answered(answer.status, nil)) ?? setup.skip()
            default: return (.broken, commands)
            }
            guard case .proceed(let next) = event else { return (event, commands) }
            command = next
        }
        return (.broken, commands)
    }

    @Test("Setup sends only commands that the controller supports, and none twice")
    func known() {
        for controller in [FakeController.old, .new, .plain] {
            let (end, commands) = Self.run(controller, isPrivate: true)
            guard case .ready(let description) = end else {
                Issue.record("the controller is of use")
                continue
            }
            #expect(Set(commands).count == commands.count)
            let optional: [HCI.Opcode] = [
                .setEventMaskPage2, .leReadMaximumDataLength, .leSetDefaultPHY, .leClearAdvertisingSets,
                .leReadResolvingListSize,
            ]
            for opcode in optional where commands.contains(opcode) {
                #expect(controller.commands.contains(opcode), "\(opcode)")
            }
            #expect(description.bufferSize == Int(controller.buffers.length))
        }
    }

    @Test("Setup does without refused commands, except indispensable ones")
    func refusals() {
        let all = Self.run(.new, isPrivate: true).commands
        let needed: [HCI.Opcode: ControllerSetup.OnAnswer] = [
            .reset: .broken, .readLocalSupportedFeatures: .refused(.noLowEnergy),
            .leReadLocalSupportedFeatures: .refused(.noLowEnergy),
            .leReadBufferSize: .refused(.noBuffers),
        ]
        for opcode in all {
            var controller = FakeController.new
            controller.refused[opcode.wire] = .memoryCapacityExceeded
            let end = Self.run(controller, isPrivate: true).end
            if let expected = needed[opcode] {
                #expect(end == expected, "\(opcode)")
            } else if case .ready = end {
            } else {
                Issue.record("\(opcode) can be done without")
            }
        }
    }

    @Test("Setup trusts no support for a command that the controller denies or that is in doubt")
    func unknown() {
        var controller = FakeController.new
        controller.refused[HCI.Opcode.leClearAdvertisingSets.wire] = .unknownCommand
        let (end, commands) = Self.run(controller, doubting: [.leSetDefaultPHY])
        guard case .ready(let description) = end else {
            Issue.record("the controller is of use")
            return
        }
        #expect(!description.commands.contains(.leClearAdvertisingSets))
        #expect(!commands.contains(.leSetDefaultPHY) && !description.commands.contains(.leSetDefaultPHY))
    }
}
