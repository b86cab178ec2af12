import BLERuntime
import BLEWire
import Foundation
import Glibc
import Testing

@Suite("Examination of environment variables", .timeLimit(.minutes(30)))
struct PlaceExaminationTests {
    @Test(
        "An invalid variable is reported, and its remedy makes it valid",
        arguments: [
            ("BLUETOOTH_HOST", "hci", Finding.Code.hostMalformed), ("BLUETOOTH_HOST", "tcp:nowhere", .hostMalformed),
            ("BLUETOOTH_HOST", "nonsense", .hostMalformed), ("BLUETOOTH_HOST", "world:/nowhere", .worldUnusable),
            ("BLUETOOTH_PRIVACY", "yes", .variableNotUnderstood), ("BLUETOOTH_LOG", "loud", .variableNotUnderstood),
            ("BLUETOOTH_BACKGROUND_MODES", "central", .variableNotUnderstood),
            ("BLUETOOTH_CAPTURE", "/nowhere/at/all.pcapng", .captureUnusable),
            ("BLUETOOTH_CAPTURE", "/tmp/a.pcap", .captureUnusable),
        ]
    )
    func variable(name: String, value: String, code: Finding.Code) async throws {
        let patient = Patient()
        patient.variables[name] = value
        let before = await patient.examined()
        let finding = try #require(before.findings(code).first)
        #expect(before.isObstructed == (name == HostSpecification.variable))
        #expect(value.isEmpty || finding.sentence.contains(value.replacing("world:", with: "")))
        try patient.carryOut(try #require(finding.command))
        let after = await patient.examined()
        #expect(after.findings(code).isEmpty && !after.isObstructed)
        let codes = after.findings.map(\.code)
        #expect(codes.contains { [.hostChosen, .hostSimulated].contains($0) })
        #expect(codes.contains(.variableSet) == (name != HostSpecification.variable))
    }

    @Test("An empty list of background modes is valid")
    func noModes() async throws {
        let patient = Patient()
        patient.variables = [BackgroundDeclaration.variable: ""]
        let findings = await patient.examined()
        #expect(findings.findings(.variableNotUnderstood).isEmpty)
        #expect(try #require(findings.findings(.variableSet).first).sentence.contains("suspended"))
    }

    @Test("Without a home directory nothing is stored and addresses are not private, until there is one")
    func nowhere() async throws {
        let patient = Patient()
        patient.variables = [ProgramEnvironment.privacyVariable: "on"]
        let before = await patient.examined()
        #expect(before.findings(.privacyWithoutState).count == 1)
        let finding = try #require(before.findings(.noStateFile).first)
        try patient.carryOut(try #require(finding.command))
        let after = await patient.examined()
        #expect(after.count(of: .warning) == 0)
        #expect(after.findings(.variableSet).map(\.subject) == [ProgramEnvironment.privacyVariable])
    }

    /// What is at a socket, and what is said of it.
    struct Speaker: CustomTestStringConvertible, Sendable {
        let code: Finding.Code
        let answers: ControllerAnswers?
        var noise: [UInt8] = []
        var drops = false
        var timeout = Duration.seconds(600)
        var severity = Finding.Severity.problem
        var testDescription: String { code.rawValue }
    }

    private static let speakers = [
        Speaker(code: .controllerSilent, answers: nil, timeout: .milliseconds(300)),
        Speaker(code: .connectionClosed, answers: nil, drops: true),
        Speaker(code: .controllerGarbled, answers: nil, noise: [0xFF, 0x00]),
        Speaker(code: .controllerBroken, answers: .able.answering(.reset, with: [0x1F])),
        Speaker(code: .controllerWithoutLE, answers: .able.answering(.leReadLocalSupportedFeatures, with: nil)),
        Speaker(
            code: .controllerWithoutBuffers,
            answers: .able.answering(.leReadBufferSize, with: [0, 0, 0, 0])
        ),
        Speaker(
            code: .controllerWithoutRole,
            answers: .able.answering(.leReadSupportedStates, with: [0, 0x3F, 0, 0, 0, 0, 0, 0, 0]),
            severity: .warning
        ),
        Speaker(
            code: .controllerWithoutEncryption,
            answers: .able.answering(.leReadLocalSupportedFeatures, with: [UInt8](repeating: 0, count: 9)),
            severity: .warning
        ),
    ]

    @Test("A problem of a controller on a socket is reported, and none for a working one", arguments: speakers)
    func speaker(_ speaker: Speaker) async throws {
        let controller = try ScriptedController()
        let patient = Patient("\(controller.address)")
        let task = speaker.answers?.speak(as: controller)
        if speaker.drops || !speaker.noise.isEmpty {
            Task {
                await controller.nextConnection()
                if speaker.drops { controller.drop() } else { controller.send(speaker.noise) }
            }
        }
        let before = await patient.examined(asking: true, within: speaker.timeout)
        task?.cancel()
        let finding = try #require(before.findings(speaker.code).first)
        #expect(finding.severity == speaker.severity && finding.cure != nil)
        #expect(before.isObstructed == (speaker.severity == .problem))
        controller.stop()
        let able = try ScriptedController()
        patient.variables[HostSpecification.variable] = "\(able.address)"
        let speaking = ControllerAnswers.able.speak(as: able)
        let after = await patient.examined(asking: true)
        speaking.cancel()
        able.stop()
        #expect(after.findings(speaker.code).isEmpty && !after.isObstructed)
    }

    @Test("If nothing listens, the remedy is to start a controller")
    func refused() async throws {
        guard let port = ReservedPort() else {
            Issue.record("the system has no port left")
            return
        }
        let address = SocketAddress.tcp(host: "127.0.0.1", port: port.number)
        let patient = Patient("\(address)")
        let examination = await patient.examined(asking: true)
        let finding = try #require(examination.findings(.noListener).first)
        #expect(finding.command?.hasPrefix("ble radio --port ") == true && examination.isObstructed)
        let controller = try ScriptedController(at: address)
        let speaking = ControllerAnswers.able.speak(as: controller)
        let after = await patient.examined(asking: true)
        speaking.cancel()
        controller.stop()
        #expect(after.findings(.noListener).isEmpty && !after.isObstructed)
    }

    @Test("If the named daemon does not run, the remedy is to start it, and then apps use it")
    func absentDaemon() async throws {
        let path = "/tmp/patient-\(UInt64.random(in: 0 ... .max))"
        let patient = Patient("bled:\(path)")
        let before = await patient.examined()
        let finding = try #require(before.findings(.socketMissing).first)
        #expect(finding.command == "bled --socket \(path)" && before.isObstructed)
        #expect(before.findings(.hostChosen).isEmpty)
        let daemon = try ScriptedController(at: .unix(path: path))
        let after = await patient.examined()
        daemon.stop()
        unlink(path)
        #expect(after.findings(.socketMissing).isEmpty && !after.isObstructed)
        #expect(after.findings(.hostChosen).map(\.subject) == ["bled:\(path)"])
    }

    @Test("If a daemon runs, apps use it, and need neither an adapter nor a permission")
    func presentDaemon() async throws {
        let patient = Patient(kernel: FakeKernel())
        patient.variables["XDG_RUNTIME_DIR"] = patient.folder
        let path = patient.folder + "/bled/socket"
        for folder in [patient.folder, patient.folder + "/bled"] { try #require(mkdir(folder, 0o700) == 0) }
        #expect(await patient.examined().isObstructed)
        let daemon = try ScriptedController(at: .unix(path: path))
        let after = await patient.examined()
        daemon.stop()
        #expect(!after.isObstructed && after.findings(.hostChosen).map(\.subject) == [path])
        #expect(
            after.findings(.hostChosen).first?.sentence.contains("Bluetooth Classic, such as audio, does not work")
                == true
        )
    }

    @Test("If a Unix socket is missing, the remedy is to create it, and then there is a controller")
    func missing() async throws {
        let path = "/tmp/patient-\(UInt64.random(in: 0 ... .max))"
        let patient = Patient("unix:\(path)")
        let before = await patient.examined(asking: true)
        #expect(before.findings(.socketMissing).map(\.subject) == ["unix:\(path)"] && before.isObstructed)
        let controller = try ScriptedController(at: .unix(path: path))
        let speaking = ControllerAnswers.able.speak(as: controller)
        let after = await patient.examined(asking: true)
        speaking.cancel()
        controller.stop()
        unlink(path)
        #expect(after.findings(.socketMissing).isEmpty && !after.isObstructed)
    }

    @Test("A host name that does not resolve is reported")
    func unknown() async {
        let name = String(repeating: "x", count: 70)
        let examination = await Patient("tcp:\(name):7001").examined(asking: true)
        #expect(examination.findings(.nameUnknown).first?.command == "getent hosts \(name)")
    }

    @Test(
        "A path that is not a serial port of a board is reported",
        arguments: [("/nowhere/ttyACM0", Finding.Code.portMissing), ("/dev/null", .portIsNone)]
    )
    func port(path: String, code: Finding.Code) async {
        let examination = await Patient("serial:\(path)").examined(asking: true)
        #expect(examination.findings(code).first?.command == "ls /dev/ttyACM* /dev/ttyUSB*")
        #expect(examination.isObstructed)
    }

    @Test("A board that does not respond is reported as silent")
    func board() async throws {
        let board = try #require(Board(ignoring: 1_000))
        let patient = Patient("serial:\(board.path)")
        let examination = await patient.examined(asking: true, within: .milliseconds(300))
        #expect(examination.findings(.controllerSilent).first?.cure?.contains("rate") == true)
    }

    @Test(
        "The program that uses a serial port is reported, with the command that ends it",
        arguments: [("minicom", "kill 12"), ("ModemManager", "sudo systemctl stop ModemManager")]
    )
    func portTaken(name: String, command: String) throws {
        let host = try HostSpecification("serial:/dev/ttyACM0")
        var observations = Observations(choosing: .named(host), state: StateInspection(of: nil))
        #expect(Examination(observations).findings(.portTaken).isEmpty)
        observations.portUsers = [RunningProgram(process: 12, name: name)]
        let examination = Examination(observations), finding = try #require(examination.findings(.portTaken).first)
        #expect(finding.sentence.contains("/dev/ttyACM0 is in use by \(name) (process 12)"))
        #expect(finding.command == command && examination.isObstructed)
    }

    @Test("A port or socket that the user may not open is reported with the missing permission, until it is granted")
    func forbidden() async throws {
        try #require(getuid() == 0, "only root can become somebody who has no rights")
        await #expect(processExitsWith: .success) {
            let board = try #require(Board(ignoring: 1_000))
            chmod(board.path, 0o600)
            let controller = try ScriptedController(isUnix: true)
            guard case .unix(let path) = controller.address else { return }
            chmod(path, 0o600)
            for (host, file, code) in [
                ("serial:\(board.path)", board.path, Finding.Code.portForbidden),
                ("unix:\(path)", path, .socketForbidden),
            ] {
                let patient = Patient(host)
                seteuid(65_534)
                let before = await patient.examined(asking: true)
                seteuid(0)
                let finding = try #require(before.findings(code).first)
                try #require(finding.command?.hasPrefix("sudo ") == true && before.isObstructed)
                chmod(file, 0o666)
                seteuid(65_534)
                let after = await patient.examined(asking: true, within: .milliseconds(100))
                seteuid(0)
                try #require(after.findings(code).isEmpty)
            }
            unlink(path)
        }
    }
}
