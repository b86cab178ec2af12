import ArgumentParser
import BLERuntime
import BLESimulation
import CoreBluetooth

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Act as the peripheral that a file describes.",
        discussion: """
            The file contains the peripheral's name, services and characteristics:
              {"name": "Lamp", "services": [{"uuid": "180F", "characteristics": [
                {"uuid": "2A19", "properties": ["read", "notify"], "value": "64",
                 "notify": {"every": 1000, "values": ["63", "64"]}}]}]}

            "value" is in hexadecimal digits; "text" is a string. "every" is in milliseconds. The format is that of \
            devices in worlds: “ble clone” prints such files, and BLUETOOTH_HOST=world:FILE is a world with the \
            device. If the file is a world with several machines, select one with --machine NAME.

            A line “UUID VALUE” on standard input sets a value and notifies subscribers. VALUE is text, or hexadecimal \
            digits after 0x; UUID may be a name such as Battery Level. “add FILE” publishes one more service, which \
            FILE describes like those in “services”; “remove UUID” removes one. Lines are read no faster than values \
            are sent. Answer pairing prompts with “yes”, “no” or six digits, or with “pair yes”, “pair no” or “pair \
            DIGITS”.

            The peripheral's name is also the Device Name in its GAP service, unless the radio belongs to a daemon.

            Fails if there is no radio within 10 s of the start. If the radio is lost later, services and advertising \
            resume when it is back, with the current values.

            Examples:
              ble serve lamp.json
              ble serve house.json --machine Lamp
              ble serve lamp.json --fault "silence at step didReceiveRead 3"
              echo "2A19 0x32" | ble serve lamp.json --json
            """
    )

    @Argument(help: "The JSON file that describes the peripheral.", completion: .file(extensions: ["json"]))
    var file: String
    @Option(help: ArgumentHelp("The machine to act as, if the file is a world with several.", valueName: "name"))
    var machine: String?
    @Option(
        help: ArgumentHelp("Stop after this time (default: no limit).", valueName: "seconds"),
        transform: Bounds.seconds().duration
    )
    var duration: Duration?
    @Option(
        name: .customLong("fault"),
        help: ArgumentHelp(
            """
            A fault to inject, such as “error 14 at step didReceiveRead 2 of FFA1”; see docs/FAULTS.md. \
            Repeatable.
            """,
            valueName: "fault"
        ),
        transform: { try DeviceFault($0) }
    )
    var faults: [DeviceFault] = []
    @OptionGroup var pairing: PairingOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let description = try PeripheralDescription(path: file, machine: machine)
            for remark in description.remarks { printer.remark(remark) }
            DefaultLink.name(hosts: description.device.name)
            let peripheral = DescribedPeripheral(description) { printer.print($0) }
            try peripheral.planFaults(faults)
            if let remark = PrivateWorld.remark() { printer.remark(remark) }
            var trouble: CommandError?
            let ending = Task { try await Interruption.wait(atMost: duration) }
            peripheral.onError = {
                trouble = $0
                ending.cancel()
            }
            let desk = PairingPrompts(pairing, printer, readsInput: false)
            defer { desk.close() }
            peripheral.onRadioChange = { printer.announce($0) }
            let start = RadioWatch.timer { peripheral.giveUpOnRadio() }
            defer { start.cancel() }
            let input = Task {
                while let line = await StandardInput.line(), !Task.isCancelled {
                    execute(line, peripheral, desk, printer)
                    await peripheral.valuesSent()
                }
            }
            _ = await ending.result
            input.cancel()
            peripheral.stop()
            if let trouble { throw trouble }
        }
    }

    @MainActor
    private func execute(
        _ line: String,
        _ peripheral: DescribedPeripheral,
        _ desk: PairingPrompts,
        _ printer: Printer
    ) {
        switch ServeLine(line) {
        case nil where desk.isAsking: desk.answer(line)
        case nil: printer.remark(Self.misunderstood(line))
        case .answer(let answer): desk.answer(answer)
        case .add(let path):
            do {
                for remark in try peripheral.add(path: path) { printer.remark(remark) }
            } catch {
                printer.remark("\(error)")
            }
        case .remove(let service):
            if !peripheral.remove(service) { printer.remark("There is no service \(service.uuidString) to remove.") }
        case .change(let characteristic, let text):
            do throws(AttributeValue.Mistake) {
                let value = try AttributeValue(text)
                if !peripheral.setValue(value.octets, of: characteristic) {
                    printer.remark("There is no characteristic \(characteristic.uuidString).")
                }
            } catch {
                printer.remark("\(characteristic.uuidString) was not changed: \(error).")
            }
        }
    }

    private static func misunderstood(_ line: String) -> String {
        """
        “\(line.printable)” is not valid. Type “UUID VALUE” (text, or hexadecimal digits after 0x), “add FILE”, \
        “remove UUID” or “pair yes|no|DIGITS”.
        """
    }
}
