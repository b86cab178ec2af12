import BLEHost
import BLEWire

/// The encoding of a bonded peer's attributes in a ``StateFile``, with one line per attribute.
///
/// A line consists of hexadecimal numbers and types, such as `0010-001F 180D` for a service. Lines in a file can be
/// wrong: if one is invalid, or lines contradict each other, ``database`` is `nil`, and the attributes are discovered
/// again.
struct DatabaseDocument: Codable, Equatable {
    /// The handle ranges in which each kind of attribute has been discovered completely.
    struct Known: Codable, Equatable {
        let services: [String]
        let includes: [String]
        let characteristics: [String]
        let types: [String]
    }

    /// The maximum number of lines for all peers together, which limits the size of the file.
    ///
    /// A line has about 80 octets.
    static let mostLines = 16_384

    let hash: String
    let services: [String]
    let includes: [String]
    let characteristics: [String]
    let types: [String]
    let known: Known

    init(_ database: CachedDatabase) {
        let attributes = database.attributes
        hash = String(database.hash, radix: 16)
        services = attributes.services.map { "\($0.range.line) \($0.uuid)" }
        includes = attributes.includes.map { include in
            "\(include.handle.line) \(include.range.line)" + (include.uuid.map { " \($0)" } ?? "")
        }
        characteristics = attributes.declarations.map {
            "\($0.handle.line) \(UInt16($0.properties).line) \($0.value.line) \($0.uuid)"
        }
        types = attributes.types.map { "\($0.handle.line) \($0.uuid)" }
        known = Known(
            services: attributes.status[.services].known.map(\.line),
            includes: attributes.status[.includes].known.map(\.line),
            characteristics: attributes.status[.characteristics].known.map(\.line),
            types: attributes.status[.types].known.map(\.line)
        )
    }

    /// The attributes; `nil` if a line is invalid, or lines contradict each other.
    var database: CachedDatabase? {
        guard let hash = UInt128(hash, radix: 16),
            let services = Self.each(services, Self.service), let includes = Self.each(includes, Self.include),
            let declarations = Self.each(characteristics, Self.declaration),
            let types = Self.each(types, Self.type), let status = known.status
        else { return nil }
        return KnownAttributes(
            services: services,
            includes: includes,
            declarations: declarations,
            types: types,
            status: status
        ).map { CachedDatabase(hash: hash, attributes: $0) }
    }

    /// Decodes each line with `read`; returns `nil` if a line is invalid.
    fileprivate static func each<Value>(_ lines: [String], _ read: ([Substring]) -> Value?) -> [Value]? {
        var values: [Value] = []
        values.reserveCapacity(lines.count)
        for line in lines {
            guard let value = read(line.split(separator: " ", omittingEmptySubsequences: false)) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func service(_ fields: [Substring]) -> DiscoveredService? {
        guard fields.count == 2, let range = AttributeHandleRange(line: fields[0]),
            let uuid = BluetoothUUID(fields[1])
        else { return nil }
        return DiscoveredService(uuid: uuid, range: range, isPrimary: true)
    }

    private static func include(_ fields: [Substring]) -> KnownAttributes.Include? {
        guard 2...3 ~= fields.count, let handle = AttributeHandle(line: fields[0]),
            let range = AttributeHandleRange(line: fields[1])
        else { return nil }
        guard fields.count == 3 else { return .init(handle: handle, range: range, uuid: nil) }
        return BluetoothUUID(fields[2]).map { .init(handle: handle, range: range, uuid: $0) }
    }

    private static func declaration(_ fields: [Substring]) -> KnownAttributes.Declaration? {
        guard fields.count == 4, let handle = AttributeHandle(line: fields[0]),
            let properties = UInt8(fields[1], radix: 16), let value = AttributeHandle(line: fields[2]),
            let uuid = BluetoothUUID(fields[3])
        else { return nil }
        return .init(handle: handle, properties: properties, value: value, uuid: uuid)
    }

    private static func type(_ fields: [Substring]) -> DiscoveredDescriptor? {
        guard fields.count == 2, let handle = AttributeHandle(line: fields[0]), let uuid = BluetoothUUID(fields[1])
        else { return nil }
        return DiscoveredDescriptor(uuid: uuid, handle: handle)
    }
}

extension DatabaseDocument.Known {
    /// The discovery status that these ranges describe; `nil` if a range is invalid.
    fileprivate var status: KnownAttributes.Status? {
        var status = KnownAttributes.Status()
        for aspect in KnownAttributes.Aspect.allCases {
            let lines =
                switch aspect {
                case .services: services
                case .includes: includes
                case .characteristics: characteristics
                case .types: types
                }
            let read = { (fields: [Substring]) in fields.count == 1 ? AttributeHandleRange(line: fields[0]) : nil }
            guard let ranges = DatabaseDocument.each(lines, read) else { return nil }
            for range in ranges { status.update(aspect, in: range) { $0.learn() } }
        }
        return status
    }
}

extension CachedDatabase {
    /// The number of lines that the attributes take in a file.
    var lines: Int {
        let ranges = KnownAttributes.Aspect.allCases.map { attributes.status[$0].known.count }
        return attributes.services.count + attributes.includes.count + attributes.declarations.count
            + attributes.types.count + ranges.reduce(0, +)
    }
}

extension UInt16 {
    fileprivate var line: String {
        let digits = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension AttributeHandle {
    fileprivate init?(line: Substring) {
        guard let wire = UInt16(line, radix: 16), wire > 0 else { return nil }
        self.init(wire: wire)
    }

    fileprivate var line: String { wire.line }
}

extension AttributeHandleRange {
    fileprivate init?(line: Substring) {
        let ends = line.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = AttributeHandle(line: ends[0]), let end = AttributeHandle(line: ends[1])
        else { return nil }
        self.init(start, end)
    }

    fileprivate var line: String { "\(start.line)-\(end.line)" }
}
