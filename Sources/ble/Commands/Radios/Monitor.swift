import ArgumentParser
import BLERuntime
import Foundation
import Glibc

struct Monitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show the packets of Bluetooth hosts on this machine, or of a capture file.",
        discussion: """
            Every app that uses an adapter or a controller directly has its own host, in its process. Attaches to all \
            running hosts of this user (for root: of all users) and to those that start later, until interrupted. \
            BLUETOOTH_MONITOR=off in the environment of an app prevents this. Calls and callbacks of the app are shown \
            between its packets. Each line shows the name of the attribute or command, and the decoded value. Hosts do \
            not wait for monitors: packets that cannot be shown in time are dropped, and their number is shown. \
            Simulated worlds are not shown; use “ble demo --packets” to see one.

            With FILE, shows the packets of a capture: pcapng, btsnoop as written by btmon and by phones, or pklg from \
            Apple's PacketLogger.

            Captures and this output contain pairing keys. Files written with --write leave them out, so that they \
            can be shared, unless --keys is given; --redact leaves the keys out of the output as well.

            Examples:
              ble monitor
              ble monitor --pid 4711 --brief
              ble monitor --write talk.pcapng --duration 60 > /dev/null
              ble monitor talk.pcapng --json
              ble monitor btsnoop_hci.log --write talk.pcapng
              ble monitor talk.pcapng --redact > talk.txt
            """
    )

    @Argument(help: "A capture file to read (default: show live packets).")
    var file: String?

    @Option(
        name: .customLong("pid"),
        help: "Only hosts of the process with this PID. Repeatable.",
        transform: Bounds(1...Int32.max).read
    )
    var processes: [Int32] = []

    @Option(
        name: .customLong("write"),
        help: ArgumentHelp("Also write the packets to this file, .pcapng or .btsnoop. Repeatable.", valueName: "file")
    )
    var copies: [String] = []

    @Option(
        help: ArgumentHelp("Stop after this time (default: no limit).", valueName: "seconds"),
        transform: Bounds.seconds().duration
    )
    var duration: Duration?

    @Flag(help: "Show one line for each packet, without its fields.")
    var brief = false

    @Flag(help: "Leave the keys of pairings and links out of the output, too.")
    var redact = false
    @Flag(help: "Keep the keys of pairings and links in the files that --write names.")
    var keys = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard file == nil || (processes.isEmpty && duration == nil) else {
            throw ValidationError("Do not combine a capture file with --pid or --duration.")
        }
        guard !(redact && keys) else { throw ValidationError("Do not combine --redact with --keys.") }
        guard !keys || !copies.isEmpty else { throw ValidationError("--keys has an effect only with --write.") }
        for copy in copies where CaptureFormat(path: copy) == nil {
            throw ValidationError("--write needs a file that ends in .pcapng or .btsnoop, not “\(copy)”.")
        }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            // The input is opened before the copies are created, to make sure that no copy overwrites it.
            let input = try file.map { try CaptureInput(path: $0, but: copies) }
            let files = try copies.map { path in try Self.copy(at: path) }
            let packets = MonitorPrinter(
                printer,
                detail: brief ? .lines : .fields,
                files: files,
                keys: redact ? .nowhere : keys ? .everywhere : .inOutput
            )
            if let input {
                try await input.read { packets.print($0) }
            } else {
                try await watch(printer, packets)
            }
            if !copies.isEmpty {
                printer.remark("Wrote \(packets.count.withNoun("packet")) to \(copies.joined(separator: ", ")).")
                if packets.redactedCount > 0 {
                    let redacted = packets.redactedCount.withNoun("packet")
                    printer.remark("Left out the keys in \(redacted); --keys keeps them.")
                }
            }
        }
    }

    @MainActor
    private static func copy(at path: String) throws -> CaptureFile {
        do throws(CaptureFile.Failure) {
            return try CaptureFile(path: path, limit: .max, clock: WallClock()) { failure in
                let error = CommandError.unusableFile(failure.path, failure.reason)
                error.report()
                Glibc.exit(error.exitCode.rawValue)
            }
        } catch {
            throw CommandError.unusableFile(error.path, error.reason)
        }
    }

    @MainActor
    private func watch(_ printer: Printer, _ packets: MonitorPrinter) async throws {
        let interruption = Interruption()
        var attached = 0
        let follow = { @MainActor (event: HostMonitor.Event) in
            if case .attached = event { attached += 1 }
            Self.show(event, printer, packets)
        }
        // The reading thread waits for the printing thread, so that packets do not pile up between them.
        let watch = HostMonitor(of: Set(processes)) { event in
            DispatchQueue.main.sync { MainActor.assumeIsolated { follow(event) } }
        }
        if !HostSocket.listening.contains(where: { processes.isEmpty || processes.contains($0.process) }) {
            let named = processes.count == 1 ? "in that process" : "in those processes"
            let place = processes.isEmpty ? "on this machine" : named
            printer.remark("No Bluetooth host to monitor \(place) yet; waiting. Press Ctrl-C to stop.")
        }
        watch.start()
        try await interruption.wait(atMost: duration)
        watch.stop()
    }

    @MainActor
    private static func show(_ event: HostMonitor.Event, _ printer: Printer, _ packets: MonitorPrinter) {
        switch event {
        case .attached(let host):
            printer.print(Fact("attached", ["process": Int(host.process), "host": host.number], text: ""))
            printer.remark("Monitoring process \(host.process).")
        case .refused(let host, let reason):
            printer.print(Fact("refused", ["process": Int(host.process), "host": host.number], text: ""))
            printer.remark("Cannot monitor process \(host.process): \(reason).")
        case .item(let item, _): packets.print(item)
        case .gone(let host, let failure):
            printer.print(Fact("gone", ["process": Int(host.process), "host": host.number], text: ""))
            let reason = failure.map { "invalid capture data (\($0))" } ?? "its Bluetooth host has ended"
            printer.remark("Stopped monitoring process \(host.process): \(reason).")
        }
    }
}
