import ArgumentParser
import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

struct Bonds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "List and remove bonds: the stored keys of paired devices.",
        discussion: """
            Examples:
              ble bonds --json
              ble bonds remove 5C0B0001-1111-2222-3333-444455556666
            """,
        subcommands: [List.self, Remove.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List all bonds, most recently used last.",
            discussion: """
                Examples:
                  ble bonds
                  ble bonds list --json
                """
        )

        @OptionGroup var output: OutputOptions

        @MainActor
        func run() async throws {
            let printer = Printer(output)
            try await reportingErrors {
                let bonds = try await withBonds { pairing, becomeReady in
                    let stored = try await pairing.bonds()
                    await becomeReady()
                    let known = Set(stored.map(\.identifier))
                    return stored + (try await pairing.bonds()).filter { !known.contains($0.identifier) }
                }
                for bond in bonds { printer.print(bond.fact) }
                if bonds.isEmpty { printer.remark("No bonds.") }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the bond with a device.",
            discussion: """
                The device is not notified, and its keys no longer work. To pair again, you may have to remove the \
                bond there as well.

                Examples:
                  ble bonds remove 5C0B0001-1111-2222-3333-444455556666
                """
        )

        @Argument(
            help: "The device's identifier, as “ble bonds” prints it.",
            transform: { text in
                guard let identifier = UUID(uuidString: text) else { throw ValidationError("not a UUID") }
                return identifier
            }
        )
        var identifier: UUID
        @OptionGroup var output: OutputOptions

        @MainActor
        func run() async throws {
            let printer = Printer(output)
            try await reportingErrors {
                let isRemoved = try await withBonds { pairing, becomeReady in
                    if !(try await pairing.bonds().contains { $0.identifier == identifier }) { await becomeReady() }
                    let before = try await pairing.bonds(), after = try await pairing.removeBond(with: identifier)
                    return before.count > after.count
                }
                guard isRemoved else { throw CommandError.noBond(identifier.uuidString) }
                let fields = ["identifier": identifier.uuidString]
                printer.print(Fact("bond_removed", fields, text: "Removed the bond with \(identifier)."))
            }
        }
    }
}

/// Gives `work` access to the stored bonds, and a function that waits until the host has identified its radio.
///
/// Until the radio is identified, the host knows all bonds except those of a virtual radio. Afterwards, it knows those
/// of its radio.
@MainActor
private func withBonds<Value: Sendable>(
    _ work: @MainActor (BluetoothPairing, _ becomeReady: @MainActor () async -> Void) async throws -> Value
) async throws -> Value {
    let pairing = BluetoothPairing(queue: .main), central = Central()
    defer { withExtendedLifetime(central) {} }
    do {
        return try await work(pairing) { try? await central.powerOn() }
    } catch PairingError.unsupported {
        throw CommandError.noRadio(.unsupported)
    }
}

extension Bond {
    fileprivate var fact: Fact {
        var fields: [String: Any] = [
            "identifier": identifier.uuidString, "address": "\(address)", "authenticated": isAuthenticated,
            "secure_connections": isSecureConnections, "key_size": keySize,
        ]
        fields["name"] = name
        let kind = isAuthenticated ? "authenticated" : "not authenticated"
        let generation = isSecureConnections ? "LE Secure Connections" : "legacy pairing"
        let properties = "\(kind), \(generation), \(keySize)-octet key"
        return Fact(
            "bond",
            fields,
            text: "\(identifier)  \((name ?? "").printable.padded(to: 20))  \(properties)"
        )
    }
}
