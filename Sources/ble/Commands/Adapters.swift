import ArgumentParser
import BLERuntime
import BLEWire
import CoreBluetooth
import Glibc

struct Adapters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the Bluetooth adapters of this machine, and what controllers can do.",
        discussion: """
            Each adapter is shown with its address, who uses it (off: nobody; powered: BlueZ; taken: another program),
            how it is attached, and what stands in the way of its use. Nothing is changed.

            With --probe the controller that BLUETOOTH_HOST names is asked what it can do, wherever it is; without that
            variable each adapter that is off. It is reset for that. An adapter that BlueZ uses is taken from it for
            a moment if BLUETOOTH_HOST names it.

            Examples:
              ble adapters
              ble adapters --json
              BLUETOOTH_HOST=hci:0 ble adapters --probe
              BLUETOOTH_HOST=tcp:127.0.0.1:7001 ble adapters --probe
            """
    )

    @Flag(help: "Ask controllers what they can do.")
    var probe = false
    @OptionGroup var output: OutputOptions

    /// How long a controller may take to answer all that it is asked.
    private static let patience = Duration.seconds(15)

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await reportingTrouble {
            let named = ProcessInfo.processInfo.environment[HostSpecification.variable]
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
            throw Trouble.noController("this machine", "\(error)", cure: error.cure)
        }
        for adapter in adapters { printer.print(adapter.fact(isPrivileged: kernel.isPrivileged)) }
        if adapters.isEmpty { printer.remark("There are no Bluetooth adapters.") }
        if !kernel.isPrivileged, !adapters.isEmpty {
            printer.remark("To use them, allow it with “sudo setcap cap_net_admin+ep \(kernel.program)”.")
        }
        return adapters
    }

    @MainActor
    private static func probe(_ name: String, _ printer: Printer) async throws {
        let specification: HostSpecification
        do {
            specification = try HostSpecification(name)
        } catch {
            throw Trouble.noController(name, "\(error)", cure: nil)
        }
        guard let transport = specification.transport else {
            throw Trouble.noController(name, "a simulated world has no controller of its own", cure: nil)
        }
        do {
            let facts = try await ProbeSession.facts(through: transport, within: patience)
            printer.print(facts.fact(of: transport.name))
        } catch {
            throw Trouble.noController(name, "\(error)", cure: error.cure)
        }
    }
}

extension Adapter {
    fileprivate func fact(isPrivileged: Bool) -> Fact {
        var fields: [String: Any] = [
            "name": "\(index)", "index": Int(index.wire), "state": state.rawValue, "powered": state == .powered,
            "privileged": isPrivileged,
            "holders": holders.map { ["name": $0.name, "process": Int($0.process)] as [String: Any] },
        ]
        fields["address"] = address.map { "\($0)" }
        fields["bus"] = bus.map { "\($0)" }
        fields["blocked"] = block.map { "\($0)" }
        if let information {
            fields["title"] = information.name
            fields["manufacturer"] = "\(information.manufacturer)"
            fields["version"] = "\(information.version)"
            fields["low_energy"] = information.supported.contains(.lowEnergy)
        }
        let use = holders.isEmpty ? "" : " by " + holders.map(\.description).joined(separator: ", ")
        let kind = information.map { "\($0.manufacturer), \($0.version)" }
        let details = [
            bus.map { "\($0)" }, kind, information?.name?.printable,
            information.map { $0.supported.contains(.lowEnergy) ? "LE" : "no LE" }, block.map { "blocked (\($0))" },
        ]
        let parts = details.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
        let place = address.map { "\($0)" } ?? "no address"
        return Fact("adapter", fields, text: "\(index)  \(place)  \(state.rawValue)\(use)  \(parts)")
    }
}

extension ControllerFacts {
    fileprivate func fact(of name: String) -> Fact {
        let names = features.map { "\($0)".components(separatedBy: ", ") } ?? []
        var fields: [String: Any] = ["name": name, "features": names]
        fields["version"] = version.map { "\($0)" }
        fields["manufacturer"] = manufacturer.map { "\($0)" }
        fields["address"] = address.map { "\($0)" }
        fields["acl_octets"] = aclOctets
        fields["acl_packets"] = aclPackets
        fields["accept_list"] = acceptListSize
        fields["resolving_list"] = resolvingListSize
        fields["advertising_sets"] = advertisingSets
        fields["advertising_octets"] = advertisingOctets
        func line(_ title: String, _ value: String?) -> String? { value.map { "  \(title.padded(to: 18))\($0)" } }
        let lines = [
            name, line("version", version.map { "\($0)" }), line("manufacturer", manufacturer.map { "\($0)" }),
            line("address", address.map { "\($0)" }),
            line("ACL data", aclPackets.map { "\($0) packets of \(aclOctets ?? 0) octets" }),
            line("accept list", acceptListSize.map { "\($0)" }),
            line("resolving list", resolvingListSize.map { "\($0)" }),
            line("advertising", advertisingSets.map { "\($0) at a time, \(advertisingOctets ?? 0) octets" }),
            line("features", names.joined(separator: ", ")),
        ]
        return Fact("controller", fields, text: lines.compactMap { $0 }.joined(separator: "\n"))
    }
}
