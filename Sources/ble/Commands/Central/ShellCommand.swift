import ArgumentParser
import BLERuntime
import CoreBluetooth

struct ShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Use a device interactively: connect once, and read, write and watch its values.",
        discussion: """
            Type “help” for the commands. Tab completes commands, devices, UUIDs and assigned names; the up and \
            down arrows, Ctrl-P and Ctrl-N go through the history. If the connection is lost, the shell reconnects. \
            Ctrl-C clears the line; Ctrl-D or “quit” ends the shell.

            Without a terminal, each line is read only when the previous command has finished; the exit status is then \
            1 if a command failed.

            Examples:
              BLUETOOTH_HOST=demo ble shell Lamp
              printf 'read 2A29\\nrssi\\n' | ble shell Lamp
            """
    )

    @Argument(help: "The name, address or identifier of the device to connect to (default: none; use “connect”).")
    var device: String?

    @MainActor
    func run() async throws {
        try await reportingErrors {
            let terminal = TerminalInput()
            let screen = ShellScreen(terminal)
            defer { screen.close() }
            let usesColor = terminal != nil && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
            let shell = Shell(usesColor: usesColor) { screen.print($0) }
            try await shell.start()
            if let device { _ = await shell.take("connect \(device)") }
            if terminal == nil {
                await shell.finish()
                while let line = await StandardInput.line(), await shell.take(line) { await shell.finish() }
            } else {
                while let line = await screen.line(completing: { shell.completion.complete($0) }) {
                    guard await shell.take(line) else { break }
                }
            }
            await shell.close()
            if terminal == nil, shell.hasFailed { throw ExitCode.failure }
        }
    }
}

/// The screen of a shell: the line that is being edited, and the lines above it.
@MainActor
private final class ShellScreen {
    private static let prompt = "ble> "

    private let terminal: TerminalInput?
    private var editor = LineEditor()
    private var isEditing = false
    private var rest = Data()

    init(_ terminal: TerminalInput?) { self.terminal = terminal }

    func close() { terminal?.restore() }

    /// Prints a line above the one that is being edited.
    func print(_ text: String) {
        StandardOutput.write(line: (isEditing ? "\r\u{1B}[K" : "") + text.printableLines)
        if isEditing { draw() }
    }

    /// Returns the next line; `nil` at the end of the input.
    func line(completing complete: (String) -> LineEditor.Completions) async -> String? {
        isEditing = true
        defer { isEditing = false }
        draw()
        while true {
            guard let octet = rest.popFirst() else {
                guard let more = await StandardInput.piece() else { return nil }
                rest = more
                continue
            }
            switch editor.take(octet, complete: complete) {
            case .edit: if rest.isEmpty { draw() }
            case .enter(let line):
                StandardOutput.write(line: "")
                return line
            case .list(let candidates): print(candidates.joined(separator: "  "))
            case .cancel: print("")
            case .end:
                StandardOutput.write(line: "")
                return nil
            case .clear:
                StandardOutput.write("\u{1B}[H\u{1B}[2J".utf8)
                draw()
            }
        }
    }

    private func draw() {
        StandardOutput.write(editor.rendered(after: Self.prompt, columns: terminal?.columns ?? 80).utf8)
    }
}
