import BLEHost
import BLEWire
import Foundation

/// A request from a test suite, decoded from a JSON line.
///
/// In one form, the key `op` holds the name of the request, and the other keys are the arguments. In the other form,
/// the name is a key whose value is an object with the arguments. Either form may be inside an object under the key
/// `do`. Unknown keys are ignored.
struct HostCall {
    /// The number of the request, which the answer repeats.
    let id: Int
    let name: String
    private let arguments: [String: Any]

    static let names = [
        "factory_reset", "read_local_address", "advertise", "stop_advertising", "scan", "stop_scan", "connect",
        "disconnect", "secure", "on_pairing", "pairing_reply", "discover", "read", "write", "subscribe",
    ]

    /// An error: the line is not a valid request.
    ///
    /// The error contains the reason, and the request's number if the line has one.
    struct Refusal: Error {
        let id: Int?
        let reason: String
    }

    init(line: String) throws(Refusal) {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] else {
            throw Refusal(id: nil, reason: "this is not a JSON object: \(line.prefix(200))")
        }
        guard let id = object["id"] as? Int else {
            throw Refusal(id: nil, reason: "id: expected a whole number")
        }
        self.id = id
        let content = object["do"] as? [String: Any] ?? object
        if let name = content["op"] as? String {
            (self.name, arguments) = (name, content)
        } else if let name = Self.names.first(where: { content[$0] != nil }) {
            (self.name, arguments) = (name, content[name] as? [String: Any] ?? [:])
        } else {
            throw Refusal(id: id, reason: "op: expected one of \(Self.names.joined(separator: ", "))")
        }
        guard Self.names.contains(name) else {
            throw Refusal(id: id, reason: "op: “\(name)” is not one of \(Self.names.joined(separator: ", "))")
        }
    }

    func flag(_ key: String, otherwise value: Bool) throws -> Bool {
        guard let given = self.value(key) else { return value }
        guard let flag = given as? Bool else { throw InvalidInput("\(key): expected true or false") }
        return flag
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let given = value(key) else { return nil }
        guard let number = given as? Int, range ~= number else {
            throw InvalidInput("\(key): expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func neededNumber(_ key: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = try number(key, in: range) else { throw InvalidInput("\(key) is missing") }
        return number
    }

    /// Returns the duration under `key`; `nil` if the key is missing.
    ///
    /// The value in the line, and `range`, are in milliseconds.
    func duration(_ key: String, in range: ClosedRange<Double>) throws -> Duration? {
        guard let given = value(key) else { return nil }
        guard let number = given as? Double, range ~= number else {
            throw InvalidInput("\(key): expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return .microseconds(Int(number * 1_000))
    }

    func octets(_ key: String) throws -> [UInt8] {
        guard let given = value(key) else { return [] }
        guard let text = given as? String, let octets = try? [UInt8](hexadecimal: text) else {
            throw InvalidInput("\(key): expected octets in hexadecimal digits")
        }
        return octets
    }

    func word(_ key: String) throws -> String? {
        guard let given = value(key) else { return nil }
        guard let word = given as? String else { throw InvalidInput("\(key): expected a string") }
        return word
    }

    func words(_ key: String) throws -> [String]? {
        guard let given = value(key) else { return nil }
        guard let words = given as? [String] else { throw InvalidInput("\(key): expected a list of strings") }
        return words
    }

    /// Returns the address in the keys `address` and `address_type`.
    func address() throws -> DeviceAddress { try Self.address(in: arguments, "") }

    /// Returns the address in the object under `key`; `nil` if the key is missing.
    func address(under key: String) throws -> DeviceAddress? {
        guard let given = value(key) else { return nil }
        guard let object = given as? [String: Any] else { throw InvalidInput("\(key): expected an object") }
        return try Self.address(in: object, key + ".")
    }

    private static func address(in object: [String: Any], _ prefix: String) throws -> DeviceAddress {
        guard let text = object["address"] as? String, let octets = try? [UInt8](hexadecimal: text), octets.count == 6
        else { throw InvalidInput("\(prefix)address: expected six octets in hexadecimal digits") }
        guard let kind = object["address_type"] as? Int, 0...1 ~= kind else {
            throw InvalidInput("\(prefix)address_type: expected 0 or 1")
        }
        let value = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        return DeviceAddress(value, kind == 0 ? .public : .random)
    }

    /// Returns the kind of host address in `own_address_type`; `nil` for the default.
    func ownAddress() throws -> OwnAddressKind? {
        switch try number("own_address_type", in: 0...3) {
        case 0: .public
        case 1: .random
        case nil: nil
        default: .resolvable
        }
    }

    private func value(_ key: String) -> Any? { arguments[key].flatMap { $0 is NSNull ? nil : $0 } }

    /// Returns whether a key has a value.
    func has(_ key: String) -> Bool { value(key) != nil }
}
