import ArgumentParser
import BLESession

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon has noted lately of the apps that have their radio from it.",
        discussion: """
            One line for each session that began, was turned away or ended, and why, for each link, each launch and \
            each thing that an app asked for and may not: when, in UTC, the process, its program, and what it was. \
            What is noted again has one line, with how often. The daemon holds the last 1000. Root and the user of the \
            daemon see all, others their own.

            Examples:
              ble logs
              ble logs --follow                                   until Ctrl-C
              BLUETOOTH_HOST=bled:/tmp/lab/bled ble logs --json
            """
    )

    /// The interval between requests for new entries.
    private static let pause = Duration.milliseconds(500)

    @Flag(help: "Go on with what is noted from now on.")
    var follow = false
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output), interruption = follow ? Interruption() : nil
        try await reportingTrouble {
            var last = try show(after: 0, printer)
            if last == 0, !follow { printer.remark("Nothing has been noted.") }
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

    /// Prints the log entries after a number; returns the number of the last entry.
    @MainActor
    private func show(after number: UInt64, _ printer: Printer) throws -> UInt64 {
        guard case .journal(let lines) = try askDaemon(.journal(after: number)) else { return number }
        if number == 0, !lines.isEmpty { printer.heading(JournalLine.columns) }
        for line in lines { printer.print(line.fact) }
        return lines.last?.number ?? number
    }
}
