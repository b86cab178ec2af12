import BLERuntime
import CoreBluetooth

/// Channels that send back everything they receive.
@MainActor
final class ChannelEchoes {
    private let printer: Printer
    private var pipes: [ObjectIdentifier: ChannelPipe] = [:]

    init(_ printer: Printer) { self.printer = printer }

    /// Echoes on `channel` until it is closed.
    func add(_ channel: CBL2CAPChannel) {
        let key = ObjectIdentifier(channel)
        report("opened", channel, [:], "the channel is open")
        pipes[key] = ChannelPipe(channel, echoes: true) { [weak self] in
            if case .ended(let error) = $0 { self?.remove(key, error) }
        }
    }

    private func remove(_ key: ObjectIdentifier, _ error: (any Error)?) {
        guard let pipe = pipes.removeValue(forKey: key) else { return }
        var fields: [String: Any] = ["sent": pipe.sent, "received": pipe.received]
        fields["error"] = error.map(CommandError.describe)
        let end = error.map { "the channel broke (\(CommandError.describe($0)))" } ?? "the channel was closed"
        let words = "\(end) after receiving \(pipe.received.withNoun("octet")) and sending \(pipe.sent)"
        report("closed", pipe.channel, fields, words)
    }

    private func report(_ event: String, _ channel: CBL2CAPChannel, _ more: [String: Any], _ words: String) {
        let peer = channel.peer.identifier.uuidString
        let fields = DeviceKeys(channel.peer.identifier).fields
            .merging(["peer": peer, "psm": Int(channel.psm)]) { own, _ in own }
        printer.print(Fact(event, fields.merging(more) { _, new in new }, text: "\(peer): \(words)"))
    }
}
