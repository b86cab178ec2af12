import ArgumentParser
import BLERuntime
import CoreBluetooth

struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List peripherals that advertise nearby.",
        discussion: """
            Fails if there is no radio within 10 s of the start. If the radio is lost later, scanning resumes when it \
            is back.

            Examples:
              ble scan --duration 5
              ble scan --service 180D --json
              ble scan --duplicates --name Lamp --duration 5
              ble scan --rssi -60 --duration 5
              ble scan --age 2 --duration 5      devices heard in the last 2 seconds
              ble scan --duplicates --timestamps --duration 5
            """
    )

    @OptionGroup var output: OutputOptions

    @Option(
        name: .customLong("service"),
        help: "Only peripherals that advertise this service: a UUID or a name such as “Heart Rate”. Repeatable."
    )
    var services: [UUIDArgument] = []

    @Option(help: "Only peripherals whose name starts with this prefix (case-insensitive).")
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only signals of at least this strength, -127 to 20 (default: all).", valueName: "dBm"),
        transform: Bounds(-127...20, of: "dBm").read
    )
    var rssi: Int?

    @Option(
        help: ArgumentHelp(
            "Report only at the end, and only peripherals heard in the last <seconds> seconds.",
            valueName: "seconds"
        ),
        transform: Bounds.seconds().duration
    )
    var age: Duration?

    @Flag(help: "Report every advertisement instead of each peripheral once.")
    var duplicates = false

    @Option(
        help: ArgumentHelp("Stop after this time (default: no limit).", valueName: "seconds"),
        transform: Bounds.seconds().duration
    )
    var duration: Duration?

    func validate() throws {
        guard age == nil || !duplicates else {
            throw ValidationError("Do not combine --age with --duplicates: --age reports each peripheral once.")
        }
    }

    @MainActor
    func run() async throws {
        let start = ContinuousClock.now
        var recentPeripherals = LRUMap<ScannedPeripheral>()
        let printer = Printer(output)
        try await reportingErrors {
            let central = Central()
            try await central.powerOn()
            let interruption = Interruption()
            printer.remark(duration == nil ? "Scanning; press Ctrl-C to stop." : "Scanning …")
            var radio = RadioWatch()
            let follow = { (change: RadioWatch.OnChange) in
                switch change {
                case .appeared: scan(with: central)
                case .lost: printer.announce(.lost)
                case .returned:
                    printer.announce(.returned)
                    scan(with: central)
                case .nothing, .missing: break
                }
            }
            central.onDelegateCall = { happening in
                switch happening {
                case .discovered(let sighting) where isWanted(sighting):
                    guard age == nil else {
                        recentPeripherals.update(
                            sighting,
                            of: sighting.peripheral.identifier,
                            at: start.duration(to: .now)
                        )
                        return
                    }
                    printer.print(sighting.fact(color: printer.usesColor))
                case .stateChanged: follow(radio.changed(to: central.manager.state))
                default: break
                }
            }
            follow(radio.changed(to: central.manager.state))
            try await interruption.wait(atMost: duration)
            if central.isUsable { central.manager.stopScan() }
            guard let age else { return }
            for (sighting, age) in recentPeripherals.recent(within: age, at: start.duration(to: .now)) {
                printer.print(sighting.fact(color: printer.usesColor, age: age))
            }
        }
    }

    private func isWanted(_ sighting: ScannedPeripheral) -> Bool {
        if let rssi, sighting.rssi == 127 || sighting.rssi < rssi { return false }
        guard let name else { return true }
        return PeerReference(text: name).match(name: sighting.name) != nil
    }

    @MainActor
    private func scan(with central: Central) {
        let wanted = services.map(\.uuid)
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: duplicates || age != nil]
        central.manager.scanForPeripherals(withServices: wanted.isEmpty ? nil : wanted, options: options)
    }
}
