import BLERuntime
import BLEWire
import Glibc
import Testing

@Suite("Examination of adapters", .timeLimit(.minutes(30)))
struct AdapterExaminationTests {
    private static let first = AdapterIndex(wire: 0)

    /// Something that stands in the way, how it is said, and how it is cured.
    struct Case: CustomTestStringConvertible, Sendable {
        let code: Finding.Code
        var host: String?
        var subject = "hci0"
        let sentence: String
        let cure: String
        let break_: @Sendable (FakeKernel) -> Void
        let heal: @Sendable (FakeKernel) -> Void
        var testDescription: String { code.rawValue + (host.map { " of " + $0 } ?? "") }
    }

    private static let cases = [
        Case(
            code: .kernelWithoutBluetooth,
            subject: "kernel",
            sentence: "The kernel has no Bluetooth support",
            cure: "sudo modprobe bluetooth",
            break_: { $0.failSockets(EAFNOSUPPORT) },
            heal: { $0.failSockets(0) }
        ),
        Case(
            code: .networkOfContainer,
            subject: "kernel",
            sentence: "not in this program's network namespace",
            cure: "docker run --network=host",
            break_: {
                $0.hideBluetooth()
                $0.failSockets(EAFNOSUPPORT)
            },
            heal: { $0.failSockets(0) }
        ),
        Case(
            code: .kernelSilent,
            subject: "kernel",
            sentence: "Cannot list adapters",
            cure: "dmesg | tail",
            break_: { $0.refuse(.readExtendedIndexList, .failed) },
            heal: { $0.grant(.readExtendedIndexList) }
        ),
        Case(
            code: .notPermitted,
            subject: "/opt/app",
            sentence: "/opt/app may not use hci0",
            cure: "sudo setcap cap_net_admin+ep /opt/app",
            break_: { $0.forbid() },
            heal: { $0.allow() }
        ),
        Case(
            code: .noAdapter,
            subject: "adapters",
            sentence: "The machine has no Bluetooth adapter",
            cure: "dmesg | grep -i bluetooth",
            break_: { $0.unplug(first) },
            heal: { $0.plug(first, address: 0xA) }
        ),
        Case(
            code: .adapterMissing,
            host: "hci:5",
            subject: "hci:5",
            sentence: "hci:5 does not exist, only hci0",
            cure: "export BLUETOOTH_HOST=hci:0",
            break_: { _ in },
            heal: { $0.plug(AdapterIndex(wire: 5), address: 0xF) }
        ),
        Case(
            code: .adapterBlocked,
            sentence: "hci0 is blocked by software (rfkill)",
            cure: "rfkill unblock bluetooth",
            break_: { $0.block(first, .soft) },
            heal: { $0.block(first, nil) }
        ),
        Case(
            code: .adapterBlocked,
            host: "hci:0",
            sentence: "hci0 is blocked by software (rfkill)",
            cure: "rfkill unblock bluetooth",
            break_: { $0.block(first, .soft) },
            heal: { $0.block(first, nil) }
        ),
        Case(
            code: .adapterSwitchedOff,
            sentence: "hci0 is blocked by a hardware switch",
            cure: "with that switch",
            break_: { $0.block(first, .hard) },
            heal: { $0.block(first, nil) }
        ),
        Case(
            code: .adapterUsedByBlueZ,
            sentence: "hci0 is in use by bluetoothd (process 7)",
            cure: "bluetoothctl power off",
            break_: {
                $0.plug(first, address: 0xA, isPowered: true)
                $0.hold(by: AdapterHolder(process: 7, name: "bluetoothd"))
            },
            heal: { $0.plug(first, address: 0xA) }
        ),
        Case(
            code: .adapterTaken,
            host: "hci:00:00:00:00:00:0A",
            sentence: "hci0 is in use by node (process 12)",
            cure: "kill 12",
            break_: {
                $0.change(first) { $0.isTaken = true }
                $0.hold(by: AdapterHolder(process: 12, name: "node"))
            },
            heal: { $0.change(first) { $0.isTaken = false } }
        ),
        Case(
            code: .adapterUnconfigured,
            sentence: "hci0 has not been configured",
            cure: "sudo btmgmt --index 0 public-addr",
            break_: { $0.change(first) { $0.kind = .unconfigured } },
            heal: { $0.change(first) { $0.kind = .configured } }
        ),
        Case(
            code: .controllerWithoutLE,
            sentence: "hci0 does not support Bluetooth Low Energy",
            cure: "Use an adapter",
            break_: { $0.change(first) { $0.information.supported = [.powered, .classic] } },
            heal: { $0.change(first) { $0.information.supported = [.powered, .lowEnergy] } }
        ),
    ]

