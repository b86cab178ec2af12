import ArgumentParser
import BLERuntime
import BLEWire
import CoreBluetooth

/// The output options, which every command that prints results or events has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object per line, instead of text.")
    var json = false
    @Flag(help: "Put the time in UTC (RFC 3339) before each line; with --json, in the key “time”.")
    var timestamps = false
}

/// The options of every command that uses one peripheral.
struct PeerOptions: ParsableArguments {
    @Argument(
        help: "The peripheral's name or a prefix of it, its address, or its identifier as “ble scan” prints it."
    )
    var peer: String
    @OptionGroup var search: SearchOptions
}

/// The option of every command that searches for a peripheral and connects to it.
struct SearchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Time limit for finding the peripheral, and again for connecting (default: 10).",
            valueName: "seconds"
        ),
        transform: Bounds.seconds(from: 0.001).duration
    )
    var timeout = Duration.seconds(10)
}

extension Bounds<Double> {
    /// The valid range of a time in seconds, from `least` to one year.
    static func seconds(from least: Double = 0) -> Self { Bounds(least...31_536_000, of: "seconds") }
}

/// A service's or characteristic's type on the command line: a UUID with or without `0x`, or an assigned name.
struct UUIDArgument: ExpressibleByArgument {
    let uuid: CBUUID

    /// Parses the type of a service; `nil` if the text is neither a UUID nor a service's assigned name.
    init?(argument: String) { self.init(argument, of: .service) }

    init?(_ text: some StringProtocol, of kind: BluetoothUUID.Named) {
        guard let value = BluetoothUUID(written: text, naming: [kind]) else { return nil }
        uuid = CBUUID(value)
    }
}

/// Connects to the peripheral in the options, runs `work`, and disconnects, even if `work` fails.
@MainActor
func withPeripheral(
    _ options: PeerOptions,
    _ printer: Printer,
    pairing: PeripheralPairingOptions? = nil,
    _ work: @MainActor (Central, CBPeripheral) async throws -> Void
) async throws {
    try await withPeripheral(options.peer, options.search, printer, pairing: pairing, work)
}

/// Connects to the peripheral `peer`, runs `work`, and disconnects, even if `work` fails.
@MainActor
func withPeripheral(
    _ peer: String,
    _ search: SearchOptions,
    _ printer: Printer,
    pairing: PeripheralPairingOptions? = nil,
    _ work: @MainActor (Central, CBPeripheral) async throws -> Void
) async throws {
    try await reportingErrors {
        let central = Central()
        let desk = pairing.map { PairingPrompts($0.common, printer) }
        defer { desk?.close() }
        try await central.powerOn()
        printer.remark("Looking for \(peer) …")
        let peripheral = try await central.find(PeerReference(text: peer), within: search.timeout)
        printer.device = { DeviceKeys(peripheral.identifier, name: central.name(of: peripheral)) }
        if let told = pairing?.told { desk?.use(told, from: peripheral) }
        try await central.connect(peripheral, within: search.timeout)
        printer.remark("Connected to \(central.name(of: peripheral)?.printable ?? peripheral.title).")
        do {
            try await work(central, peripheral)
        } catch CommandError.failed where !central.isUsable {
            throw CommandError.radioLost
        } catch {
            central.limitRemainingTime()
            try? await central.disconnect(peripheral)
            await desk?.waitForOutcome()
            throw error
        }
        try await central.disconnect(peripheral)
    }
}
