import BLERuntime
import BLEWire

extension SimulatedPeripheral: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case name, address, addressType, position, services
        case manufacturerData, serviceData, transmitPower, advertisesName, flags
        case advertisement, scanResponse, extended, connectable, latency, mtu, pairing
        /// The schema for editors.
        case schema = "$schema"
    }

    /// Decodes a device, either in a ``Scenario`` or in a file of its own.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "a device", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        name = try values.decode(String.self, forKey: .name)
        address = try Self.address(in: values, decoder)
        position = try values.decodeIfPresent(World.Position.self, forKey: .position) ?? World.Position()
        services = try values.decodeIfPresent([Service].self, forKey: .services) ?? []
        if let (index, part) = missingInclude {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath
                        + [Key.services, AnyKey(intValue: index), AnyKey(stringValue: "includes")],
                    debugDescription: "the service includes \(part), which must come before it"
                )
            )
        }
        manufacturerData = try values.octetsIfPresent(forKey: .manufacturerData)
        serviceData = try values.decodeIfPresent([ServiceDatum].self, forKey: .serviceData) ?? []
        transmitPower = try values.decodeIfPresent(Bounds<Int8>(-127...20, of: "dBm"), forKey: .transmitPower)
        advertisesName = try values.decodeIfPresent(Bool.self, forKey: .advertisesName) ?? true
        let flags = try values.decodeIfPresent(Bounds(UInt8.min...UInt8.max), forKey: .flags)
        self.flags = values.contains(.flags) ? flags : Self.usualFlags
        advertisement = try values.octetsIfPresent(
            forKey: .advertisement,
            atMost: AdvertisingData.maximumExtendedLength
        )
        scanResponse = try values.octetsIfPresent(forKey: .scanResponse, atMost: AdvertisingData.maximumExtendedLength)
        isExtended = try values.decodeIfPresent(Bool.self, forKey: .extended) ?? false
        isConnectable = try values.decodeIfPresent(Bool.self, forKey: .connectable) ?? true
        latency = try values.nameIfPresent(forKey: .latency)
        mtu = try values.decodeIfPresent(Bounds(23...517, of: "octets"), forKey: .mtu)
        pairing = try values.decodeIfPresent(Pairing.self, forKey: .pairing)
        do throws(DescriptionError) {
            try validate()
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath + [AnyKey(stringValue: error.key)], debugDescription: error.reason)
            )
        }
    }

    private static func address(
        in values: KeyedDecodingContainer<Key>,
        _ decoder: any Decoder
    ) throws -> Address? {
        let kind: Address.Kind? = try values.nameIfPresent(forKey: .addressType)
        guard let text = try values.decodeIfPresent(String.self, forKey: .address) else {
            guard kind != nil else { return nil }
            throw DecodingError.dataCorruptedError(
                forKey: .addressType,
                in: values,
                debugDescription: "“addressType” needs an “address”"
            )
        }
        do throws(DescriptionError) {
            return try Address(text, kind ?? .static)
        } catch {
            throw DecodingError.dataCorruptedError(forKey: .address, in: values, debugDescription: error.reason)
        }
    }

    /// The index of the first service that includes a service not listed before it, and the type of that included
    /// service; `nil` if there is none.
    package var missingInclude: (service: Int, part: String)? {
        var known: Set<BluetoothUUID> = []
        for (index, service) in services.enumerated() {
            if let part = service.includes.first(where: { BluetoothUUID($0).map(known.contains) != true }) {
                return (index, part)
            }
            if let uuid = BluetoothUUID(service.uuid) { known.insert(uuid) }
        }
        return nil
    }
}

