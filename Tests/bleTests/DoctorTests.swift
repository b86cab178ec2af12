import ArgumentParser
import BLERuntime
import BLESimulation
import CoreBluetooth
import Foundation
import Testing

@testable import ble

@Suite("Doctor", .serialized, .timeLimit(.minutes(30)))
struct DoctorTests {
    /// What the command prints for a host, as objects.
    private static func objects(_ text: String) -> [[String: Any]] {
        text.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    @Test("An invalid host is a problem with a remedy and a failure status")
    func malformed() async throws {
        let result = await #expect(processExitsWith: .exitCode(69), observing: [\.standardOutputContent]) {
            setenv("BLUETOOTH_HOST", "hci", 1)
            await Ble.main(["doctor", "--json", "--no-ask"])
        }
        let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let objects = Self.objects(text)
        let finding = try #require(objects.first { $0["code"] as? String == "host-malformed" })
        #expect(finding["event"] as? String == "finding" && finding["severity"] as? String == "problem")
        #expect(finding["subject"] as? String == "BLUETOOTH_HOST" && finding["command"] as? String != nil)
        #expect(objects.last?["event"] as? String == "diagnosis" && objects.last?["usable"] as? Bool == false)
    }

    @Test("A usable host ends with status 0, even if a controller has to be queried")
    func usable() async throws {
        let server = RadioServer(seed: 1), port = try server.listen(at: .tcp(host: "127.0.0.1", port: 0))
        for host in ["demo", "tcp:127.0.0.1:\(port)"] {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                [host = host as String] in
                setenv("BLUETOOTH_HOST", host, 1)
                await Ble.main(["doctor"])
            }
            let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            #expect(text.contains("\(host)") && !text.contains("problem  "))
            #expect(text.contains("roles") == (host != "demo"))
        }
        server.stop()
    }

    @Test("The text lists the findings, then the remedies, and ends with a summary")
    @MainActor
    func text() throws {
        var lines: [String] = []
        let host = try HostSpecification("hci:0")
        var observations = Observations(choosing: .named(host), state: StateInspection(of: nil))
        observations.isPrivileged = true
        let isUsable = Doctor.report(observations, to: Printer(json: false) { lines.append($0) })
        #expect(!isUsable)
        #expect(lines.first?.hasPrefix("problem  no-adapter\n           The machine has no Bluetooth adapter") == true)
        #expect(lines.contains { $0.hasPrefix("warning  state-nowhere\n") })
        #expect(lines.last == "Apps have no radio. Problems: 1, warnings: 1.")
    }

    @Test("The help has examples and explains each exit status")
    func help() {
        let help = Doctor.helpMessage(columns: 120)
        for part in ["Examples:", "ble doctor --json", "Exit status: 0 if there is no problem, 69"] {
            #expect(help.contains(part))
        }
    }

    @Test("docs/ADAPTERS.md explains every finding and quirk")
    func documented() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/ADAPTERS.md"), encoding: .utf8)
        for code in Finding.Code.allCases { #expect(text.contains("`\(code.rawValue)`"), "\(code.rawValue)") }
    }
}
