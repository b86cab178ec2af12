import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// A test case for the command `att`, as described in a file.
struct AttributeCase: Decodable {
    /// The server's attribute database.
    struct Database: Decodable {
        let services: [Service]
    }

    struct Service: Decodable {
        let type: String
        let uuid: String
        let start: AttributeHandle
        let end: AttributeHandle
        let items: [Item]
    }

    struct Item: Decodable {
        let kind: String
        let handle: AttributeHandle
        let uuid: String
        let start: AttributeHandle?
        let end: AttributeHandle?
        let properties: CharacteristicProperties?
        let value_handle: AttributeHandle?
        let permissions: AttributePermissions?
        let value: String?
    }

    let mtu: MTU
    let context: String?
    let database: Database?
    let operation: AttributeOperation.Description?

    init(file path: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch { throw InvalidInput("\(path): \(SystemFile.reason(for: error, at: path))") }
    }

    init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }

    /// The configuration of an attribute layer that supports the MTU of this case.
    var configuration: AttributeLayer.Configuration { .init(preferredMTU: mtu.octets) }

    /// Creates the database that the test case describes, with the same handles.
    func makeDatabase() throws -> GATTDatabase {
        let services = try (database?.services ?? []).map { try $0.exact() }
        guard let database = GATTDatabase(exactly: services) else {
            throw InvalidInput("services or attributes overlap, or an attribute lies outside its service")
        }
        return database
    }
}

extension AttributeCase.Service {
    fileprivate func exact() throws -> GATTDatabase.ExactService {
        guard ["primary", "secondary"].contains(type) else {
            throw InvalidInput("type: expected primary or secondary, not “\(type)”")
        }
        guard let range = AttributeHandleRange(start, end) else {
            throw InvalidInput("invalid range of a service: \(start) to \(end)")
        }
        return .init(
            uuid: try BluetoothUUID(spelled: uuid),
            isPrimary: type == "primary",
            range: range,
            items: try items.map { try $0.exact() }
        )
    }
}

extension AttributeCase.Item {
    fileprivate func exact() throws -> GATTDatabase.ExactItem {
        let uuid = try BluetoothUUID(spelled: uuid)
        let permissions = permissions ?? []
        let value = try [UInt8](hexadecimal: value ?? "")
        guard value.count <= ATT.maximumValueLength else {
            throw InvalidInput("the value at \(handle) has more than \(ATT.maximumValueLength) octets")
        }
        switch kind {
        case "include":
            guard let range = AttributeHandleRange(start ?? .none, end ?? .none) else {
                throw InvalidInput("the include at \(handle) has no valid range")
            }
            return .include(handle, uuid, range)
        case "characteristic":
            guard let value_handle, value_handle > handle else {
                throw InvalidInput("value_handle of the characteristic at \(handle): expected a handle after \(handle)")
            }
            return .characteristic(
                handle,
                uuid,
                properties ?? [],
                value: (value_handle, value),
                permissions
            )
        case "descriptor": return .descriptor(handle, uuid, permissions, value)
        default: throw InvalidInput("kind: expected include, characteristic or descriptor, not “\(kind)”")
        }
    }
}

extension BluetoothUUID {
    /// Creates a UUID from text in a test case.
    init(spelled text: String) throws {
        guard let uuid = BluetoothUUID(text) else { throw InvalidInput("invalid UUID: \(text)") }
        self = uuid
    }

    /// The UUID as text for the test suite: 4 digits or 36 characters, in lower case.
    var spelling: String { attributeForm.description.lowercased() }
}

extension [UInt8] {
    /// Creates octets from hexadecimal text with two digits for each octet.
    init(hexadecimal text: String) throws {
        let digits = Array<Character>(text)
        guard digits.count.isMultiple(of: 2) else { throw InvalidInput("invalid octets: \(text)") }
        self = try stride(from: 0, to: digits.count, by: 2).map { index in
            guard let octet = UInt8(String(digits[index...index + 1]), radix: 16) else {
                throw InvalidInput("invalid octets: \(text)")
            }
            return octet
        }
    }
}

/// The MTU that each end of the link supports, in octets.
struct MTU: Decodable {
    let octets: Int

    init(from decoder: any Decoder) throws {
        octets = try Bounds(ATT.defaultMTU...Int(UInt16.max), of: "octets").decode(from: decoder)
    }
}

extension AttributeHandle: Decodable {
    package init(from decoder: any Decoder) throws {
        self.init(wire: try Bounds(0...UInt16.max).decode(from: decoder))
    }
}

extension CharacteristicProperties: Decodable {
    /// Decodes the properties from the octet that a characteristic's declaration contains.
    package init(from decoder: any Decoder) throws {
        self.init(rawValue: UInt16(try Bounds(0...UInt8.max).decode(from: decoder)))
    }
}

extension AttributePermissions: Decodable {
    package init(from decoder: any Decoder) throws {
        self.init(rawValue: UInt16(try Bounds(0...UInt8.max).decode(from: decoder)))
    }
}
