import BLERuntime
import BLESimulation
import BLEWire
import CoreBluetooth

/// One line of the input of `ble session`.
///
/// docs/SESSION.md describes the commands and their keys.
struct SessionCommand {
    /// The reason why a line is not a command, with the parts of the line that the answer repeats.
    struct Invalid: Error {
        var id: SessionID?
        var command: String?
        let reason: String
    }

    /// The name of a command, as written in the key `command`.
    enum Name: String, CaseIterable {
        case scan, stop, connect, disconnect, discover, read, write, subscribe, unsubscribe, rssi, mtu, pair, answer
        case unpair, serve, withdraw, update, respond, send
        case startAdvertising = "start_advertising"
        case stopAdvertising = "stop_advertising"
        case openChannel = "open_channel"
        case closeChannel = "close_channel"
        case publishChannel = "publish_channel"
        case unpublishChannel = "unpublish_channel"

        /// The keys that a command requires, and those that it may have, in addition to `command` and `id`.
        ///
        /// If the optional keys contain `characteristic` and `handle`, `accept` and `digits`, or `file` and
        /// `description`, the command requires exactly one of the two. A command has at most one of `value` and
        /// `error`.
        var keys: (required: [String], optional: [String]) {
            switch self {
            case .scan: ([], ["services", "name", "min_rssi", "duplicates"])
            case .stop, .withdraw, .startAdvertising, .stopAdvertising: ([], [])
            case .serve: ([], ["file", "description", "machine", "ask", "advertise", "faults"])
            case .update: (["characteristic", "value"], [])
            case .respond: (["request"], ["value", "error"])
            case .openChannel: (["device", "psm"], [])
            case .closeChannel: (["channel"], [])
            case .send: (["channel", "value"], [])
            case .publishChannel: ([], ["encrypted"])
            case .unpublishChannel: (["psm"], [])
            case .connect: (["device"], ["timeout", "reconnect"])
            case .disconnect, .discover, .rssi, .mtu, .pair, .unpair: (["device"], [])
            case .answer: (["device"], ["accept", "digits"])
            case .read, .subscribe, .unsubscribe: (["device"], ["characteristic", "handle"])
            case .write: (["device", "value"], ["characteristic", "handle", "response"])
            }
        }

        /// All keys of the command, in alphabetical order.
        var allKeys: [String] { (keys.required + keys.optional + ["command", "id"]).sorted() }
    }

    /// The attribute that a command is about.
    enum Attribute {
        case reference(CharacteristicReference)
        case handle(Int)

        /// The attribute as the command names it, for error messages.
        var description: String {
            switch self {
            case .reference(let reference): "\(reference)"
            case .handle(let handle): "with handle \(handle)"
            }
        }
    }

    /// The maximum length of a line in octets; longer lines are refused.
    static let mostOctets = 65_536
    /// The maximum length of a value of an attribute in octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    private static let mostValueOctets = ATT.maximumValueLength
    /// The maximum number of octets that one command sends on a channel.
    private static let mostChannelOctets = 16_384
    /// The maximum time limit in seconds: one year.
    private static let longest = 31_536_000.0

    let name: Name
    /// The identifier that the answer repeats; `nil` for none.
    let id: SessionID?
    private(set) var device = ""
    private(set) var attribute: Attribute?
    private(set) var value: Data?
    private(set) var response = true
    private(set) var reconnect = false
    private(set) var timeout = Duration.seconds(10)
    private(set) var services: [CBUUID] = []
    private(set) var namePrefix: String?
    private(set) var minimumRSSI: Int?
    private(set) var duplicates = false
    private(set) var accept: Bool?
    private(set) var digits: String?
    private(set) var request = 0
    private(set) var errorCode: Int?
    private(set) var channel = 0
    private(set) var psm = 0
    private(set) var encrypted = false
    private(set) var advertise = true
    private(set) var asked: [CharacteristicReference] = []
    private(set) var faults: [DeviceFault] = []
    private var file: String?
    private var machine: String?
    private var description: SimulatedPeripheral?

