import ArgumentParser
import BLERuntime
import Glibc
import Logging

/// The `ble` tool: everything that an app can do with Core Bluetooth, from a terminal or a script.
@main
struct Ble: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ble",
        abstract: "Use Bluetooth Low Energy from the command line, through Core Bluetooth.",
        discussion: """
            BLUETOOTH_HOST selects the radio:
              hci:N             an adapter of this machine; also hci:ADDRESS
              serial:PATH@RATE  a controller on a serial port
              tcp:HOST:PORT     a controller that speaks HCI over TCP
              unix:PATH         the same over a Unix socket
              bled              the daemon that owns the radios; also bled:PATH
              world:FILE.json   a simulated world
              demo              a simulated world with a few devices in it
              not set or empty  the daemon if it is running, otherwise the first
                                adapter of this machine that is not in use

            Examples:
              ble demo                              run a chat room on a simulated radio
              BLUETOOTH_HOST=demo ble scan          list nearby devices until Ctrl-C
              BLUETOOTH_HOST=demo ble inspect Heart
                                                    connect and show the attribute tree
              BLUETOOTH_HOST=demo ble shell Lamp    use a device interactively
              ble session                           control many devices with lines of JSON
              ble chat host --name Lobby            open a chat room
              ble radio --port 7001 --port 7002     serve two virtual controllers over TCP
              ble monitor                           show packets of hosts on this machine
              ble explain talk.pcapng > page.html   show a capture as a page
              ble explore                           show devices and packets in a browser
              ble adapters                          list Bluetooth adapters
              ble doctor                            find out why Bluetooth does not work
              ble clone Lamp > lamp.json            save a device as a file, for tests
              ble bonds                             list paired devices
              ble apps                              list apps that use the daemon
              ble power off                         switch Bluetooth off for all apps
              ble logs --follow                     follow the daemon's log

            Exit status: 0 success, 1 the operation failed, 64 wrong usage, 66 a file or port cannot be used, 69 no \
            radio, daemon or desktop (or it was lost), 71 too few file descriptors, 74 standard output cannot be \
            written, 75 the peer was not found or did not answer in time, 130 interrupted by Ctrl-C and 143 by SIGTERM \
            before the command was done. Commands that run until interrupted exit with 0 when interrupted.
            """,
        version: "0.1.0",
        subcommands: [
            Demo.self, Scan.self, Inspect.self, Read.self, Write.self, Notify.self, ShellCommand.self, Session.self,
            Serve.self, Channel.self, Chat.self, Radio.self, Clone.self, Monitor.self, Explain.self, Explore.self,
            Adapters.self, Doctor.self, ToolsetCommand.self, Bonds.self, Agent.self, Apps.self, App.self, Links.self,
            Power.self, Policy.self, Logs.self,
        ]
    )

    static func main() async {
        if let problem = DescriptorLimit.raise(to: DescriptorLimit.ofApp) {
            try? StandardStream.error.write(line: problem)
            _exit(71)
        }
        GracefulShutdown.expect()
        await main(nil)
    }

    /// Runs the command in `arguments`; `nil` for the process's own arguments.
    ///
    /// Exits the process if the command fails.
    static func main(_ arguments: [String]?) async {
        do {
            var command = try await asyncParseAsRoot(arguments)
            if let problem = Logger.levelProblem { throw ValidationError(problem) }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            guard exitCode(for: error) == .success else { exit(withError: error) }
            StandardOutput.write(line: fullMessage(for: error))
        }
    }
}
