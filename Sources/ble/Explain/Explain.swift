import ArgumentParser
import BLEExplain
import BLERuntime
import BLEWire
import CoreBluetooth

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show a capture as a page: every event over time, and the causes of failures.",
        discussion: """
            Prints one HTML file that needs no network. It shows the calls and callbacks of apps, the ATT requests \
            with the names of attributes and decoded values, pairing, L2CAP channels, links, HCI packets and RSSI over \
            one time axis. Select an event to see its packet field by field, and everything that belongs to it.

            The capture is pcapng or btsnoop, as “ble monitor --write”, btmon and phones write it, or pklg from \
            Apple's PacketLogger. Keys are left out, so that the page can be shared; --keys keeps them.

            Examples:
              ble explain talk.pcapng > page.html
              ble explain btsnoop_hci.log --title "Lamp does not answer" > page.html
              ble demo --page demo.html
            """
    )

    @Argument(help: "The capture, a pcapng, btsnoop or pklg file.", completion: .file())
    var file: String
    @Option(help: "The title of the page (default: the name of the file).")
    var title: String?
    @Flag(help: "Keep the keys of pairings and links.")
    var keys = false

    @MainActor
    func run() async throws {
        try await reportingErrors {
            let input = try CaptureInput(path: file, but: [])
            var builder = TimelineBuilder(keys: keys, reading: ValueFormat.reading)
            try await input.read { builder.add($0) }
            let name = title ?? file.split(separator: "/").last.map(String.init) ?? file
            StandardOutput.write(ExplainPage(builder.finish(), title: name).html.utf8)
        }
    }
}

extension ValueFormat {
    /// Returns the text for a value of a characteristic of this type; `nil` if `ble` knows no assigned format for the
    /// type, or the octets do not fit the format.
    static func reading(_ type: BluetoothUUID, _ octets: [UInt8]) -> String? {
        ValueFormat(assignedTo: CBUUID(type))?.text(of: Data(octets))
    }
}
