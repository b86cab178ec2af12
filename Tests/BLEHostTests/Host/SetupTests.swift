import BLEHost
import BLEWire
import Testing

@Suite("Controller setup")
struct SetupTests {
    @Test(
        "A controller is reset first, and is ready once all commands are answered",
        arguments: [FakeController.old, .new]
    )
    func ready(controller: FakeController) {
        let rig = Rig.ready(controller)
        #expect(rig.commands.first == .reset)
        let features: [ClientEvent] =
            controller.features.contains(.extendedAdvertising) ? [.featuresChanged(.extendedScanAndConnect)] : []
        #expect(rig.events(of: Rig.central) == [.knownPeers([])] + features + [.stateChanged(.poweredOn)])
        #expect(rig.events(of: Rig.peripheral) == [.stateChanged(.poweredOn)])
        #expect(rig.notes.isEmpty)
    }

    @Test("Only commands that the controller supports are sent", arguments: [FakeController.old, .new])
    func known(controller: FakeController) {
        let rig = Rig.ready(controller)
        for command in rig.commands { #expect(controller.commands.contains(command.opcode), "\(command.opcode)") }
        #expect(!rig.commands.contains { $0.opcode == .writeAuthenticatedPayloadTimeout })
    }

    @Test("A controller without a public address gets a random static one")
    func randomAddress() {
        var controller = FakeController.old
        controller.address = .none
        let addresses = Rig.ready(controller).commands.compactMap { command in
            if case .leSetRandomAddress(let set) = command { set.address } else { nil }
        }
        #expect(addresses.map(\.randomKind) == [.static])
    }

    @Test(
        "Peers are stored only for controllers with an assigned manufacturer",
        arguments: [0x0059, 0xFFFF] as [UInt16]
    )
    func lastingPeers(company: UInt16) {
        var controller = FakeController.old
        controller.company = company
        let isLasting = Rig.ready(controller).host.hasLastingPeers
        #expect(isLasting == (company != 0xFFFF))
        controller.refused = [HCI.Opcode.readLocalVersionInformation.wire: .unknownCommand]
        let isAssumed = Rig.ready(controller).host.hasLastingPeers
        #expect(isAssumed)
    }

    @Test(
        "Stored peers of a virtual radio are requested once, before apps see the radio, if it names its run",
        arguments: [
            (0xFFFF, 0, false), (0xFFFF, 1, false), (0xFFFF, 2, true), (0xFFFF, 0xFFFF, true), (0x0059, 2, false),
        ]
            as [(UInt16, UInt16, Bool)]
    )
    func recall(company: UInt16, subversion: UInt16, isAsked: Bool) {
        var controller = FakeController.old
        (controller.company, controller.subversion) = (company, subversion)
        let rig = Rig.ready(controller)
        let radio = VirtualRadio(address: controller.address, run: subversion)
        #expect(rig.recalled == (isAsked ? [radio] : []))
        #expect(rig.host.virtualRadio == (isAsked ? radio : nil))
    }

    @Test("A controller without LE is refused with a clear reason")
    func noLowEnergy() {
        var controller = FakeController.old
        controller.classicFeatures = 0
        let rig = Rig.ready(controller)
        #expect(rig.events(of: Rig.central).last == .stateChanged(.unsupported))
        #expect(rig.notes == [.controllerRefused(.noLowEnergy)])
    }

    @Test("Without LE buffers the shared ones are used, and a controller without buffers is refused")
    func sharedBuffers() {
        var controller = FakeController.old
        controller.buffers = (0, 0)
        #expect(Rig.ready(controller).events(of: Rig.central).last == .stateChanged(.unsupported))
        controller.sharedBuffers = (310, 10)
        #expect(Rig.ready(controller).events(of: Rig.central).last == .stateChanged(.poweredOn))
    }

    @Test("If a controller stops responding, it is reset once, and then the transport is", arguments: 0..<12)
    func silence(step: Int) throws {
        let usual = Rig.ready(.old).commands
        var controller = FakeController.old
        controller.silent = [try #require(usual.indices.contains(step) ? usual[step].opcode.wire : nil)]
        let rig = Rig.ready(controller)
        rig.advance(by: .milliseconds(1_999))
        #expect(rig.commands.count == step + 1)
        rig.advance(by: .milliseconds(1))
        #expect(rig.commands.filter { $0 == .reset }.count == 2)
        #expect(rig.transportResets == 0)
        rig.advance(by: .seconds(3))
        #expect(rig.transportResets == 1)
        #expect(rig.commands.filter { $0 == .reset }.count == 2)
        #expect(rig.host.deadline == nil)
    }

    @Test("Centrals receive the controller's optional features just before the state powered on")
    func features() {
        let event = ClientEvent.featuresChanged(.extendedScanAndConnect)
        let rig = Rig.ready(.new)
        #expect(rig.events(of: Rig.central).suffix(2) == [event, .stateChanged(.poweredOn)])
        #expect(!rig.events(of: Rig.peripheral).contains(event))
        let late = ClientID(rawValue: 77)
        rig.host.open(late, role: .central, at: rig.now)
        rig.pump()
        #expect(rig.events(of: late).suffix(2) == [event, .stateChanged(.poweredOn)])
        #expect(!Rig.ready(.old).events(of: Rig.central).contains(event))
    }

    @Test("The host does without a refused command where possible")
    func refusals() {
        let usual = Rig.ready(.new).commands.map(\.opcode)
        let essential: [HCI.Opcode] = [.reset, .readLocalSupportedFeatures, .leReadLocalSupportedFeatures]
        for opcode in usual where !essential.contains(opcode) && opcode != .leReadBufferSize {
            var controller = FakeController.new
            controller.refused = [opcode.wire: .unknownCommand]
            #expect(Rig.ready(controller).events(of: Rig.central).last == .stateChanged(.poweredOn), "\(opcode)")
        }
    }

    @Test("Invalid return parameters neither crash nor block the host", arguments: 0..<16)
    func nonsense(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for length in 0..<12 {
            let rig = Rig(.new)
            rig.host.open(Rig.central, role: .central, at: rig.now)
            rig.controller.isMute = true
            rig.host.transportOpened(at: rig.now)
            rig.pump()
            for _ in 0..<40 {
                guard let opcode = rig.commands.last?.opcode else { break }
                let octets: [UInt8] = (0..<length).map { _ in .random(in: 0...255, using: &random) }
                rig.inject(.commandComplete(.init(allowed: 1, opcode: opcode, parameters: [0] + octets)))
            }
            rig.advance(by: .seconds(10))
        }
    }

    @Test("A hardware error sets the controller up again")
    func hardwareError() {
        let rig = Rig.ready()
        rig.forget()
        rig.inject(.hardwareError(.init(code: 7)))
        #expect(rig.events(of: Rig.central) == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
        #expect(rig.notes == [.hardwareError(7)])
    }

    @Test(
        "The state tells why no controller is available, and recovers when one appears",
        arguments: [(.missing, .unsupported), (.forbidden, .unauthorized), (.switchedOff, .poweredOff)]
            as [(Host.Absence, HostState)]
    )
    func absent(absence: Host.Absence, state: HostState) {
        let rig = Rig()
        rig.host.open(Rig.central, role: .central, at: rig.now)
        rig.host.transportAbsent(absence, at: rig.now)
        rig.pump()
        #expect(rig.events(of: Rig.central) == [.knownPeers([]), .stateChanged(state)])
        rig.host.transportOpened(at: rig.now)
        rig.pump()
        #expect(rig.events(of: Rig.central).last == .stateChanged(.poweredOn))
    }
}
