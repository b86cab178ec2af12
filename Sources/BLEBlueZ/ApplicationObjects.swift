import BLEHost
import BLEWire
import DBus

/// The objects of a program that exports services, as `GetManagedObjects` returned them.
struct ApplicationObjects {
    /// A service to publish, and the objects with its values.
    struct Service {
        var definition: ServiceDefinition
        var values: [Value] = []
    }

    /// A characteristic or descriptor.
    struct Value {
        let id: LocalAttributeID
        let path: String
        let interface: String
        /// True if the program is asked before an untrusted device writes prepared values.
        let needsAuthorization: Bool
        /// True if the program implements `AcquireWrite` or `AcquireNotify`: if the object has the property
        /// `WriteAcquired` or `NotifyAcquired`.
        let acquiresWrites: Bool, acquiresNotifications: Bool
    }

    private struct Object {
        let path: String
        let properties: BusValue

        func text(_ name: String) -> String? { properties[key: name]?.text }
        var uuid: BluetoothUUID? { text("UUID").flatMap { BluetoothUUID(from: $0) } }
        var flags: [String] { properties[key: "Flags"]?.elements?.compactMap(\.text) ?? [] }
        /// The paths of the services that a service includes.
        var includes: [String] { properties[key: "Includes"]?.elements?.compactMap(\.text) ?? [] }

        /// Returns this object, which implements `interface`, as a value with this identifier.
        func value(_ id: LocalAttributeID, _ interface: String) -> Value {
            let isCharacteristic = interface == BlueZ.characteristic
            return Value(
                id: id,
                path: path,
                interface: interface,
                needsAuthorization: flags.contains("authorize"),
                acquiresWrites: isCharacteristic && properties[key: "WriteAcquired"] != nil,
                acquiresNotifications: isCharacteristic && properties[key: "NotifyAcquired"] != nil
            )
        }
    }

    private let services: [Object]
    private let characteristics: [Object]
    private let descriptors: [Object]

    init(_ entries: [(key: BusValue, value: BusValue)]) {
        func objects(with interface: String) -> [Object] {
            entries.compactMap { entry in
                guard let path = entry.key.text, let properties = entry.value[key: interface] else { return nil }
                return Object(path: path, properties: properties)
            }.sorted { $0.path < $1.path }
        }
        services = objects(with: BlueZ.service)
        characteristics = objects(with: BlueZ.characteristic)
        descriptors = objects(with: BlueZ.descriptor)
    }

    /// Returns the services, with identifiers made by `number`; `nil` if an object lacks a required property.
    func services(numberedBy number: () -> UInt32) -> [Service]? {
        var result: [Service] = [], numbers: [String: LocalAttributeID] = [:]
        // A service can include only services before it.
        for owner in services.filter(\.includes.isEmpty) + services.filter({ !$0.includes.isEmpty }) {
            guard let uuid = owner.uuid else { return nil }
            let isPrimary = owner.properties[key: "Primary"]?.flag ?? true
            let id = LocalAttributeID(rawValue: number())
            var service = Service(definition: ServiceDefinition(id: id, uuid: uuid.attributeForm, isPrimary: isPrimary))
            numbers[owner.path] = id
            for path in owner.includes {
                guard let included = numbers[path] else { return nil }
                service.definition.includes.append(included)
            }
            for object in characteristics where object.text("Service") == owner.path {
                guard let (definition, values) = characteristic(object, number) else { return nil }
                service.definition.characteristics.append(definition)
                service.values += values
            }
            result.append(service)
        }
        return result
    }

    /// Returns a characteristic, and the values of itself and its descriptors.
    private func characteristic(_ object: Object, _ number: () -> UInt32) -> (CharacteristicDefinition, [Value])? {
        guard let uuid = object.uuid, let (properties, permissions) = Self.access(object.flags) else { return nil }
        var definition = CharacteristicDefinition(
            id: LocalAttributeID(rawValue: number()),
            uuid: uuid.attributeForm,
            properties: properties,
            permissions: permissions
        )
        var values = [object.value(definition.id, BlueZ.characteristic)]
        for descriptor in descriptors where descriptor.text("Characteristic") == object.path {
            guard let uuid = descriptor.uuid else { return nil }
            // The host creates these two descriptors itself, from the flags.
            guard uuid != .short(0x2902), uuid != .short(0x2900) else { continue }
            guard let (properties, permissions) = Self.access(descriptor.flags),
                properties.isSubset(of: [.read, .write])
            else { return nil }
            let id = LocalAttributeID(rawValue: number())
            definition.descriptors.append(
                DescriptorDefinition(id: id, uuid: uuid.attributeForm, permissions: permissions, value: nil)
            )
            values.append(descriptor.value(id, BlueZ.descriptor))
        }
        return (definition, values)
    }

    /// Returns the properties and permissions that `flags` stand for; `nil` if there are no flags, or an unknown one.
    private static func access(_ flags: [String]) -> (CharacteristicProperties, AttributePermissions)? {
        guard !flags.isEmpty else { return nil }
        var properties: CharacteristicProperties = [], permissions: AttributePermissions = []
        for flag in flags {
            guard let (property, permission) = meaning(of: flag) else { return nil }
            properties.formUnion(property)
            permissions.formUnion(permission)
        }
        // A flag with a requirement takes the place of the plain permission.
        if !permissions.isDisjoint(with: .protectedReads) { permissions.remove(.readable) }
        if !permissions.isDisjoint(with: .protectedWrites) { permissions.remove(.writeable) }
        return (properties, permissions)
    }

    private static func meaning(of flag: String) -> (CharacteristicProperties, AttributePermissions)? {
        switch flag {
        case "broadcast": (.broadcast, [])
        case "read": (.read, .readable)
        case "write-without-response": (.writeWithoutResponse, .writeable)
        case "write": (.write, .writeable)
        case "notify": (.notify, [])
        case "indicate": (.indicate, [])
        case "authenticated-signed-writes": (.authenticatedSignedWrites, .writeable)
        case "encrypt-read": (.read, .readEncryptionRequired)
        case "encrypt-write": (.write, .writeEncryptionRequired)
        case "encrypt-authenticated-read": (.read, .readAuthenticationRequired)
        case "encrypt-authenticated-write": (.write, .writeAuthenticationRequired)
        case "secure-read": (.read, .readSecureConnectionsRequired)
        case "secure-write": (.write, .writeSecureConnectionsRequired)
        case "encrypt-notify": (.notifyEncryptionRequired, [])
        case "encrypt-indicate": (.indicateEncryptionRequired, [])
        case "encrypt-authenticated-notify": (.notifyAuthenticationRequired, [])
        case "encrypt-authenticated-indicate": (.indicateAuthenticationRequired, [])
        case "secure-notify": (.notifySecureConnectionsRequired, [])
        case "secure-indicate": (.indicateSecureConnectionsRequired, [])
        case "authorize": ([], [])
        case "reliable-write": (.extendedProperties, .writeable)
        case "extended-properties", "writable-auxiliaries": (.extendedProperties, [])
        default: nil
        }
    }
}
