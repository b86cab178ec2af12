import ArgumentParser
import CoreBluetooth

struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show which peripherals advertise nearby.",
        discussion: """
            Examples:
              ble scan --duration 5
              ble scan --service 180D --json
              ble scan --duplicates --name Lamp
            """
    )

    @OptionGroup var output: OutputOptions

    @Option(name: .customLong("service"), help: "Only peripherals that advertise this service; may be repeated.")
    var services: [UUIDArgument] = []

    @Option(help: "Only peripherals of this name.")
    var name: String?

    @Flag(help: "Report every advertisement, not each peripheral once.")
    var duplicates = false

    @Option(help: ArgumentHelp("How long to scan; until interrupted if left out.", valueName: "seconds"))
    var duration: Double?

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await reportingTrouble {
            let central = Central()
            try await central.powerOn()
            printer.remark(duration == nil ? "Scanning; Ctrl-C ends it." : "Scanning …")
            central.onHappening = {
                guard case .discovered(let sighting) = $0, name == nil || sighting.name == name else { return }
                printer.print(sighting.fact(color: printer.usesColor))
            }
            let wanted = services.map(\.uuid)
            let options = [CBCentralManagerScanOptionAllowDuplicatesKey: duplicates]
            central.manager.scanForPeripherals(withServices: wanted.isEmpty ? nil : wanted, options: options)
            try await Interruption.wait(atMost: duration.map { .seconds($0) })
            central.manager.stopScan()
        }
    }
}
