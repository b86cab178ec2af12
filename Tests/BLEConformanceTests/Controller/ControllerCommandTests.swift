import ArgumentParser
import BLERuntime
import BLESimulation
import Glibc
import Testing

@testable import BLEConformance

@Suite("Conformance driver for controllers")
struct ControllerCommandTests {
    @Test("Several ports may be given, but at least one, and none twice")
    func ports() throws {
        let command = try ControllerCommand.parse(["--port", "6402", "--port", "6403"])
        #expect(command.port == [6402, 6403])
        for arguments in [[], ["--port", "1", "--port", "1"], ["--port", "65536"], ["--port"], ["6402"]] {
            #expect(throws: (any Error).self) { try ControllerCommand.parse(arguments) }
        }
    }

    @Test("A port in use ends the program with exit status 2")
    func taken() throws {
        let radio = try ControllerCommand.parse(["--port", "0"]).serve()
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let error = #expect(throws: ExitCode.self) { try ControllerCommand.parse(["--port", "\(port)"]).serve() }
        #expect(error == ExitCode(2))
        radio.stop()
    }

    @Test("An output that cannot be written ends the program with exit status 2 and a message")
    func output() async {
        let result = await #expect(processExitsWith: .exitCode(2), observing: [\.standardErrorContent]) {
            dup2(open("/dev/full", O_WRONLY), 1)
            BLEConformance.main(["controller", "--port", "0"])
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said == "BLEConformance: Cannot write to standard output: No space left on device\n")
    }

    @Test("Invalid numbers are refused", arguments: ["-1", "65536", "1e20", "nan", "1.5", ""])
    func numbers(text: String) {
        #expect(throws: (any Error).self) { try ControllerCommand.parse(["--port=\(text)"]) }
        for option in ["--depth", "--sample", "--seed"] where text != "65536" {
            #expect(throws: (any Error).self) { try AdversaryCommand.parse(["\(option)=\(text)"]) }
        }
        #expect(throws: Never.self) { try AdversaryCommand.parse(["--depth=1", "--sample=1", "--seed=0"]) }
    }

    @Test("Invalid arguments end the program with exit status 2", arguments: [["fly"], ["controller"]])
    func exitStatus(arguments: [String]) async {
        await #expect(processExitsWith: .exitCode(2)) { [arguments] in BLEConformance.main(arguments) }
    }
}
