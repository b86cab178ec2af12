import BLEHost
import BLEWire
import Foundation

/// A copy of a service's contents at the time of publication.
///
/// All properties are read here, before a lock is taken: apps may subclass services and characteristics, so reading a
/// property may run the app's code.
struct ServiceSnapshot {
    let service: CBMutableService
    let includes: [CBMutableService]
    let characteristics: [CBMutableCharacteristic]
    /// The definition for the host, without identifiers.
    let definition: ServiceDefinition
    /// The reason why the service cannot be published; `nil` if it can.
    let obstacle: Failure?

    /// Copies `service`.
    ///
    /// - Precondition: Each characteristic that has a value is read-only; otherwise the program ends, as on Apple's
    ///   systems.
    init(_ service: CBMutableService) {
        self.service = service
        let parts = service.includedServices ?? [], values = service.characteristics ?? []
        includes = parts.compactMap { $0 as? CBMutableService }
        characteristics = values.compactMap { $0 as? CBMutableCharacteristic }
        let uuid = service.uuid.value
        definition = ServiceDefinition(
            id: .unnamed,
            uuid: uuid,
            isPrimary: service.isPrimary,
            characteristics: characteristics.map(CharacteristicDefinition.init)
        )
        let isComplete =
            includes.count == parts.count && includes.allSatisfy { $0.published != nil }
            && characteristics.count == values.count
            && Set(characteristics.map(ObjectIdentifier.init)).count == characteristics.count
            && characteristics.allSatisfy { $0.published == nil && $0.isAllowed }
        obstacle =
            switch uuid.attributeForm {
            case .short(0x1800), .short(0x1801): .uuidNotAllowed
            case .short, .medium, .long: isComplete ? nil : .invalidParameters
            }
    }
}

extension LocalAttributeID {
    /// The placeholder in a definition that has no identifiers yet.
    fileprivate static let unnamed = Self(rawValue: 0)
}

extension CharacteristicDefinition {
    fileprivate init(_ characteristic: CBMutableCharacteristic) {
        let value = characteristic.value, properties = characteristic.properties
        let permissions = characteristic.permissions
        if value != nil, properties != .read || !permissions.isSubset(of: [.readable, .readEncryptionRequired]) {
            raise("Characteristics with cached values must be read-only")
        }
        self.init(
            id: .unnamed,
            uuid: characteristic.uuid.value,
            properties: CharacteristicProperties(rawValue: UInt16(truncatingIfNeeded: properties.rawValue)),
            permissions: AttributePermissions(rawValue: UInt16(truncatingIfNeeded: permissions.rawValue)),
            value: value.map { [UInt8]($0) },
            descriptors: (characteristic.descriptors ?? []).compactMap { $0 as? CBMutableDescriptor }
                .map { DescriptorDefinition(id: .unnamed, uuid: $0.uuid.value, value: $0.octets) }
        )
    }
}

extension CBMutableCharacteristic {
    /// True if this characteristic can be published: it has no properties reserved for the host, only mutable
    /// descriptors, and a value of at most ``ValueLength/longest`` octets.
    fileprivate var isAllowed: Bool {
        properties.isDisjoint(with: [.broadcast, .extendedProperties])
            && (descriptors ?? []).allSatisfy { $0 is CBMutableDescriptor }
            && (value?.count ?? 0) <= ValueLength.longest
    }
}
