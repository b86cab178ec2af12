import ArgumentParser
import BLEExplain
import CoreBluetooth

struct Clone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone",
        abstract: "Save a device, or the device in a capture, as a file for tests and for “ble serve”.",
        discussion: """
            Connects to the device, discovers its services, reads all readable values, and prints a device file. Use \
            the file with BLUETOOTH_HOST=world:FILE to run an app in a world with the device, with “ble serve FILE” \
            to act as the device, or in a test. The file describes the advertising data octet for octet, and contains \
            the device's address unless that is private. Values that cannot be read and advertisements that the \
            file format cannot describe are left out, with a remark.

            If the argument contains “/”, ends in .pcapng, .btsnoop, .pklg, .log or .cfa, or names a file, it is a \
            capture, and no radio is needed. The file then contains what the capture shows: discovered attributes, \
            the values of reads, notifications with their usual interval, and the values that always followed the \
            same write. Values that were not read are marked with “known”: false.

            Examples:
              ble clone Lamp > lamp.json
              BLUETOOTH_HOST=world:lamp.json ble inspect Lamp
              ble clone btsnoop_hci.log > lamp.json
              ble serve lamp.json
              BLUETOOTH_HOST=demo ble clone "Heart Rate"
            """
    )

    @Argument(
        help: ArgumentHelp(
            """
            The peripheral's name or a prefix of it, its address, or its identifier as “ble scan” prints it; or the \
            path of a capture file.
            """,
            valueName: "device-or-file"
        )
    )
    var source: String
    @OptionGroup var search: SearchOptions
    @OptionGroup var pairing: PeripheralPairingOptions
    @Option(help: "The device's address or the beginning of it, if the capture contains several devices.")
    var address: String?

    func validate() throws {
        guard address == nil || CapturedDevices.isCapture(source) else {
            throw ValidationError("--address selects a device in a capture, but “\(source)” is not a file.")
        }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(json: false)
        if CapturedDevices.isCapture(source) {
            return try await reportingErrors {
                let device = ClonedDevice(try await CapturedDevices(path: source).device(at: address))
                for remark in device.remarks { printer.remark(remark) }
                StandardOutput.write(line: device.text)
            }
        }
        try await withPeripheral(source, search, printer, pairing: pairing) { central, peripheral in
            let services = try await central.discover(
                peripheral,
                descriptors: true,
                incomplete: { printer.remark("\($0)") }
            )
            var device = ClonedDevice(central.name(of: peripheral) ?? source, seenAs: central.found)
            for service in ClonedDevice.inOrder(services) {
                try await device.add(service, of: peripheral, central, printer)
            }
            for remark in device.remarks { printer.remark(remark) }
            StandardOutput.write(line: device.text)
        }
    }
}
