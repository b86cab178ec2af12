import BLERuntime
import CoreBluetooth

/// An interactive session: it takes the lines that ``ShellLine`` describes, and prints text for users rather than
/// JSON.
@MainActor
final class Shell {
    private let clock: any Clock<Duration>
    private let usesColor: Bool
    private let print: (String) -> Void
    private var engine: SessionEngine!
    /// The identifier of the device that commands are about; `nil` before the first connection and after `disconnect`.
    private var device: String?
    private var watching: Task<Void, any Error>?
    /// The last line printed for the watched characteristic; `nil` before the first value.
    private var watched: String?
    private(set) var completion = ShellCompletion()
    /// True if a command has failed.
    private(set) var hasFailed = false

    /// The identifier of the `read` commands that `watch` repeats.
    private static let watchID = "watch"

    /// Creates a shell.
    ///
    /// - Parameters:
    ///   - clock: Measures pauses and time limits.
    ///   - usesColor: True to print in colour.
    ///   - print: Called with each line of text.
    init(clock: any Clock<Duration> = ContinuousClock(), usesColor: Bool, print: @escaping (String) -> Void) {
        (self.clock, self.usesColor, self.print) = (clock, usesColor, print)
        engine = SessionEngine(clock: clock) { [weak self] fact in MainActor.assumeIsolated { self?.show(fact) } }
    }

    /// Waits for the radio.
    func start() async throws { try await engine.start() }

    /// Runs the command on a line; returns false if the command ends the shell.
    ///
    /// Returns when the command has been started; ``finish()`` waits for its answer.
    func take(_ line: String) async -> Bool {
        do throws(ShellLine.Mistake) {
            switch try ShellLine(line, device: device) {
            case .nothing: break
            case .help: for text in Self.help { print(text) }
            case .quit: return false
            case .watch(let characteristic, let seconds): try watch(characteristic, every: .seconds(seconds))
            case .unwatch: watching?.cancel()
            case .command(let keys): await engine.take(Self.text(keys))
            }
        } catch {
            fail("\(error)")
        }
        return true
    }

    /// Waits for the answers to all commands.
    func finish() async { await engine.finish() }

    /// Cancels all commands, and disconnects.
    func close() async {
        watching?.cancel()
        engine.interrupt()
        await engine.close(because: .interrupted)
    }

    private static var help: [String] {
        let titles = ShellLine.commands.map { "\($0.name) \($0.arguments)".trimmingCharacters(in: .whitespaces) }
        let width = (titles.map(\.count).max() ?? 0) + 2
        return zip(titles, ShellLine.commands).map { "  " + $0.padded(to: width) + $1.description }
    }

    private static func text(_ keys: [String: Any]) -> String {
        guard let data = try? JSONSerialization.data(withJSONObject: keys) else {
            preconditionFailure("a command contains only values that JSON can represent: \(keys)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private func watch(_ characteristic: String, every pause: Duration) throws(ShellLine.Mistake) {
        guard let device else {
            throw ShellLine.Mistake(description: "No device is connected. Use “connect DEVICE” first.")
        }
        let keys = ["command": "read", "device": device, "characteristic": characteristic, "id": Self.watchID]
        watching?.cancel()
        watched = nil
        watching = Task { [weak self, clock] in
            while let self, !Task.isCancelled {
                await self.engine.take(Self.text(keys))
                try await clock.sleep(for: pause)
            }
        }
    }

    private func fail(_ text: String) {
        hasFailed = true
        print(text)
    }

    /// Shows an answer or event of the session.
    private func show(_ fact: Fact) {
        let fields = fact.fields
        switch fact.event {
        case "ready", "ended": return
        case "failed":
            if fields["id"] as? String == Self.watchID { watching?.cancel() }
            return fail(fields["error"] as? String ?? "The command failed.")
        case "done": return showAnswer(fields)
        case "discovered":
            if let name = fields["name"] as? String { completion.add(device: name) }
            return print(fact.text)
        case "connected": print("Connected to \(Self.name(fields)).")
        case "disconnected":
            let reason = (fields["reason"] as? String).map { ": \($0)" } ?? "."
            let again = fields["reconnecting"] as? Bool == true ? " Reconnecting …" : ""
            print("Disconnected from \(Self.name(fields))\(reason)\(again)")
        case "received", "resubscribed": print(Self.line(fields))
        case "services_changed": print("\(Self.name(fields)) changed its services; “discover” shows them.")
        case "unsubscribed": print("\(Self.title(fields)): \(fields["reason"] as? String ?? "the subscription ended")")
        case "paired": print("Paired with \(Self.name(fields)).")
        case "pairing_failed": fail("Pairing failed: \(fields["reason"] as? String ?? "unknown reason").")
        case "radio_lost": print(RadioChange.lost.remark)
        case "radio_returned": print(RadioChange.returned.remark)
        default: break
        }
    }

    private func showAnswer(_ fields: [String: Any]) {
        switch fields["command"] as? String {
        case "connect":
            device = fields["identifier"] as? String
            if let name = fields["name"] as? String { completion.add(device: name) }
        case "disconnect":
            device = nil
            completion.set(characteristics: [])
            watching?.cancel()
        case "discover": show(services: fields["services"] as? [[String: Any]] ?? [])
        case "read":
            let line = Self.line(fields)
            guard fields["id"] as? String == Self.watchID else { return print(line) }
            if line != watched { print(line) }
            watched = line
        case "rssi": print("\(fields["rssi"] ?? "?") dBm")
        case "mtu":
            let most = "a write without response can carry at most \(fields["maximum_write_length"] ?? "?") octets"
            print("\(fields["mtu"] ?? "?") octets; \(most)")
        default: break
        }
    }

    private func show(services: [[String: Any]]) {
        var uuids: [String] = []
        for service in services {
            print("service \(Self.title(of: service["uuid"]))".bold(usesColor))
            for characteristic in service["characteristics"] as? [[String: Any]] ?? [] {
                let properties = (characteristic["properties"] as? [String] ?? []).joined(separator: " ")
                print("  characteristic \(Self.title(characteristic))  [\(properties)]")
                if let uuid = characteristic["uuid"] as? String { uuids.append(uuid) }
                for descriptor in characteristic["descriptors"] as? [[String: Any]] ?? [] {
                    print("    descriptor \(Self.title(of: descriptor["uuid"]))".faint(usesColor))
                }
            }
        }
        completion.set(characteristics: uuids)
    }

    /// Returns the line for a value of a characteristic.
    private static func line(_ fields: [String: Any]) -> String {
        let digits = fields["value"] as? String ?? ""
        let shown = fields["reading"] as? String ?? (fields["text"] as? String).map { "“\($0)”" }
        let value = shown.map { "\($0)  (0x\(digits))" } ?? (digits.isEmpty ? "(empty)" : "0x\(digits)")
        return "\(title(fields)): \(value)"
    }

    /// Returns the UUID and name of the characteristic in an event.
    private static func title(_ fields: [String: Any]) -> String {
        let mark = (fields["instance"] as? Int).map { $0 > 1 ? "#\($0)" : "" } ?? ""
        return title(of: fields["characteristic"]) + mark
    }

    private static func title(of uuid: Any?) -> String {
        guard let uuid = uuid as? String else { return "?" }
        let name = "\(CBUUID(string: uuid))"
        return name == uuid ? uuid : "\(uuid) \(name)"
    }

    private static func name(_ fields: [String: Any]) -> String {
        (fields["name"] as? String)?.printable ?? fields["identifier"] as? String ?? "the device"
    }
}
