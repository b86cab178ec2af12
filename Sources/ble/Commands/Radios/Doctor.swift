import ArgumentParser
import BLERuntime
import BLESimulation
import Foundation

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why Bluetooth does not work here, and how to fix it.",
        discussion: """
            Checks the adapters of this machine, BLUETOOTH_HOST, the kernel, the privileges of this program, the \
            environment variables that affect apps, and the file with bonds. Controllers that are not in use are reset \
            and asked for their features, which takes a moment; --no-ask skips that. Changes nothing else.

            Each finding has a fixed name, such as adapter-blocked, and is a problem (apps have no radio), a warning \
            (something will not work as apps expect) or a fact. Problems and warnings come with a fix, in most cases a \
            command. docs/ADAPTERS.md lists the names.

            Findings about privileges apply to this program only: capabilities that setcap gives to a file apply to \
            that file.

            Exit status: 0 if there is no problem, 69 if there is one.

            Examples:
              ble doctor
              ble doctor --json --no-ask
              BLUETOOTH_HOST=hci:0 ble doctor
              BLUETOOTH_HOST=serial:/dev/ttyACM0@115200 ble doctor
            """
    )

    @Flag(inversion: .prefixedNo, help: "Reset controllers that are not in use, and check their features.")
    var ask = true
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let surroundings = ProgramEnvironment(
            environment: { environment[$0] },
            worldProblem: DefaultLink.problem(ofWorld:)
        )
        let observations = await surroundings.observed(asking: ask)
        guard Self.report(observations, to: Printer(output)) else { throw ExitCode(69) }
    }

    /// Prints observations of this machine's radios, and the problems that follow from them.
    ///
    /// - Returns: True if there is no problem.
    @MainActor
    static func report(_ observations: Observations, to printer: Printer) -> Bool {
        if case .success(let adapters) = observations.adapters {
            for adapter in adapters { printer.print(adapter.fact(isPrivileged: observations.isPrivileged)) }
        }
        for answer in observations.probeResults {
            if case .success(let facts) = answer.result { printer.print(facts.fact(of: answer.name)) }
        }
        let examination = Examination(observations)
        for finding in examination.findings { printer.print(finding.fact(isBold: printer.usesColor)) }
        printer.print(examination.fact)
        return !examination.isObstructed
    }
}

extension Finding {
    fileprivate func fact(isBold: Bool) -> Fact {
        var fields: [String: Any] = [
            "code": code.rawValue, "severity": severity.rawValue, "subject": subject, "text": sentence,
        ]
        fields["cure"] = cure
        fields["command"] = command
        let title = "\(severity.rawValue.padded(to: 8)) \(code.rawValue)"
        let lines = [severity == .fact ? title : title.bold(isBold), sentence.printable, cure?.printable]
        return Fact("finding", fields, text: lines.compactMap { $0 }.joined(separator: "\n           "))
    }
}

extension Examination {
    fileprivate var fact: Fact {
        let (problems, warnings) = (count(of: .problem), count(of: .warning))
        let fields: [String: Any] = ["problems": problems, "warnings": warnings, "usable": !isObstructed]
        let verdict =
            isObstructed
            ? "Apps have no radio. Problems: \(problems), warnings: \(warnings)."
            : warnings > 0 ? "Apps have a radio. Warnings: \(warnings)." : "No problems found."
        return Fact("diagnosis", fields, text: verdict)
    }
}
