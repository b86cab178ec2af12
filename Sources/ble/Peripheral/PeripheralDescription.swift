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
/// | characteristic | `uuid`, `properties` (names as in Core Bluetooth), `value`, `description`, `format`, `ticks` |
/// | `format` | the seven octets of a presentation format, as hexadecimal digits after `0x` |
/// | `value` | text, or hexadecimal digits after `0x` |
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
        let value: String?
        let description: String?
        let format: String?
        let ticks: Ticks?
    }

    struct Ticks: Decodable {
        let every: Double
        let values: [String]
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
            let part = try JSONDecoder().decode(Part.self, from: data)
            try check(part)
            return part
        } catch let error as DecodingError {
            throw Trouble.unusableFile(path, explain(error))
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
        for value in [characteristic.value].compactMap({ $0 }) + (characteristic.ticks?.values ?? [])
        where Octets.parse(value) == nil {
            throw Mistake(text: "“\(value)” is neither text nor pairs of hexadecimal digits after 0x")
        }
        if let format = characteristic.format, Octets.parse(format)?.count != 7 {
            throw Mistake(text: "“format” of \(characteristic.uuid) takes seven octets")
        }
        if let ticks = characteristic.ticks, !(ticks.every >= 0.01) || ticks.values.isEmpty {
            throw Mistake(text: "“ticks” of \(characteristic.uuid) needs “every” of at least 0.01 s, and values")
        }
    }

    private static func badUUID(_ text: String) -> Mistake {
        Mistake(text: "“\(text)” is no UUID: it takes 4, 8 or 36 characters")
    }

    private static func explain(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
            return path.isEmpty ? "" : " at \(path)"
        }
        return switch error {
        case .keyNotFound(let key, let context): "“\(key.stringValue)” is missing\(place(context))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(context.debugDescription)\(place(context))"
        case .dataCorrupted(let context): "it is not valid JSON\(place(context)): \(context.debugDescription)"
        @unknown default: "\(error)"
        }
    }
}