    @Test("An obstacle is a problem until its remedy is applied", arguments: cases)
    func obstacle(_ case: Case) async throws {
        let patient = Patient(`case`.host)
        `case`.break_(patient.kernel)
        let examination = await patient.examined()
        let finding = try #require(examination.findings(`case`.code).first)
        #expect(finding.severity == .problem && finding.subject == `case`.subject)
        #expect(finding.sentence.contains(`case`.sentence) && finding.sentence.hasSuffix("."))
        #expect("\(finding.cure ?? "") \(finding.command ?? "")".contains(`case`.cure))
        #expect(examination.isObstructed)
        `case`.heal(patient.kernel)
        let after = await patient.examined()
        #expect(after.findings(`case`.code).isEmpty && !after.isObstructed)
    }

    @Test("An obstacle of an adapter that is not needed is not a problem", arguments: cases.filter { $0.host == nil })
    func elsewhere(_ case: Case) async {
        let patient = Patient("demo")
        `case`.break_(patient.kernel)
        let examination = await patient.examined()
        #expect(!examination.isObstructed)
        #expect(examination.findings.allSatisfy { $0.severity == .fact })
    }

    @Test("A missing permission is one problem, however many adapters there are")
    func rights() async {
        let patient = Patient(kernel: FakeKernel(0xA, 0xB, 0xC))
        patient.kernel.forbid()
        #expect(await patient.examined().findings.filter { $0.severity == .problem }.map(\.code) == [.notPermitted])
    }

    @Test("All problems of an adapter are reported together")
    func several() async {
        let patient = Patient()
        patient.kernel.forbid()
        patient.kernel.block(Self.first, .soft)
        let problems = await patient.examined().findings.filter { $0.severity == .problem }
        #expect(problems.map(\.code) == [.adapterBlocked, .notPermitted])
    }

    @Test("A named adapter is taken from BlueZ with a warning, and is not queried during the examination")
    func named() async throws {
        let patient = Patient("hci:0")
        patient.kernel.plug(Self.first, address: 0xA, isPowered: true)
        let examination = await patient.examined(asking: true)
        #expect(!examination.isObstructed)
        #expect(examination.findings(.adapterUsedByBlueZ).map(\.severity) == [.warning])
        let finding = try #require(examination.findings(.controllerNotAsked).first)
        #expect(finding.command == "BLUETOOTH_HOST=hci:0 ble adapters --probe")
        #expect(patient.kernel.isPowered(Self.first))
    }

    @Test("The first unused adapter is chosen, and obstacles of other adapters are only facts")
    func chosen() async {
        let patient = Patient(kernel: FakeKernel(0xA, 0xB))
        patient.kernel.block(Self.first, .soft)
        let examination = await patient.examined()
        #expect(examination.findings(.hostChosen).map(\.subject) == ["hci:1"])
        #expect(examination.findings(.adapterBlocked).map(\.severity) == [.fact])
        #expect(examination.findings(.kernelReady).first?.sentence.contains("lists 2 adapters") == true)
        #expect(!examination.isObstructed)
    }

    @Test("A controller is queried if its adapter is unused, and missing features are findings")
    func asked() async throws {
        let kernel = FakeKernel(0xA), patient = Patient(kernel: kernel)
        async let examination = patient.examined(asking: true)
        await kernel.nextBinding()
        let none = [UInt8](repeating: 0, count: 9)
        let plain = ControllerAnswers.able.answering(.leReadLocalSupportedFeatures, with: none)
        while let command = kernel.writes(1, to: Self.first).first, command.count >= 4 {
            kernel.say(plain.answer(to: command), as: Self.first)
        }
        #expect(await examination.findings(.controllerWithoutEncryption).map(\.subject) == ["hci:0"])
        #expect(await !examination.isObstructed)
    }
}
