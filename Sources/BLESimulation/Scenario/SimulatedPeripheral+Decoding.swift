import BLERuntime
import BLEWire

extension SimulatedPeripheral: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case name, position, services, manufacturerData, serviceData, transmitPower, connectable, latency, mtu
    }

    /// Reads a device of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        name = try values.decode(String.self, forKey: .name)
        position = try values.decodeIfPresent(World.Position.self, forKey: .position) ?? World.Position()
        services = try values.decodeIfPresent([Service].self, forKey: .services) ?? []
        manufacturerData = try values.octetsIfPresent(forKey: .manufacturerData)
        serviceData = try values.decodeIfPresent([ServiceDatum].self, forKey: .serviceData) ?? []
        transmitPower = try values.decodeIfPresent(Bounds<Int8>(-127...20, of: "dBm"), forKey: .transmitPower)
        isConnectable = try values.decodeIfPresent(Bool.self, forKey: .connectable) ?? true
        latency = try values.decodeIfPresent(Latency.self, forKey: .latency)
        mtu = try values.decodeIfPresent(Bounds(23...517, of: "octets"), forKey: .mtu)
    }
}

extension SimulatedPeripheral.Service: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case uuid, advertised, primary, includes, characteristics }

    /// Reads a service of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        uuid = try values.uuid(forKey: .uuid)
        isAdvertised = try values.decodeIfPresent(Bool.self, forKey: .advertised) ?? true
        characteristics =
            try values.decodeIfPresent([SimulatedPeripheral.Characteristic].self, forKey: .characteristics) ?? []
        isPrimary = try values.decodeIfPresent(Bool.self, forKey: .primary) ?? true
        includes = try values.decodeIfPresent([String].self, forKey: .includes) ?? []
    }
}

extension SimulatedPeripheral.Characteristic: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case uuid, properties, value, text, notify, descriptors, protected
    }

    /// Reads a characteristic of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        uuid = try values.uuid(forKey: .uuid)
        properties = try values.decodeIfPresent([SimulatedPeripheral.Property].self, forKey: .properties) ?? []
        notifications = try values.decodeIfPresent(SimulatedPeripheral.Notifications.self, forKey: .notify)
        descriptors = try values.decodeIfPresent([SimulatedPeripheral.Descriptor].self, forKey: .descriptors) ?? []
        isProtected = try values.decodeIfPresent(Bool.self, forKey: .protected) ?? false
        if let text = try values.decodeIfPresent(String.self, forKey: .text) {
            value = try values.checked(Array(text.utf8), .text)
        } else {
            value = try values.contains(.value) ? values.octets(values.decode(String.self, forKey: .value), .value) : []
        }
    }
}

extension SimulatedPeripheral.Descriptor: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case uuid, value, text }

    /// Reads a descriptor of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        uuid = try values.uuid(forKey: .uuid)
        if let text = try values.decodeIfPresent(String.self, forKey: .text) {
            value = try values.checked(Array(text.utf8), .text)
        } else {
            value = try values.octetsIfPresent(forKey: .value) ?? []
        }
    }
}

extension SimulatedPeripheral.ServiceDatum: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case uuid, value }

    /// Reads what an advertisement of a ``Scenario`` says of a service.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        service = try values.uuid(forKey: .uuid)
        value = try values.octetsIfPresent(forKey: .value) ?? []
    }
}

extension SimulatedPeripheral.Notifications: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case every, values }

    /// Reads what a characteristic of a ``Scenario`` sends by itself.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        interval = .milliseconds(try values.decode(Bounds(1...86_400_000, of: "milliseconds"), forKey: .every))
        self.values = try values.decode([String].self, forKey: .values).map { try values.octets($0, .values) }
    }
}

extension World.Position: Codable {
    private enum Key: String, CodingKey, CaseIterable { case x, y, z }

    /// Farther than any signal goes.
    private static let bounds = Bounds(-1_000_000.0...1_000_000, of: "metres")

    /// Reads `x`, `y` and `z`, each of which is 0 if it is missing.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        x = try values.decodeIfPresent(Self.bounds, forKey: .x) ?? 0
        y = try values.decodeIfPresent(Self.bounds, forKey: .y) ?? 0
        z = try values.decodeIfPresent(Self.bounds, forKey: .z) ?? 0
    }

    /// Writes `x`, `y` and `z`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(x, forKey: .x)
        try values.encode(y, forKey: .y)
        try values.encode(z, forKey: .z)
    }
}

extension KeyedDecodingContainer {
    /// Reads a UUID in one of the forms that people write.
    fileprivate func uuid(forKey key: Key) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard BluetoothUUID(text) != nil else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(text) is no UUID")
        }
        return text
    }

    /// Reads octets if the key is there.
    fileprivate func octetsIfPresent(forKey key: Key) throws -> [UInt8]? {
        try decodeIfPresent(String.self, forKey: key).map { try octets($0, key) }
    }

    /// Reads octets from pairs of hexadecimal digits.
    fileprivate func octets(_ text: String, _ key: Key) throws -> [UInt8] {
        var result: [UInt8] = []
        var rest = text.utf8[...]
        while rest.count >= 2, let octet = UInt8(Substring(rest.prefix(2)), radix: 16) {
            result.append(octet)
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "\(text) is not made of pairs of hexadecimal digits"
            )
        }
        return try checked(result, key)
    }

    /// The octets, if a value can be as long.
    fileprivate func checked(_ octets: [UInt8], _ key: Key) throws -> [UInt8] {
        guard octets.count <= ATT.maximumValueLength else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription:
                    "a value has at most \(ATT.maximumValueLength) octets, and this one has \(octets.count)"
            )
        }
        return octets
    }
}
