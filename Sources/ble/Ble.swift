import ArgumentParser
import BLERuntime
import Glibc
import Logging

/// The `ble` tool: everything that an app can do with Core Bluetooth, from a terminal or a script.
@main
struct Ble: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ble",
        abstract: "Bluetooth Low Energy from the command line, through Core Bluetooth.",
        discussion: """
            The radio is the one that BLUETOOTH_HOST names:
              hci:N             an adapter of this machine; also hci:ADDRESS
              serial:PATH@RATE  a controller behind a serial port
              tcp:HOST:PORT     a controller that speaks HCI over TCP
              unix:PATH         the same over a Unix socket
              bled              the daemon that has the radios; also bled:PATH
              world:FILE.json   a simulated world
              demo              a simulated world with a few devices in it
              not set or empty  the daemon, if it runs; else the first adapter of this
                                machine that nobody uses

            Examples:
              ble demo                              see everything work, without a radio
              BLUETOOTH_HOST=demo ble scan          what is around; Ctrl-C ends it
              BLUETOOTH_HOST=demo ble inspect Heart
                                                    connect and show the attribute tree
              ble chat host --name Lobby            open a chat room
              ble radio --port 7001 --port 7002     two virtual controllers on one air
              ble monitor                           the packets of hosts on this machine
              ble adapters                          the Bluetooth adapters of this machine
              ble doctor                            what stands in the way, and its cure
              ble clone Lamp                        a device as a world, for tests
              ble bonds                             whom this host was paired with
              ble apps                              the apps that share the daemon's radio
              ble power off                         switch Bluetooth off for them all
              ble logs --follow                     what the daemon notes of them

            Exit status: 0 done, 1 it did not happen, 64 wrong usage, 66 a file or port cannot be used, 69 no radio, \
            daemon or desktop, or none any more, 71 too few descriptors, 74 standard output cannot be written, 75 the \
            peer was not found or \
            did not answer in time, 130 interrupted by Ctrl-C and 143 by SIGTERM before it was done. Commands that \
            go on until they are interrupted are done then.
            """,
        version: "0.1.0",
        subcommands: [
            Demo.self, Scan.self, Inspect.self, Read.self, Write.self, Notify.self, Serve.self, Channel.self, Chat.self,
            Radio.self, Clone.self, Monitor.self, Adapters.self, Doctor.self, ToolsetCommand.self,
            Bonds.self, Agent.self, Apps.self, App.self, Links.self, Power.self, Policy.self, Logs.self,
        ]
    )

    static func main() async {
        if let problem = DescriptorLimit.raise(to: DescriptorLimit.ofApp) {
            try? StandardStream.error.write(line: problem)
            _exit(71)
        }
        OrderlyEnd.expect()
        await main(nil)
    }

    /// Runs the command in `arguments`, or in the arguments of the process if `nil`; ends the process if it fails.
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
