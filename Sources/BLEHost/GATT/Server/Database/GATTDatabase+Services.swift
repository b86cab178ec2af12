package import BLEWire

extension GATTDatabase {
    /// Creates a database with the host's own services, Generic Access and Generic Attribute.
    ///
    /// The Generic Attribute service supports robust caching.
    ///
    /// - Parameters:
    ///   - deviceName: The Device Name; it is truncated to 248 octets of UTF-8.
    ///   - appearance: The Appearance.
    ///   - offersEnhancedBearers: True to announce that this host supports Enhanced ATT bearers.
    ///   - resolvesAddresses: True to announce that this host resolves private addresses. A bonded peripheral
    ///     only uses a private address for a central that announces this.
    ///
    /// Core 6.0, Vol 3, Part C, 12; Part G, 7.
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

    /// Adds a service of a client, which belongs to `app`, after all others.
    ///
    /// - Returns: The handles of the service, or why it was not added: ``Failure/uuidNotAllowed`` if only the host may
    ///   publish this service, ``Failure/invalidParameters`` if the definition is inconsistent, reuses an identifier or
    ///   includes an unknown service, ``Failure/limitReached`` if there are not enough handles left or the app would
    ///   use more than ``Limits/handlesOfApp``.
    package mutating func add(
        _ definition: ServiceDefinition,
        for client: ClientID,
        of app: ClientOwner = .program,
        limits: Limits
    ) -> Result<AttributeHandleRange, Failure> {
        if [GATT.genericAccess, GATT.genericAttribute].contains(definition.uuid) { return .failure(.uuidNotAllowed) }
        guard definition.isValid(limits: limits), isNew(definition, of: client) else {
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
                characteristic.value.map { .constant($0) } ?? .provided(by: owner), owner,
                characteristic.descriptors.map { descriptor in
                    let provider = Owner(client: client, id: descriptor.id)
                    let content = descriptor.value.map { Content.constant($0) } ?? .provided(by: provider)
                    return (descriptor.uuid, descriptor.permissions, content)
                }
            )
        }
        let size = Self.size(includes: includes, characteristics)
        guard app.isProgram || handleUse.count(of: app) + size <= limits.handlesOfApp else {
            return .failure(.limitReached)
        }
        let range = append(
            definition.uuid,
            isPrimary: definition.isPrimary,
            owner: Owner(client: client, id: definition.id),
            includes: includes,
            characteristics: characteristics
        )
        guard let range else { return .failure(.limitReached) }
        handleUse.assign(range.count, to: client, of: app)
        return .success(range)
    }

    /// Returns whether the identifiers of the service and of its values are different and not in use by the client.
    private func isNew(_ definition: ServiceDefinition, of client: ClientID) -> Bool {
        let provided = definition.characteristics.flatMap(\.descriptors).filter { $0.value == nil }
        let names = [definition.id] + definition.characteristics.map(\.id) + provided.map(\.id)
        let owners = Set(names.map { Owner(client: client, id: $0) })
        guard owners.count == names.count else { return false }
        return !names.contains { isTaken(Owner(client: client, id: $0)) }
    }

    /// A characteristic to append, with its value or the client that provides it.
    private typealias Member = (
        uuid: BluetoothUUID, properties: CharacteristicProperties, permissions: AttributePermissions,
        content: Content, owner: Owner?,
        descriptors: [(uuid: BluetoothUUID, permissions: AttributePermissions, content: Content)]
    )

    /// Returns the number of attributes of a service.
    private static func size(includes: [Service], _ characteristics: [Member]) -> Int {
        characteristics.reduce(1 + includes.count) { size, member in
            size + 2 + (member.properties.isConfigurable ? 1 : 0)
                + (member.properties.contains(.extendedProperties) ? 1 : 0) + member.descriptors.count
        }
    }

    @discardableResult
    private mutating func append(
        _ uuid: BluetoothUUID,
        isPrimary: Bool,
        owner: Owner?,
        includes: [Service],
        characteristics: [Member]
    ) -> AttributeHandleRange? {
        guard let range = room(for: Self.size(includes: includes, characteristics)) else { return nil }
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
                let about = ConfiguredCharacteristic(value: value, properties: member.properties, owner: member.owner)
                builder.append(
                    GATT.clientConfiguration,
                    member.properties.configurationPermissions,
                    .configuration(about)
                )
            }
            for descriptor in member.descriptors {
                builder.append(descriptor.uuid, descriptor.permissions, descriptor.content)
            }
        }
        append(Service(range: range, uuid: uuid, isPrimary: isPrimary, owner: owner), builder.attributes)
        return range
    }
}

extension ServiceDefinition {
    /// Returns whether the definition is valid by itself, without looking at the database.
    fileprivate func isValid(limits: Limits) -> Bool {
        characteristics.allSatisfy { characteristic in
            let reserved = [GATT.clientConfiguration, GATT.extendedProperties]
            let descriptors = characteristic.descriptors.allSatisfy { descriptor in
                let isConstant = descriptor.value != nil, length = descriptor.value?.count ?? 0
                return length <= limits.attributeLength && !(isConstant && descriptor.permissions.allowWrites)
                    && !reserved.contains(descriptor.uuid) && !descriptor.uuid.isDeclaration
            }
            guard descriptors, !characteristic.uuid.isDeclaration else { return false }
            guard let value = characteristic.value else { return true }
            return value.count <= limits.attributeLength && characteristic.isReadOnly
        }
    }
}

extension CharacteristicDefinition {
    /// True if peers can only read the value.
    ///
    /// Only such a characteristic may have a constant value, which the host sends without asking the client.
    fileprivate var isReadOnly: Bool {
        properties.isSubset(of: [.read, .extendedProperties]) && !permissions.allowWrites
    }
}

extension CharacteristicProperties {
    /// True if peers can subscribe to the characteristic.
    var isConfigurable: Bool { configurationBits != 0 }

    /// The bits that peers may set in the Client Characteristic Configuration.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.3.3.
    var configurationBits: UInt16 {
        (complete.contains(.notify) ? Subscription.notifications.rawValue : 0)
            | (complete.contains(.indicate) ? Subscription.indications.rawValue : 0)
    }

    fileprivate var configurationPermissions: AttributePermissions {
        let needed = subscriptionRequirement
        return switch needed.security {
        case .unencrypted: [.readable, .writeable]
        case .encrypted: [.readable, .writeable, .writeEncryptionRequired]
        case .authenticated where needed.needsSecureConnections:
            [.readable, .writeable, .writeSecureConnectionsRequired]
        case .authenticated: [.readable, .writeable, .writeAuthenticationRequired]
        }
    }
}
