import ArgumentParser
import BLESession

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show the daemon's recent log: app sessions, links, refusals.",
        discussion: """
            One line for each session that began, ended or was refused, each link, each launch, and each request that \
            the policy denied: the time (UTC), the process, its program, and what happened. Repeated entries are one \
            line with a count. The daemon keeps the last 1000 lines. Root and the daemon's user see all of them; \
            other users see only their own.

            Examples:
              ble logs
              ble logs --follow                                   until Ctrl-C
              BLUETOOTH_HOST=bled:/tmp/lab/bled ble logs --json
            """
    )

    /// The interval at which the daemon is asked for new entries.
    private static let pause = Duration.milliseconds(500)

    @Flag(help: "Keep running and show new entries.")
    var follow = false
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output), interruption = follow ? Interruption() : nil
        try await reportingErrors {
            var last = try show(after: 0, printer)
            if last == 0, !follow { printer.remark("The log is empty.") }
            guard let interruption else { return }
            let asking = Task { @MainActor in
                while true {
                    try await Task.sleep(for: Self.pause)
                    last = try show(after: last, printer)
                }
            }
            let waiting = Task { @MainActor in
                try await interruption.wait()
                asking.cancel()
            }
            defer { waiting.cancel() }
            do { try await asking.value } catch is CancellationError {}
        }
    }

    /// Prints the log entries with numbers above `number`; returns the number of the last one, or `number` if there are
    /// none.
    @MainActor
    private func show(after number: UInt64, _ printer: Printer) throws -> UInt64 {
        guard case .journal(let lines) = try askDaemon(.journal(after: number)) else { return number }
        if number == 0, !lines.isEmpty { printer.heading(JournalLine.columns) }
        for line in lines { printer.print(line.fact) }
        return lines.last?.number ?? number
    }
}
