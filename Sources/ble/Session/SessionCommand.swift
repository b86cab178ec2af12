import BLERuntime
import CoreBluetooth

/// One line of the input of `ble session`.
///
/// docs/SESSION.md describes the commands and their keys.
struct SessionCommand {
    /// The reason why a line is not a command, with the parts of the line that its answer repeats.
    struct Invalid: Error {
        var id: SessionID?
        var command: String?
        let reason: String
    }

    /// The names of the commands.
    enum Name: String, CaseIterable {
        case scan, stop, connect, disconnect, discover, read, write, subscribe, unsubscribe, rssi, mtu, pair, answer
        case unpair

        /// The keys that a command requires, and those that it may have, in addition to `command` and `id`.
        ///
        /// A command with `characteristic` and `handle` among its keys requires one of them, and so does one with
        /// `accept` and `digits`.
        var keys: (required: [String], optional: [String]) {
            switch self {
            case .scan: ([], ["services", "name", "min_rssi", "duplicates"])
            case .stop: ([], [])
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

        /// The attribute as its command names it, for messages.
        var description: String {
            switch self {
            case .reference(let reference): "\(reference)"
            case .handle(let handle): "with handle \(handle)"
            }
        }
    }

    /// The maximum length of a line in octets; longer lines are refused.
    static let mostOctets = 65_536
    /// The maximum length of a value in octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    private static let mostValueOctets = 512
    /// The maximum time limit in seconds: one year.
    private static let longest = 31_536_000.0

    let name: Name
    /// The identifier that the answer repeats; `nil` for none.
    let id: SessionID?
    private(set) var device = ""
    private(set) var attribute: Attribute?
    private(set) var value = Data()
    private(set) var response = true
    private(set) var reconnect = false
    private(set) var timeout = Duration.seconds(10)
    private(set) var services: [CBUUID] = []
    private(set) var namePrefix: String?
    private(set) var minimumRSSI: Int?
    private(set) var duplicates = false
    private(set) var accept: Bool?
    private(set) var digits: String?

    /// Parses a line.
    init(_ line: String) throws(Invalid) {
        guard line.utf8.count <= Self.mostOctets else { throw Self.tooLong }
        let parsed = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let object = parsed as? [String: Any] else { throw Invalid(reason: "The line is not a JSON object.") }
        var invalid = Invalid(reason: "")
        func fail(_ reason: String) -> Invalid { Invalid(id: invalid.id, command: invalid.command, reason: reason) }
        if let value = object["id"] {
            guard let id = SessionID(value) else { throw fail("“id” is neither a string nor a whole number.") }
            invalid.id = id
        }
        id = invalid.id
        guard let text = object["command"] as? String, let name = Name(rawValue: text) else {
            let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw fail("“command” is not one of \(known).")
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
        for (one, other) in [("characteristic", "handle"), ("accept", "digits")] where keys.optional.contains(other) {
            guard (object[one] == nil) != (object[other] == nil) else {
                throw fail("“\(text)” needs either “\(one)” or “\(other)”.")
            }
        }
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
            guard text.wholeMatch(of: /[0-9]{6}/) != nil else { throw Invalid(reason: "“digits” is not six digits.") }
            digits = text
        case "response": response = try Self.flag(key, value)
        case "timeout": timeout = .seconds(try Self.number(key, value, in: 0...Self.longest))
        case "min_rssi": minimumRSSI = Int(try Self.number(key, value, in: -127...20))
        case "handle":
            let number = try Self.number(key, value, in: 1...65_535)
            guard let handle = Int(exactly: number) else { throw Invalid(reason: "“handle” is not a whole number.") }
            attribute = .handle(handle)
        case "characteristic":
            let text = try Self.text(key, value)
            guard let reference = CharacteristicReference(argument: text) else {
                throw Invalid(reason: "“\(text)” is not a characteristic; use a UUID or an assigned name.")
            }
            attribute = .reference(reference)
        case "value":
            let most = Self.mostValueOctets
            guard let digits = value as? String, let octets = Data(hexadecimal: digits), octets.count <= most else {
                throw Invalid(reason: "“value” is not a string of hexadecimal digits for at most \(most) octets.")
            }
            self.value = octets
        default: services = try Self.services(key, value)
        }
    }

    private static func text(_ key: String, _ value: Any?) throws(Invalid) -> String {
        guard let text = value as? String, !text.isEmpty else {
            throw Invalid(reason: "“\(key)” is not a string, or empty.")
        }
        return text
    }

    private static func flag(_ key: String, _ value: Any?) throws(Invalid) -> Bool {
        guard let number = value as? NSNumber, number.isBoolean else {
            throw Invalid(reason: "“\(key)” is neither true nor false.")
        }
        return number.boolValue
    }

    private static func number(_ key: String, _ value: Any?, in range: ClosedRange<Double>) throws(Invalid) -> Double {
        guard let number = value as? NSNumber, !number.isBoolean, range.contains(number.doubleValue) else {
            let bounds = "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            throw Invalid(reason: "“\(key)” is not a number from \(bounds).")
        }
        return number.doubleValue
    }

    private static func services(_ key: String, _ value: Any?) throws(Invalid) -> [CBUUID] {
        guard let list = value as? [String] else { throw Invalid(reason: "“\(key)” is not an array of strings.") }
        var services: [CBUUID] = []
        for text in list {
            guard let service = UUIDArgument(text, of: .service) else {
                throw Invalid(reason: "“\(text)” is not a service; use a UUID or an assigned name.")
            }
            services.append(service.uuid)
        }
        return services
    }
}

/// The identifier of a command, which its answer repeats.
enum SessionID: Equatable {
    case text(String)
    case number(Int)

    /// The magnitude below which every whole number is exact in JSON, RFC 8259, 6.
    private static let limit: UInt = 1 << 53

    /// Creates an identifier from a value of JSON; `nil` unless it is a string or a whole number.
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

extension NSNumber {
    /// True if the value was `true` or `false` in JSON, which `NSNumber` also converts to numbers.
    fileprivate var isBoolean: Bool { String(cString: objCType) == "c" }
}
