import BLEHost
import BLEWire
import Foundation

/// The services of a peripheral manager, by the names under which the host knows them.
struct PublishedServices {
    private var services: [LocalAttributeID: CBMutableService] = [:]
    private var characteristics: [LocalAttributeID: CBMutableCharacteristic] = [:]
    /// What the host was told, in that order.
    private var definitions: [ServiceDefinition] = []
    /// Services of which the host has not said what became of them, also if they were withdrawn since.
    private var awaited: [LocalAttributeID: CBMutableService] = [:]
    private var lastID: UInt32 = 0

    func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? { characteristics[id] }
    var all: [CBMutableService] { Array(services.values) }

    /// Gives names to a service and what it holds, and freezes them; returns what to tell the host.
    mutating func publish(_ service: CBMutableService, by publisher: ManagerReference) -> ServiceDefinition {
        let id = nextID()
        var definition = ServiceDefinition(id: id, uuid: service.uuid.value, isPrimary: service.isPrimary)
        definition.includes = service.localIncludes.compactMap(\.published?.id)
        for characteristic in service.localCharacteristics {
            let id = nextID()
            characteristics[id] = characteristic
            characteristic.published = Publication(id: id, publisher: publisher)
            definition.characteristics.append(self.definition(of: characteristic, id))
        }
        services[id] = service
        awaited[id] = service
        definitions.append(definition)
        service.published = Publication(id: id, publisher: publisher)
        return definition
    }

    /// What to tell a host that has forgotten the services.
    var remembered: [ServiceDefinition] { definitions }

    /// Takes the host's answer; returns the service of which the app must be told, unless it has been told before.
    mutating func answered(_ id: LocalAttributeID, success: Bool) -> CBMutableService? {
        if !success, let service = services[id] { _ = withdraw(service) }
        return awaited.removeValue(forKey: id)
    }

    /// Takes a service back, so that it can be changed again; returns the name that it had.
    mutating func withdraw(_ service: CBMutableService) -> LocalAttributeID? {
        guard let id = service.published?.id, services[id] === service else { return nil }
        services.removeValue(forKey: id)
        definitions.removeAll { $0.id == id }
        service.published = nil
        for characteristic in service.localCharacteristics {
            if let id = characteristic.published?.id { characteristics.removeValue(forKey: id) }
            characteristic.published = nil
            characteristic.unsubscribeAll()
        }
        return id
    }

    mutating func withdrawAll() { for service in all { _ = withdraw(service) } }

    /// Forgets who is subscribed, since every central is gone.
    func unsubscribeAll() { for characteristic in characteristics.values { characteristic.unsubscribeAll() } }

    private mutating func nextID() -> LocalAttributeID {
        lastID += 1
        return LocalAttributeID(rawValue: lastID)
    }

    private mutating func definition(
        of characteristic: CBMutableCharacteristic,
        _ id: LocalAttributeID
    ) -> CharacteristicDefinition {
        CharacteristicDefinition(
            id: id,
            uuid: characteristic.uuid.value,
            properties: CharacteristicProperties(
                rawValue: UInt16(truncatingIfNeeded: characteristic.properties.rawValue)
            ),
            permissions: AttributePermissions(rawValue: UInt8(truncatingIfNeeded: characteristic.permissions.rawValue)),
            value: characteristic.value.map { [UInt8]($0) },
            descriptors: (characteristic.descriptors ?? []).compactMap { $0 as? CBMutableDescriptor }
                .map { DescriptorDefinition(id: nextID(), uuid: $0.uuid.value, value: $0.octets) }
        )
    }
}

extension CBMutableService {
    var localIncludes: [CBMutableService] { (includedServices ?? []).compactMap { $0 as? CBMutableService } }
    var localCharacteristics: [CBMutableCharacteristic] {
        (characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
    }

    /// Why the service can not be published; `nil` if it can.
    ///
    /// - Precondition: Characteristics with a value can be read and nothing else; otherwise the program ends, as on
    ///   Apple's systems.
    var obstacle: Failure? {
        switch uuid.value.attributeForm {
        case .short(0x1800), .short(0x1801): return .uuidNotAllowed
        case .short, .medium, .full: break
        }
        for characteristic in localCharacteristics where !characteristic.isConsistent {
            raise("Characteristics with cached values must be read-only")
        }
        let isComplete =
            localCharacteristics.count == (characteristics ?? []).count
            && localCharacteristics.allSatisfy { $0.published == nil && $0.isAllowed }
            && localIncludes.count == (includedServices ?? []).count
            && localIncludes.allSatisfy { $0.published != nil }
        return isComplete ? nil : .invalidParameters
    }
}

extension CBMutableCharacteristic {
    /// Whether a value, if there is one, can stay as it is.
    fileprivate var isConsistent: Bool {
        value == nil || (properties == .read && permissions.isSubset(of: [.readable, .readEncryptionRequired]))
    }

    /// Whether the properties and descriptors are some that a local characteristic may have.
    fileprivate var isAllowed: Bool {
        properties.isDisjoint(with: [.broadcast, .extendedProperties])
            && (descriptors ?? []).allSatisfy { $0 is CBMutableDescriptor }
            && (value?.count ?? 0) <= CBPeripheral.longestValue
    }
}
