import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 3.
@Suite("The server's own database")
struct GATTDatabaseTests {
    let client = ClientID(rawValue: 1)

    private func characteristic(
        _ properties: CharacteristicProperties,
        _ permissions: AttributePermissions = .readable,
        value: [UInt8]? = nil,
        uuid: BluetoothUUID = .short(0xB001),
        descriptors: [DescriptorDefinition] = []
    ) -> CharacteristicDefinition {
        .init(
            id: .init(rawValue: 2),
            uuid: uuid,
            properties: properties,
            permissions: permissions,
            value: value,
            descriptors: descriptors
        )
    }

    private func outcome(_ definition: ServiceDefinition) -> Failure? {
        var database = GATTDatabase(deviceName: "", appearance: 0)
        switch database.add(definition, for: client, limits: Limits()) {
        case .success: return nil
        case .failure(let failure): return failure
        }
    }

    @Test("Only a private host declares support for address resolution", arguments: [true, false])
    func resolution(isPrivate: Bool) {
        let database = GATTDatabase(deviceName: "Name", appearance: 0, resolvesAddresses: isPrivate)
        let values = database.attributes.filter { $0.type == GATT.centralAddressResolution }
        #expect(values.map(\.permissions) == (isPrivate ? [.readable] : []))
        #expect(values.allSatisfy { if case .constant([1]) = $0.content { true } else { false } })
    }

    @Test("The host's own services come first")
    func own() {
        let database = GATTDatabase(deviceName: "A", appearance: 0x0341)
        #expect(database.services.map(\.uuid) == [GATT.genericAccess, GATT.genericAttribute])
        #expect(database.attributes.map(\.handle.wire) == Array(1...15))
        #expect(database.attribute(at: .init(wire: 5))?.content == .constant([0x41, 0x03]))
        #expect(database.attribute(at: .init(wire: 9))?.type == GATT.clientConfiguration)
    }

    @Test("Apps cannot add services reserved for the host", arguments: [GATT.genericAccess, GATT.genericAttribute])
    func reserved(uuid: BluetoothUUID) {
        #expect(outcome(.init(id: .init(rawValue: 1), uuid: uuid)) == .uuidNotAllowed)
        #expect(outcome(.init(id: .init(rawValue: 1), uuid: .full(uuid.expanded))) == .uuidNotAllowed)
    }

    @Test("A fixed value can only be read")
    func constants() {
        let bad: [(CharacteristicProperties, AttributePermissions)] = [
            ([.read, .write], .readable), ([.read, .notify], .readable), (.writeWithoutResponse, .readable),
            (.read, [.readable, .writeable]), (.read, .writeEncryptionRequired), (.read, .writeAuthenticationRequired),
        ]
        for (properties, permissions) in bad {
            let held = characteristic(properties, permissions, value: [1])
            let definition = ServiceDefinition(id: .init(rawValue: 1), uuid: .short(0xB000), characteristics: [held])
            #expect(outcome(definition) == .invalidParameters, "\(properties.rawValue) \(permissions.rawValue)")
        }
        for count in [0, 512] {
            let value = [UInt8](repeating: 1, count: count)
            let held = characteristic(.read, .readEncryptionRequired, value: value)
            let definition = ServiceDefinition(id: .init(rawValue: 1), uuid: .short(0xB000), characteristics: [held])
            #expect(outcome(definition) == nil)
        }
    }

    @Test("Contradictory or conflicting definitions are refused")
    func contradictions() {
        let long = [UInt8](repeating: 0, count: 513)
        let id = LocalAttributeID(rawValue: 5)
        let characteristics = [
            characteristic(.read, value: long), characteristic(.read, uuid: GATT.characteristic),
            characteristic(.notify, descriptors: [.init(id: id, uuid: GATT.clientConfiguration, value: [0, 0])]),
            characteristic(.read, descriptors: [.init(id: id, uuid: GATT.primaryService, value: [0, 0])]),
            characteristic(.read, descriptors: [.init(id: id, uuid: GATT.userDescription, value: long)]),
            characteristic(
                .read,
                descriptors: [.init(id: id, uuid: GATT.userDescription, permissions: .writeable, value: [])]
            ),
            characteristic(
                .read,
                descriptors: [.init(id: .init(rawValue: 2), uuid: GATT.userDescription, value: nil)]
            ),
        ]
        for one in characteristics {
            let definition = ServiceDefinition(id: .init(rawValue: 1), uuid: .short(0xB000), characteristics: [one])
            #expect(outcome(definition) == .invalidParameters)
        }
        let twice = ServiceDefinition(
            id: .init(rawValue: 2),
            uuid: .short(0xB000),
            characteristics: [characteristic(.read)]
        )
        #expect(outcome(twice) == .invalidParameters)
        let unknown = ServiceDefinition(id: .init(rawValue: 1), uuid: .short(0xB000), includes: [.init(rawValue: 9)])
        #expect(outcome(unknown) == .invalidParameters)
    }

