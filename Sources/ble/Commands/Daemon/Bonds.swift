import ArgumentParser
import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

struct Bonds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
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
            try await reportingTrouble {
                let bonds = try await withBonds { try await $0.bonds() }
                for bond in bonds { printer.print(bond.fact) }
                if bonds.isEmpty { printer.remark("No bonds.") }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the bond with a device.",
            discussion: """
                The device is not notified, and its keys no longer work. To pair again, you may have to remove the \
                bond there as well.

                Examples:
                  ble bonds remove 5C0B0001-1111-2222-3333-444455556666
                """
        )

        @Argument(
            help: "The device's identifier as “ble bonds” prints it.",
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
            try await reportingTrouble {
                let (before, after) = try await withBonds {
                    (try await $0.bonds(), try await $0.removeBond(with: identifier))
                }
                guard before.count > after.count else { throw CommandError.noBond(identifier.uuidString) }
                let fields = ["identifier": identifier.uuidString]
                printer.print(Fact("bond_removed", fields, text: "Removed the bond with \(identifier)."))
            }
        }
    }
}

/// Gives `work` access to the stored bonds.
@MainActor
private func withBonds<Value: Sendable>(
    _ work: @MainActor (BluetoothPairing) async throws -> Value
) async throws -> Value {
    // The host can only load the bonds of a virtual radio after it has identified the radio.
    let central = Central()
    try? await central.powerOn()
    defer { withExtendedLifetime(central) {} }
    do {
        return try await work(BluetoothPairing(queue: .main))
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
        return Fact(
            "bond",
            fields,
            text: "\(identifier)  \((name ?? "").printable.padded(to: 20))  \(kind), \(generation), \(keySize) octets"
        )
    }
}
