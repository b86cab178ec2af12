import BLERuntime
import BLEWire
import Foundation
import Testing

/// A machine that is examined, with a kernel, variables and a folder of its own.
final class Patient {
    let kernel: FakeKernel
    var variables: [String: String]
    /// Where it keeps its state, and what else a test wants to keep.
    let folder: String

    /// Creates a machine with one adapter that nobody uses; `host` is what `BLUETOOTH_HOST` says.
    init(_ host: String? = nil, kernel: FakeKernel = FakeKernel(0xA)) {
        self.kernel = kernel
        // Short, since the path of a socket has at most 107 octets.
        folder = "/tmp/patient-\(UInt64.random(in: 0 ... .max))"
        variables = ["XDG_STATE_HOME": folder]
        variables[HostSpecification.variable] = host
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Where its state is.
    var statePath: String { folder + "/corebluetooth/host.json" }

    func makeState() {
        let file = StateFile(path: statePath, freshSecret: 7)
        file.remember(StateFileTests.tea)
        file.flush()
    }

    func examined(asking: Bool = false, within timeout: Duration = .seconds(600)) async -> Examination {
        let variables = variables
        let surroundings = ProgramEnvironment(
            kernel: kernel,
            timeout: timeout,
            environment: { variables[$0] },
            worldProblem: { $0.hasSuffix(".json") ? nil : "\($0) cannot be used: it cannot be read." }
        )
        return Examination(await surroundings.observed(asking: asking))
    }

    /// Does what a cure says: changes variables itself, and has a shell do the rest.
    func carryOut(_ command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        switch words.first {
        case "export":
            let parts = words[1].split(separator: "=", maxSplits: 1).map(String.init)
            let value = parts[1].replacing("$HOME", with: folder).replacing("$PWD", with: folder)
            mkdir(folder, 0o700)
            variables[parts[0]] = value
        case "unset": variables[words[1]] = nil
        default:
            let shell = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", command])
            shell.waitUntilExit()
            try #require(shell.terminationStatus == 0)
        }
    }
}

extension Examination {
    /// The findings of a kind.
    func findings(_ code: Finding.Code) -> [Finding] { findings.filter { $0.code == code } }
}
