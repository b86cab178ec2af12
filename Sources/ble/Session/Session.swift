import ArgumentParser
import CoreBluetooth

struct Session: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Use many devices from a script, with commands and answers as lines of JSON.",
        discussion: """
            Each line of standard input is a command, a JSON object; each line of standard output is an answer or an \
            event. An answer repeats the “id” of its command, and is “done” or “failed”. docs/SESSION.md describes the \
            commands, answers and events. At the end of the input, the session waits for all answers, and disconnects. \
            The exit status is 0 at the end of the input and after Ctrl-C, and 69 without a radio.

            Examples:
              ble session < commands.jsonl
              echo '{"command": "scan", "min_rssi": -60}' | ble session --stay
              printf '%s\\n' '{"command": "connect", "device": "Lamp"}' \\
                '{"command": "read", "device": "Lamp", "characteristic": "2A29"}' |
                ble session
            """
    )

    @Flag(help: "Continue after the end of the input until interrupted.")
    var stay = false
    @Option(
        help: ArgumentHelp("Input and output available for pairing.", valueName: "capability")
    )
    var pairing = PairingMeans.none

    @MainActor
    func run() async throws {
        let printer = Printer(json: true)
        try await reportingErrors {
            let engine = SessionEngine(pairing: pairing.capability) { printer.print($0) }
            try await engine.start()
            let ends = EventQueue<SessionEngine.End>()
            let interruption = Interruption(endingProcessWithin: .seconds(5))
            Task {
                try await interruption.wait()
                engine.interrupt()
                ends.add(.interrupted)
            }
            Task {
                await Self.read(for: engine)
                ends.add(.endOfInput)
            }
            var end = await ends.next()
            if end == .endOfInput, stay { end = await ends.next() }
            if end == .endOfInput { await engine.finish() }
            await engine.close(because: engine.isInterrupted ? .interrupted : end)
        }
    }

    /// Passes the lines of standard input to the engine, until they end or the session is interrupted.
    @MainActor
    private static func read(for engine: SessionEngine) async {
        while !engine.isInterrupted, let line = await StandardInput.line(atMost: SessionCommand.mostOctets) {
            guard !engine.isInterrupted else { return }
            switch line {
            case .complete(let text): await engine.take(text)
            case .tooLong: engine.refuse(SessionCommand.tooLong)
            }
        }
    }
}
