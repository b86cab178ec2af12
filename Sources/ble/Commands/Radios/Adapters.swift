import ArgumentParser
import BLERuntime
import BLEWire
import CoreBluetooth
import Glibc

struct Adapters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapters",
        abstract: "List the Bluetooth adapters of this machine, and query controllers.",
        discussion: """
            Shows each adapter with its address, its state (off: not in use; powered: used by BlueZ; taken: used by \
            another program; unconfigured: not ready for use), its bus, and what prevents its use. Without --probe, \
            changes nothing.

            With --probe, resets the controller that BLUETOOTH_HOST names and asks it for its features; if the \
            variable is not set, does so for every adapter that is off. An adapter that BlueZ uses is taken over for \
            a moment if BLUETOOTH_HOST names it.

            Examples:
              ble adapters
              ble adapters --json
              BLUETOOTH_HOST=hci:0 ble adapters --probe
              BLUETOOTH_HOST=tcp:127.0.0.1:7001 ble adapters --probe
            """
    )

    @Flag(help: "Reset controllers and show their features.")
    var probe = false
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let named = HostSpecification.ofProcess
            if probe, let named {
                try await Self.probe(named, printer)
            } else {
                let kernel = LinuxKernel()
                let adapters = try Self.list(kernel, printer)
                for adapter in adapters where probe && adapter.state == .off && kernel.isPrivileged {
                    try await Self.probe("hci:\(adapter.index.wire)", printer)
                }
            }
        }
    }

    @MainActor
    private static func list(_ kernel: LinuxKernel, _ printer: Printer) throws -> [Adapter] {
        let adapters: [Adapter]
        do {
            adapters = try Adapter.all(in: kernel)
        } catch {
            throw CommandError.noAdapters(error)
        }
        for adapter in adapters { printer.print(adapter.fact(isPrivileged: kernel.isPrivileged)) }
        if adapters.isEmpty { printer.remark("No Bluetooth adapters.") }
        if !kernel.isPrivileged, !adapters.isEmpty {
            printer.remark("To let this program use adapters, run “sudo setcap cap_net_admin+ep \(kernel.program)”.")
        }
        return adapters
    }

    @MainActor
    private static func probe(_ name: String, _ printer: Printer) async throws {
        let specification: HostSpecification
        do {
            specification = try HostSpecification(name)
        } catch {
            throw CommandError.invalidHost(error)
        }
        guard let transport = specification.transport else {
            throw CommandError.noController(
                name,
                "--probe does not work with a daemon or a simulated world",
                cure: "Set \(HostSpecification.variable) to an adapter or a controller, such as hci:0."
            )
        }
        do {
            let facts = try await ProbeSession.facts(through: transport)
            printer.print(facts.fact(of: transport.name))
        } catch {
            throw CommandError.noController(name, "\(error)", cure: error.cure)
        }
    }
}