    @Test("An identifier is unique within a client, and can be reused once its service is removed")
    func names() {
        var database = GATTDatabase.plain()
        let definition = SampleService.definition
        #expect(throws: Never.self) { try database.add(definition, for: client, limits: Limits()).get() }
        #expect(database.add(definition, for: client, limits: Limits()) == .failure(.invalidParameters))
        #expect(throws: Never.self) { try database.add(definition, for: .init(rawValue: 2), limits: Limits()).get() }
        #expect(database.services.count == 4)
    }

    @Test("An include declaration has the UUID of its service only if that is short")
    func includes() throws {
        var database = GATTDatabase.plain()
        let short = ServiceDefinition(id: .init(rawValue: 1), uuid: .short(0xB000), isPrimary: false)
        let long = ServiceDefinition(id: .init(rawValue: 2), uuid: SampleService.uuid)
        let both = ServiceDefinition(
            id: .init(rawValue: 3),
            uuid: .short(0xB002),
            includes: [.init(rawValue: 1), .init(rawValue: 2)]
        )
        for definition in [short, long, both] {
            _ = try database.add(definition, for: client, limits: Limits()).get()
        }
        #expect(database.attribute(at: .init(wire: 10))?.type == GATT.secondaryService)
        #expect(database.attribute(at: .init(wire: 13))?.content == .constant([UInt8]("0a00 0a00 00b0")))
        #expect(database.attribute(at: .init(wire: 14))?.content == .constant([UInt8]("0b00 0b00")))
    }

    @Test("Descriptors are added only for the properties that need them")
    func descriptors() throws {
        for (properties, types) in [
            (CharacteristicProperties.read, []), (.notify, [GATT.clientConfiguration]),
            (.indicateEncryptionRequired, [GATT.clientConfiguration]),
            ([.indicate, .extendedProperties], [GATT.extendedProperties, GATT.clientConfiguration]),
        ] as [(CharacteristicProperties, [BluetoothUUID])] {
            var database = GATTDatabase.plain()
            let one = ServiceDefinition(
                id: .init(rawValue: 1),
                uuid: .short(0xB000),
                characteristics: [characteristic(properties)]
            )
            _ = try database.add(one, for: client, limits: Limits()).get()
            #expect(database.attributes.dropFirst(12).map(\.type) == types)
        }
    }

    @Test(
        "Properties that require encryption or authentication are declared as plain ones",
        arguments: [
            ([.read, .notifyEncryptionRequired], [.read, .notify]), (.indicateEncryptionRequired, .indicate),
            ([.notify, .indicateEncryptionRequired], [.notify, .indicate]), ([.read, .write], [.read, .write]),
            (.notifyAuthenticationRequired, .notify), (.indicateAuthenticationRequired, .indicate),
        ] as [(CharacteristicProperties, CharacteristicProperties)]
    )
    func declaredProperties(properties: CharacteristicProperties, declared: CharacteristicProperties) {
        #expect(properties.declared == UInt8(declared.rawValue))
    }

    @Test("The database is full when no handle is left")
    func full() throws {
        var database = GATTDatabase.plain()
        let characteristics = (0..<20_000).map { index in
            CharacteristicDefinition(
                id: .init(rawValue: UInt32(index) + 10),
                uuid: .short(0xB001),
                properties: .read,
                permissions: .readable
            )
        }
        let big = ServiceDefinition(id: .init(rawValue: 1), uuid: .short(0xB000), characteristics: characteristics)
        _ = try database.add(big, for: client, limits: Limits()).get()
        #expect(database.add(big, for: .init(rawValue: 2), limits: Limits()) == .failure(.limitReached))
    }

    @Test(
        "Prepared writes are applied to the old value in order",
        arguments: [
            ("0102", [(0, "05")], "05"), ("0102", [(1, "05")], "0105"), ("0102", [(2, "05")], "010205"),
            ("0102", [(0, "05"), (1, "06"), (2, "07")], "050607"), ("", [(0, "01020304"), (1, "09")], "01090304"),
            ("01020304", [(2, "09"), (0, "08")], "080209"), ("0102", [(3, "05")], nil), ("", [(1, "05")], nil),
        ] as [(String, [(Int, String)], String?)]
    )
    func parts(old: String, parts: [(Int, String)], new: String?) {
        let handle = AttributeHandle(wire: 1)
        let result = PreparedWrites.value(
            [UInt8](old),
            with: parts.map { .init(handle: handle, offset: $0.0, value: [UInt8]($0.1)) },
            limit: 512
        )
        #expect(result == (new.map { .success([UInt8]($0)) } ?? .failure(.invalidOffset)))
    }
}
