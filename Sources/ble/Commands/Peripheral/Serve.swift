import ArgumentParser
import BLERuntime
import BLESimulation
import CoreBluetooth

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Be the peripheral that a file describes.",
        discussion: """
            The file names the peripheral, its services and their characteristics:
              {"name": "Lamp", "services": [{"uuid": "180F", "characteristics": [
                {"uuid": "2A19", "properties": ["read", "notify"], "value": "64",
                 "notify": {"every": 1000, "values": ["63", "64"]}}]}]}

            Values are hexadecimal digits, or characters as "text"; "every" is in milliseconds. It is the form of \
            devices in worlds: what “ble clone” prints can be served, and BLUETOOTH_HOST=world:FILE is a world with \
            the device. Of a world with several machines, --machine NAME says which one to be.

            A line “UUID VALUE” on standard input changes a value, and notifies those who subscribed to it; VALUE is \
            text, or hexadecimal digits after 0x, and UUID may be a name such as Battery Level. “add FILE” publishes \
            one service more, which a file describes as those of a peripheral, and “remove UUID” takes one back. \
            Lines are read no faster than values are sent. “yes”, “no” and six digits answer what is asked when a \
            device pairs; so do “pair yes”, “pair no” and “pair DIGITS”.

            The peripheral's name is also the Device Name of its GAP service, except where the radio is a daemon's.

            There must be a radio within 10 s of the start. One that is lost later is waited for, and everything is \
            published and advertised anew when it is back; values stay what they have become.

            Examples:
              ble serve lamp.json
              ble serve house.json --machine Lamp
              echo "2A19 0x32" | ble serve lamp.json --json
            """
    )

    @Argument(help: "The description, a JSON file.", completion: .file(extensions: ["json"]))
    var file: String
    @Option(help: ArgumentHelp("Which machine of a world to be.", valueName: "name"))
    var machine: String?
    @Option(
        help: ArgumentHelp("How long to serve; until interrupted if left out.", valueName: "seconds"),
        transform: Bounds.seconds().duration
    )
    var duration: Duration?
    @OptionGroup var pairing: PairingOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingTrouble {
            let description = try PeripheralDescription(path: file, machine: machine)
            for remark in description.remarks { printer.remark(remark) }
            DefaultLink.name(hosts: description.device.name)
            let peripheral = DescribedPeripheral(description) { printer.print($0) }
            if let remark = LonelyWorld.remark() { printer.remark(remark) }
            var trouble: Trouble?
            let ending = Task { try await Interruption.wait(atMost: duration) }
            peripheral.onTrouble = {
                trouble = $0
                ending.cancel()
            }
            let desk = PairingDesk(pairing, printer, readsInput: false)
            defer { desk.close() }
            peripheral.onRadioChange = { printer.announce($0) }
            let start = RadioWatch.timer { peripheral.giveUpOnRadio() }
            defer { start.cancel() }
            let input = Task {
                while let line = await StandardInput.line(), !Task.isCancelled {
                    obey(line, peripheral, desk, printer)
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
    private func obey(
        _ line: String,
        _ peripheral: DescribedPeripheral,
        _ desk: PairingDesk,
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
            if !peripheral.remove(service) { printer.remark("No service \(service.uuidString) can be removed.") }
        case .change(let characteristic, let text):
            do throws(AttributeValue.Mistake) {
                let value = try AttributeValue(text)
                if !peripheral.setValue(value.octets, of: characteristic) {
                    printer.remark("There is no characteristic \(characteristic.uuidString).")
                }
            } catch {
                printer.remark("\(characteristic.uuidString) stays as it is: \(error).")
            }
        }
    }

    private static func misunderstood(_ line: String) -> String {
        """
        “\(line)” is none of “UUID VALUE”, where VALUE is text or digits after 0x, “add FILE”, “remove UUID” \
        and “pair yes|no|DIGITS”.
        """
    }
}