extension SimulatedPeripheral.Service: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case uuid, advertised, primary, includes, characteristics }

    /// Decodes a service of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "a service", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        uuid = try values.uuid(forKey: .uuid, of: .service)
        isAdvertised = try values.decodeIfPresent(Bool.self, forKey: .advertised) ?? true
        characteristics =
            try values.decodeIfPresent([SimulatedPeripheral.Characteristic].self, forKey: .characteristics) ?? []
        isPrimary = try values.decodeIfPresent(Bool.self, forKey: .primary) ?? true
        includes =
            try values.decodeIfPresent([String].self, forKey: .includes)?
            .map { try values.checked(uuid: $0, of: .service, .includes) } ?? []
    }
}

extension SimulatedPeripheral.Characteristic: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case uuid, properties, permissions, value, text, notify, answers, descriptors, protected, known
    }

    /// Decodes a characteristic of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "a characteristic", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        uuid = try values.uuid(forKey: .uuid, of: .characteristic)
        properties = try values.namesIfPresent(forKey: .properties) ?? []
        permissions = try values.namesIfPresent(forKey: .permissions)
        notifications = try values.decodeIfPresent(SimulatedPeripheral.Notifications.self, forKey: .notify)
        descriptors = try values.decodeIfPresent([SimulatedPeripheral.Descriptor].self, forKey: .descriptors) ?? []
        isProtected = try values.decodeIfPresent(Bool.self, forKey: .protected) ?? false
        answers = try values.decodeIfPresent([SimulatedPeripheral.Answer].self, forKey: .answers) ?? []
        isValueKnown = try values.decodeIfPresent(Bool.self, forKey: .known) ?? true
        value = try values.valueIfPresent(.value, orText: .text) ?? []
    }
}

extension SimulatedPeripheral.Answer: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case to, uuid, value, after }

    /// Decodes an answer of a characteristic of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "an answer", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        written = try values.octetsIfPresent(forKey: .to) ?? []
        value = try values.octetsIfPresent(forKey: .value) ?? []
        characteristic = try values.uuid(forKey: .uuid, of: .characteristic)
        let delay = try values.decodeIfPresent(Bounds(0...86_400_000, of: "milliseconds"), forKey: .after)
        self.delay = .milliseconds(delay ?? 0)
    }
}

extension SimulatedPeripheral.Descriptor: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case uuid, value, text, known }

    /// Decodes a descriptor of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "a descriptor", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        uuid = try values.uuid(forKey: .uuid, of: .descriptor)
        isValueKnown = try values.decodeIfPresent(Bool.self, forKey: .known) ?? true
        value = try values.valueIfPresent(.value, orText: .text) ?? []
    }
}

extension SimulatedPeripheral.ServiceDatum: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case uuid, value }

    /// Decodes service data of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "service data", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        service = try values.uuid(forKey: .uuid, of: .service)
        value = try values.octetsIfPresent(forKey: .value) ?? []
    }
}

extension SimulatedPeripheral.Notifications: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case every, values }

    /// Decodes the notifications of a characteristic of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "“notify”", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        interval = .milliseconds(try values.decode(Bounds(1...86_400_000, of: "milliseconds"), forKey: .every))
        self.values = try values.decode([String].self, forKey: .values).map { try values.octets($0, .values) }
        guard !self.values.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .values,
                in: values,
                debugDescription: "at least one value is expected"
            )
        }
    }
}

extension World.Position: Codable {
    private enum Key: String, CodingKey, CaseIterable { case x, y, z }

    /// The allowed range of coordinates, which is far wider than the reach of any signal.
    private static let bounds = Bounds(-1_000_000.0...1_000_000, of: "metres")

    /// Decodes `x`, `y` and `z`; each defaults to 0.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "a position", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        x = try values.decodeIfPresent(Self.bounds, forKey: .x) ?? 0
        y = try values.decodeIfPresent(Self.bounds, forKey: .y) ?? 0
        z = try values.decodeIfPresent(Self.bounds, forKey: .z) ?? 0
    }

    /// Encodes `x`, `y` and `z`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(x, forKey: .x)
        try values.encode(y, forKey: .y)
        try values.encode(z, forKey: .z)
    }
}
