package import BLEWire

extension GATTDatabase {
    /// Creates a database with the mandatory services.
    ///
    /// Core 6.0, Vol 3, Part C, 12; Part G, 7.
    ///
    /// The Generic Attribute service supports robust caching. Clients can read `offersEnhancedBearers` and
    /// `resolvesAddresses`; a bonded peripheral uses a private address for a central only if the central announces that
    /// it resolves them.
    package init(
        deviceName: String,
        appearance: UInt16,
        offersEnhancedBearers: Bool = false,
        resolvesAddresses: Bool = false
    ) {
        self.init()
        let resolution: [Member] =
            resolvesAddresses ? [(GATT.centralAddressResolution, .read, .readable, .constant([1]), nil, [])] : []
        let name = [UInt8](deviceName.utf8.prefix(NameReading.maximumLength))
        append(
            GATT.genericAccess,
            isPrimary: true,
            owner: nil,
            includes: [],
            characteristics: [
                (GATT.deviceName, .read, .readable, .constant(name), nil, []),
                (GATT.appearance, .read, .readable, .constant(appearance.littleEndianOctets), nil, []),
            ] + resolution
        )
        append(
            GATT.genericAttribute,
            isPrimary: true,
            owner: nil,
            includes: [],
            characteristics: [
                (GATT.serviceChanged, .indicate, [], .constant([]), nil, []),
                (GATT.clientFeatures, [.read, .write], [.readable, .writeable], .clientFeatures, nil, []),
                (GATT.databaseHash, .read, .readable, .databaseHash, nil, []),
                (
                    GATT.serverFeatures, .read, .readable,
                    .constant([offersEnhancedBearers ? GATT.enhancedBearersSupported : 0]), nil, []
                ),
            ]
        )
    }

    /// Adds a client's service after all others.
    ///
    /// - Returns: The handles of the service; ``Failure/uuidNotAllowed`` for a service that only the host may publish,
    ///   ``Failure/invalidParameters`` for a definition that contradicts itself or earlier ones,
    ///   ``Failure/limitReached`` if no handles are left.
    package mutating func add(
        _ definition: ServiceDefinition,
        for client: ClientID,
        limits: Limits
    ) -> Result<AttributeHandleRange, Failure> {
        if [GATT.genericAccess, GATT.genericAttribute].contains(definition.uuid) { return .failure(.uuidNotAllowed) }
        guard definition.isSound(limits: limits), isNew(definition, of: client) else {
            return .failure(.invalidParameters)
        }
        var includes: [Service] = []
        for id in definition.includes {
            let owner = Owner(client: client, id: id)
            guard let service = services.first(where: { $0.owner == owner }) else {
                return .failure(.invalidParameters)
            }
            includes.append(service)
        }
        let characteristics = definition.characteristics.map { characteristic -> Member in
            let owner = Owner(client: client, id: characteristic.id)
            return (
                characteristic.uuid, characteristic.properties, characteristic.permissions,
                characteristic.value.map { .constant($0) } ?? .held(by: owner), owner, characteristic.descriptors
            )
        }
        let range = append(
            definition.uuid,
            isPrimary: definition.isPrimary,
            owner: Owner(client: client, id: definition.id),
            includes: includes,
            characteristics: characteristics
        )
        guard let range else { return .failure(.limitReached) }
        return .success(range)
    }

    /// Returns whether the client has not used any identifier in the definition before.
    private func isNew(_ definition: ServiceDefinition, of client: ClientID) -> Bool {
        let names = [definition.id] + definition.characteristics.map(\.id)
        let owners = Set(names.map { Owner(client: client, id: $0) })
        guard owners.count == names.count else { return false }
        return !names.contains { isTaken(Owner(client: client, id: $0)) }
    }

    /// A characteristic with the content of its value.
    private typealias Member = (
        uuid: BluetoothUUID, properties: CharacteristicProperties, permissions: AttributePermissions,
        content: Content, owner: Owner?, descriptors: [DescriptorDefinition]
    )

    @discardableResult
    private mutating func append(
        _ uuid: BluetoothUUID,
        isPrimary: Bool,
        owner: Owner?,
        includes: [Service],
        characteristics: [Member]
    ) -> AttributeHandleRange? {
        let sizes = characteristics.map {
            2 + ($0.properties.isConfigurable ? 1 : 0) + ($0.properties.contains(.extendedProperties) ? 1 : 0)
                + $0.descriptors.count
        }
        guard let range = room(for: 1 + includes.count + sizes.reduce(0, +)) else { return nil }
        var builder = AttributeBuilder(from: range.start)
        builder.declareService(uuid, isPrimary: isPrimary)
        for service in includes { builder.declareInclude(service.uuid, service.range) }
        for member in characteristics {
            let value = builder.declareCharacteristic(member.uuid, member.properties)
            builder.append(member.uuid, member.permissions, member.content)
            if member.properties.contains(.extendedProperties) {
                builder.append(GATT.extendedProperties, .readable, .constant([1, 0]))
            }
            if member.properties.isConfigurable {
                let about = Configured(value: value, properties: member.properties, owner: member.owner)
                builder.append(
                    GATT.clientConfiguration,
                    member.properties.configurationPermissions,
                    .configuration(about)
                )
            }
            for descriptor in member.descriptors {
                builder.append(descriptor.uuid, .readable, .constant(descriptor.value))
            }
        }
        append(Service(range: range, uuid: uuid, isPrimary: isPrimary, owner: owner), builder.attributes)
        return range
    }
}

extension ServiceDefinition {
    /// Returns whether the definition is consistent.
    fileprivate func isSound(limits: Limits) -> Bool {
        characteristics.allSatisfy { characteristic in
            let reserved = [GATT.clientConfiguration, GATT.extendedProperties]
            let descriptors = characteristic.descriptors.allSatisfy {
                $0.value.count <= limits.attributeLength && !reserved.contains($0.uuid) && !$0.uuid.isDeclaration
            }
            guard descriptors, !characteristic.uuid.isDeclaration else { return false }
            guard let value = characteristic.value else { return true }
            return value.count <= limits.attributeLength && characteristic.isReadOnly
        }
    }
}

extension CharacteristicDefinition {
    /// True if peers can only read it, so that the host can answer for the client.
    fileprivate var isReadOnly: Bool {
        properties.isSubset(of: [.read, .extendedProperties])
            && permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired, .writeAuthenticationRequired])
    }
}

extension CharacteristicProperties {
    /// True if peers can subscribe to it.
    var isConfigurable: Bool { configurationBits != 0 }

    /// The valid bits of its configuration.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.3.3.
    var configurationBits: UInt16 {
        (complete.contains(.notify) ? Subscription.notifications.rawValue : 0)
            | (complete.contains(.indicate) ? Subscription.indications.rawValue : 0)
    }

    fileprivate var configurationPermissions: AttributePermissions {
        isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
            ? [.readable, .writeable] : [.readable, .writeable, .writeEncryptionRequired]
    }
}
