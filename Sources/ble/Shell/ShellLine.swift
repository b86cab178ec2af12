import BLERuntime
import BLEWire
import CoreBluetooth

/// A line that a user typed in `ble shell`.
enum ShellLine {
    case nothing
    case help
    case quit
    case watch(String, every: Double)
    case unwatch
    /// A command of a session, with its keys.
    case command([String: Any])

    /// The reason why a line is not valid, as a sentence.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    /// The commands, each with its name, its arguments and a description.
    static let commands: [(name: String, arguments: String, description: String)] = [
        ("scan", "[NAME]", "list devices, or those whose name begins with NAME, until “stop”"),
        ("stop", "", "stop scanning"),
        ("connect", "DEVICE", "connect to a device by name, address or identifier, and keep it connected"),
        ("disconnect", "", "end the connection"),
        ("discover", "", "show services, characteristics and descriptors"),
        ("read", "CHARACTERISTIC", "read a value"),
        ("write", "CHARACTERISTIC VALUE", "write text, or hexadecimal digits after 0x"),
        ("send", "CHARACTERISTIC VALUE", "write without response"),
        ("subscribe", "CHARACTERISTIC", "show notifications and indications"),
        ("unsubscribe", "CHARACTERISTIC", "stop showing notifications and indications"),
        ("watch", "CHARACTERISTIC [SECONDS]", "read every SECONDS (default: 1), and show changes, until “unwatch”"),
        ("unwatch", "", "stop reading at intervals"),
        ("rssi", "", "show the signal strength"),
        ("mtu", "", "show the MTU"),
        ("pair", "", "pair with the device"),
        ("unpair", "", "remove the bond"),
        ("help", "", "show this list"),
        ("quit", "", "disconnect, and end the shell"),
    ]

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - device: The device that commands are about; `nil` if there is none.
    /// - Throws: The reason why the line is not valid.
    init(_ line: String, device: String?) throws(Mistake) {
        let words = Self.words(line)
        guard let name = words.first else {
            self = .nothing
            return
        }
        let rest = words.dropFirst().joined(separator: " ")
        guard let command = Self.commands.first(where: { $0.name == name }) else {
            throw Mistake(description: "“\(name)” is not a command. “help” lists the commands.")
        }
        let counts = Self.counts(of: command.arguments, words: words.count - 1)
        guard counts else {
            throw Mistake(description: "Usage: \(name) \(command.arguments)".trimmingCharacters(in: .whitespaces))
        }
        func keys(_ more: [String: Any] = [:], as command: String? = nil) throws(Mistake) -> Self {
            guard let device else { throw Mistake(description: "No device is connected. Use “connect DEVICE” first.") }
            return .command(["command": command ?? name, "device": device].merging(more) { $1 })
        }
        switch name {
        case "help": self = .help
        case "quit": self = .quit
        case "scan": self = .command(["command": name].merging(rest.isEmpty ? [:] : ["name": rest]) { $1 })
        case "stop": self = .command(["command": name])
        case "connect": self = .command(["command": name, "device": rest, "reconnect": true])
        case "read", "subscribe", "unsubscribe": self = try keys(["characteristic": words[1]])
        case "write", "send":
            let value = try Self.value(words.dropFirst(2).joined(separator: " "))
            let keys = try keys(["characteristic": words[1], "value": value, "response": name == "write"], as: "write")
            self = keys
        case "watch":
            let seconds = words.count > 2 ? Double(words[2]) : 1
            guard let seconds, 0.1...86_400 ~= seconds else {
                throw Mistake(description: "“\(words[2])” is not a number of seconds from 0.1 to 86400.")
            }
            self = .watch(words[1], every: seconds)
        case "unwatch": self = .unwatch
        default: self = try keys()
        }
    }

    /// Returns whether a command that takes `arguments`, as ``commands`` describes them, may be followed by `words`
    /// words.
    private static func counts(of arguments: String, words: Int) -> Bool {
        switch arguments {
        case "": words == 0
        case "[NAME]": true
        case "DEVICE": words > 0
        case "CHARACTERISTIC": words == 1
        case "CHARACTERISTIC [SECONDS]": 1...2 ~= words
        default: words >= 2
        }
    }

    private static func value(_ text: String) throws(Mistake) -> String {
        do throws(AttributeValue.Mistake) {
            return try AttributeValue(text).octets.hexadecimal
        } catch {
            throw Mistake(description: "\(error).")
        }
    }

    /// Returns the words of a line; quotes join several words into one.
    static func words(_ line: String) -> [String] {
        var words: [String] = [], word = "", isQuoted = false, hasWord = false
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                hasWord = true
            case " " where !isQuoted:
                if hasWord { words.append(word) }
                (word, hasWord) = ("", false)
            default:
                word.append(character)
                hasWord = true
            }
        }
        return hasWord ? words + [word] : words
    }
}

/// The completions of lines of `ble shell`.
struct ShellCompletion {
    /// The maximum number of devices; later devices are not offered as completions.
    private static let mostDevices = 256

    private var devices: [String] = []
    /// The UUIDs and names of the connected device's characteristics.
    private var characteristics: [String] = []

    /// Adds the name of a device, unless the name has characters that are unsafe on a terminal.
    mutating func add(device: String) {
        guard device == device.printable else { return }
        if devices.count < Self.mostDevices, !devices.contains(device) { devices.append(device) }
    }

    /// Replaces the characteristics of the connected device.
    mutating func set(characteristics uuids: [String]) {
        characteristics = []
        for uuid in uuids where !characteristics.contains(uuid) { characteristics.append(uuid) }
        for uuid in uuids {
            let name = "\(CBUUID(string: uuid))"
            if name != uuid, !characteristics.contains(name) { characteristics.append(name) }
        }
    }

    /// Returns the completions of the part of a line before the cursor.
    func complete(_ line: String) -> LineEditor.Completions {
        let words = ShellLine.words(line)
        guard let command = words.first, words.count > 1 || line.hasSuffix(" ") else {
            return Self.matching(ShellLine.commands.map(\.name), line)
        }
        let start = line.dropFirst(command.count).drop { $0 == " " }
        switch command {
        case "connect", "scan": return Self.matching(devices, String(start))
        case "read", "subscribe", "unsubscribe", "watch", "write", "send":
            guard words.count < 3, words.count == 1 || !line.hasSuffix(" ") || start.hasPrefix("\"") else { break }
            let typed = String(start)
            let own = Self.matching(characteristics.map(Self.quoted), typed)
            guard own.candidates.isEmpty, typed.count > 1 else { return own }
            let names = AssignedNames.characteristics.values.sorted()
            return Self.matching(names.map(Self.quoted), typed)
        default: break
        }
        return .init(replaced: 0, candidates: [])
    }

    private static func quoted(_ text: String) -> String { text.contains(" ") ? "\"\(text)\"" : text }

    private static func matching(_ candidates: [String], _ typed: String) -> LineEditor.Completions {
        let plain = typed.lowercased().filter { $0 != "\"" }
        let found = candidates.filter { $0.lowercased().filter { $0 != "\"" }.hasPrefix(plain) }
        return .init(replaced: typed.count, candidates: found)
    }
}