    /// Parses a line.
    init(_ line: String) throws(Invalid) {
        guard line.utf8.count <= Self.mostOctets else { throw Self.tooLong }
        let parsed = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let object = parsed as? [String: Any] else { throw Invalid(reason: "The line is not a JSON object.") }
        var invalid = Invalid(reason: "")
        func fail(_ reason: String) -> Invalid { Invalid(id: invalid.id, command: invalid.command, reason: reason) }
        if let value = object["id"] {
            guard let id = SessionID(value) else {
                throw fail("“id” must be a string, or a whole number between -2⁵³ and 2⁵³.")
            }
            invalid.id = id
        }
        id = invalid.id
        let commands = "The commands are \(Name.allCases.map(\.rawValue).joined(separator: ", "))."
        guard let text = object["command"] as? String else {
            throw fail("The key “command” is missing, or is not a string. \(commands)")
        }
        guard let name = Name(rawValue: text) else {
            throw fail("There is no command “\(String(text.prefix(40)).printable)”. \(commands)")
        }
        self.name = name
        invalid.command = text
        let keys = name.keys, known = name.allKeys
        if let key = object.keys.sorted().first(where: { !known.contains($0) }) {
            throw fail("“\(key)” is not a key of “\(text)”; its keys are \(known.joined(separator: ", ")).")
        }
        if let key = keys.required.first(where: { object[$0] == nil }) {
            throw fail("“\(text)” needs the key “\(key)”.")
        }
        do throws(Invalid) {
            for key in object.keys.sorted() where key != "id" && key != "command" { try take(key, object[key]) }
        } catch {
            throw fail(error.reason)
        }
        for (one, other) in Self.alternatives where keys.optional.contains(other) {
            guard (object[one] == nil) != (object[other] == nil) else {
                throw fail("“\(text)” needs either “\(one)” or “\(other)”, not both.")
            }
        }
        guard object["value"] == nil || object["error"] == nil else {
            throw fail("“\(text)” takes either “value” or “error”, not both.")
        }
        guard object["machine"] == nil || object["file"] != nil else {
            throw fail("“machine” selects a device in “file”, but there is no “file”.")
        }
    }

    /// The pairs of keys that exclude each other; a command that allows both keys of a pair needs exactly one of them.
    private static let alternatives = [("characteristic", "handle"), ("accept", "digits"), ("file", "description")]

    /// Returns the device that `serve` publishes.
    ///
    /// - Throws: ``CommandError/unusableFile(_:_:)`` if the file does not describe a device.
    func peripheral() throws -> PeripheralDescription {
        if let description { return PeripheralDescription(description) }
        return try PeripheralDescription(path: file ?? "", machine: machine)
    }

    /// The error for a line that is longer than ``mostOctets``.
    static var tooLong: Invalid { Invalid(reason: "The line is longer than \(mostOctets) octets.") }

    private mutating func take(_ key: String, _ value: Any?) throws(Invalid) {
        switch key {
        case "device": device = try Self.text(key, value)
        case "name": namePrefix = try Self.text(key, value)
        case "duplicates": duplicates = try Self.flag(key, value)
        case "reconnect": reconnect = try Self.flag(key, value)
        case "accept": accept = try Self.flag(key, value)
        case "digits":
            let text = try Self.text(key, value)
            guard text.wholeMatch(of: /[0-9]{6}/) != nil else { throw Invalid(reason: "“digits” must be six digits.") }
            digits = text
        case "response": response = try Self.flag(key, value)
        case "timeout": timeout = .seconds(try Self.number(key, value, in: 0...Self.longest))
        case "min_rssi": minimumRSSI = Int(try Self.number(key, value, in: -127...20))
        case "handle":
            attribute = .handle(try Self.whole(key, value, in: 1...65_535))
        case "characteristic": attribute = .reference(try Self.reference(try Self.text(key, value)))
        case "request": request = try Self.whole(key, value, in: 1...Double(Int32.max))
        case "channel": channel = try Self.whole(key, value, in: 1...Double(Int32.max))
        case "psm": psm = try Self.whole(key, value, in: 1...65_535)
        case "error": errorCode = try Self.whole(key, value, in: 1...255)
        case "encrypted": encrypted = try Self.flag(key, value)
        case "advertise": advertise = try Self.flag(key, value)
        case "file": file = try Self.text(key, value)
        case "machine": machine = try Self.text(key, value)
        case "description": description = try Self.device(key, value)
        case "faults": faults = try Self.faults(key, value)
        case "ask": asked = try Self.references(key, value)
        case "value":
            let most = name == .send ? Self.mostChannelOctets : Self.mostValueOctets
            guard let digits = value as? String, let octets = Data(hexadecimal: digits), octets.count <= most else {
                throw Invalid(
                    reason: "“value” must be a string of pairs of hexadecimal digits, for at most \(most) octets."
                )
            }
            self.value = octets
        default: services = try Self.services(key, value)
        }
    }
}

/// The identifier of a command, which its answer repeats.
enum SessionID: Equatable {
    case text(String)
    case number(Int)

    /// The magnitude below which every whole number is exact in JSON, RFC 8259, 6.
    private static let limit: UInt = 1 << 53

    /// Creates an identifier from a JSON value; `nil` unless it is a string, or a whole number below the limit.
    init?(_ value: Any) {
        if let text = value as? String {
            self = .text(text)
        } else if let number = value as? NSNumber, !number.isBoolean, let whole = Int(exactly: number.doubleValue),
            whole.magnitude < Self.limit
        {
            self = .number(whole)
        } else {
            return nil
        }
    }

    /// The value for JSON.
    var value: Any {
        switch self {
        case .text(let text): text
        case .number(let number): number
        }
    }
}
