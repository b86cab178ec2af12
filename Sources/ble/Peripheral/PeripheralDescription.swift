import BLERuntime
import BLESimulation
import BLEWire
import CoreBluetooth

/// A peripheral as a file describes it, for `ble serve`.
///
/// | key | what |
/// | --- | --- |
/// | `name` | what is advertised |
/// | `services` | list of services |
/// | service | `uuid`, `primary` (default true), `advertised` (default: primary ones are), `includes`, |
/// | | `characteristics` |
/// | `includes` | the UUIDs of services that come before this one |
/// | characteristic | `uuid`, `properties` and `permissions` (names as in Core Bluetooth; what the properties need if |
/// | | there are no permissions), `value`, `description`, `format`, `ticks` |
/// | `format` | the seven octets of a presentation format, as hexadecimal digits after `0x` |
/// | `value` | text, or hexadecimal digits after `0x`; 512 octets at most |
/// | `ticks` | `{"every": SECONDS, "values": [value …]}`: values that follow one another, and are notified |
struct PeripheralDescription: Decodable {
    struct Service: Decodable {
        let uuid: String
        let primary: Bool?
        let advertised: Bool?
        let includes: [String]?
        let characteristics: [Characteristic]?
    }

    struct Characteristic: Decodable {
        let uuid: String
        let properties: [String]
        let permissions: [String]?
        let value: AttributeValue?
        let description: String?
        let format: AttributeValue?
        let ticks: Ticks?
    }

    struct Ticks: Decodable {
        let every: Duration
        let values: [AttributeValue]

        private enum Key: String, CodingKey { case every, values }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            every = .seconds(try container.decode(Bounds.seconds(from: 0.01), forKey: .every))
            values = try container.decode([AttributeValue].self, forKey: .values)
        }
    }

    let name: String
    private(set) var services: [Service]

    /// Reads a description.
    ///
    /// - Throws: ``Trouble/unusableFile(_:_:)`` that names the place in the file and what is wrong there.
    init(path: String) throws {
        self = try Self.read(Self.self, from: path) { try $0.check() }
    }

    /// Reads one service more from a file of its own, and returns it.
    ///
    /// - Throws: ``Trouble/unusableFile(_:_:)`` as for a whole description, which stays as it was.
    mutating func add(path: String) throws -> Service {
        let service = try Self.read(Service.self, from: path) { service in
            var complete = self
            complete.services.append(service)
            try complete.check()
        }
        services.append(service)
        return service
    }

    /// Takes out the service of this type that came last; `false` if there is none, or another includes it.
    mutating func remove(_ uuid: CBUUID) -> Bool {
        let isIncluded = services.contains { ($0.includes ?? []).contains { CBUUID(string: $0) == uuid } }
        guard !isIncluded, let index = services.lastIndex(where: { CBUUID(string: $0.uuid) == uuid })
        else { return false }
        services.remove(at: index)
        return true
    }

    private static func read<Part: Decodable>(
        _: Part.Type,
        from path: String,
        check: (Part) throws -> Void
    ) throws -> Part {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw Trouble.unusableFile(path, "it cannot be read (\((error as NSError).localizedDescription))")
        }
        do {
            if let object = try? JSONSerialization.jsonObject(with: data),
                let stranger = (Part.self == Service.self ? DescriptionKeys.service : .peripheral).stranger(in: object)
            {
                throw Mistake(text: stranger)
            }
            let part = try JSONDecoder().decode(Part.self, from: data)
            try check(part)
            return part
        } catch let error as DecodingError {
            throw Trouble.unusableFile(error.place(in: path, data), error.explanation)
        } catch let error as Mistake {
            throw Trouble.unusableFile(path, error.text)
        }
    }

    private struct Mistake: Error { let text: String }

    private func check() throws {
        var known: [CBUUID] = []
        for service in services {
            guard let uuid = UUIDArgument(argument: service.uuid)?.uuid else { throw Self.badUUID(service.uuid) }
            for part in service.includes ?? [] {
                guard let part = UUIDArgument(argument: part)?.uuid else { throw Self.badUUID(part) }
                guard known.contains(part) else {
                    throw Mistake(text: "service \(service.uuid) includes \(part.uuidString), which is not before it")
                }
            }
            known.append(uuid)
            for characteristic in service.characteristics ?? [] { try check(characteristic) }
        }
    }

    private func check(_ characteristic: Characteristic) throws {
        guard UUIDArgument(argument: characteristic.uuid) != nil else { throw Self.badUUID(characteristic.uuid) }
        guard CBCharacteristicProperties(names: characteristic.properties) != nil else {
            let known = CBCharacteristicProperties.knownNames
            throw Mistake(text: "characteristic \(characteristic.uuid) has a property that is not one of \(known)")
        }
        if let names = characteristic.permissions, CBAttributePermissions(names: names) == nil {
            let known = CBAttributePermissions.knownNames
            throw Mistake(text: "characteristic \(characteristic.uuid) has a permission that is not one of \(known)")
        }
        if let description = characteristic.description, description.utf8.count > ATT.maximumValueLength {
            let most = ATT.maximumValueLength
            throw Mistake(text: "“description” of \(characteristic.uuid) has more than the \(most) octets of a value")
        }
        if let format = characteristic.format, format.octets.count != 7 {
            throw Mistake(text: "“format” of \(characteristic.uuid) takes seven octets")
        }
        if let ticks = characteristic.ticks, ticks.values.isEmpty {
            throw Mistake(text: "“ticks” of \(characteristic.uuid) needs values")
        }
    }

    private static func badUUID(_ text: String) -> Mistake {
        Mistake(text: "“\(text)” is no UUID: it takes 4, 8 or 36 characters")
    }
}

extension CBAttributePermissions {
    private static let named: [(CBAttributePermissions, String)] = [
        (.readable, "readable"), (.writeable, "writeable"), (.readEncryptionRequired, "readEncryptionRequired"),
        (.writeEncryptionRequired, "writeEncryptionRequired"),
    ]

    /// The names that there are, for people.
    static var knownNames: String { named.map(\.1).joined(separator: ", ") }

    /// The permissions of these names; `nil` for a name that there is not.
    init?(names: [String]) {
        self = []
        for name in names {
            guard let (permission, _) = Self.named.first(where: { $0.1 == name }) else { return nil }
            insert(permission)
        }
    }

    /// What everybody may do for whom these properties are meant.
    init(neededBy properties: CBCharacteristicProperties) {
        self = []
        if properties.contains(.read) { insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { insert(.writeable) }
    }
}
