import BLEHost
import BLEWire

/// What is known of a peripheral's services: objects that stay the same as long as what they stand for does.
struct DiscoveredDatabase {
    /// Those that were discovered as services of their own; `nil` before that.
    private(set) var services: [CBService]?
    /// Those that are known only as part of others.
    private var parts: [CBService] = []
    private var characteristics = HandleTable<CBCharacteristic>()
    private var descriptors = HandleTable<CBDescriptor>()

    private var all: [CBService] { (services ?? []) + parts }

    func service(in range: AttributeHandleRange) -> CBService? {
        services?.service(in: range) ?? parts.first { $0.range == range }
    }

    func characteristic(_ handle: AttributeHandle) -> CBCharacteristic? { characteristics[handle] }
    func descriptor(_ handle: AttributeHandle) -> CBDescriptor? { descriptors[handle] }

    /// Adds services, and drops what lies where they are now; those of the host itself (GAP and GATT) stay hidden.
    mutating func add(_ found: [DiscoveredService], of peripheral: CBPeripheral) {
        let new = found.filter { !$0.isHidden }.map { object(for: $0, of: peripheral) }
        parts.removeAll { part in new.contains { $0 === part } }
        services = Self.merged(services ?? [], new)
    }

    /// Adds services that belong to `owner`.
    mutating func add(_ found: [DiscoveredService], to owner: CBService, of peripheral: CBPeripheral) {
        let new = found.map { object(for: $0, of: peripheral) }
        for service in new where !all.contains(where: { $0 === service }) { parts.append(service) }
        owner.setIncludedServices(Self.merged(owner.includedServices ?? [], new))
    }

    /// Adds characteristics of `service`, and drops those in whose place they are now.
    mutating func add(_ found: [DiscoveredCharacteristic], to service: CBService) {
        for range in ranges(replacedBy: found, in: service) { removeCharacteristics(in: range) }
        var list = (service.characteristics ?? []).filter { known in
            known.handles.map { characteristics[$0.value] === known } ?? false
        }
        for item in found where characteristics[item.value]?.stands(for: item) != true {
            let new = CBCharacteristic(item, of: service)
            characteristics[item.value] = new
            list.append(new)
        }
        service.setCharacteristics(list.sorted { $0.position < $1.position })
    }

    /// Adds descriptors of `characteristic`.
    mutating func add(_ found: [DiscoveredDescriptor], to characteristic: CBCharacteristic) {
        let list = found.map { item -> CBDescriptor in
            if let known = descriptors[item.handle], known.uuid.value == item.uuid { return known }
            let new = CBDescriptor(item, of: characteristic)
            descriptors[item.handle] = new
            return new
        }
        characteristic.setDescriptors(list)
    }

    /// Where the services are that have a handle in `range`.
    func ranges(touching range: AttributeHandleRange) -> [AttributeHandleRange] {
        all.compactMap(\.range).filter { $0.overlaps(range) }
    }

    /// Where the services are in whose place there are others, if `found` is what is there now.
    func ranges(replacedBy found: [DiscoveredService]) -> [AttributeHandleRange] {
        let seen = found.filter { !$0.isHidden }
        return all.compactMap { service in
            guard let range = service.range else { return nil }
            let isReplaced = seen.contains { new in
                new.range.overlaps(range) && (new.range != range || new.uuid != service.uuid.value)
            }
            return isReplaced ? range : nil
        }
    }

    /// Where the characteristics of `service` are in whose place there are others, if `found` is what is there now.
    func ranges(replacedBy found: [DiscoveredCharacteristic], in service: CBService) -> [AttributeHandleRange] {
        (service.characteristics ?? []).compactMap { known in
            guard let range = known.handles?.range else { return nil }
            let isReplaced = found.contains { new in
                (AttributeHandleRange(new.declaration, new.end)?.overlaps(range) ?? false) && !known.stands(for: new)
            }
            return isReplaced ? range : nil
        }
    }

    /// Whether `found` is just what was found in `service` before, so that there is nothing to add.
    func isAllThereIs(_ found: [DiscoveredCharacteristic], in service: CBService) -> Bool {
        guard let known = service.characteristics, known.count == found.count else { return false }
        return zip(known, found).allSatisfy { $0.stands(for: $1) && characteristics[$1.value] === $0 }
    }

    /// Drops the services that have a handle in `range`, with all that belongs to them, and returns them.
    mutating func remove(in range: AttributeHandleRange) -> [CBService] {
        let gone = all.filter { $0.range?.overlaps(range) ?? false }
        services?.removeAll { service in gone.contains { $0 === service } }
        parts.removeAll { service in gone.contains { $0 === service } }
        for service in gone.compactMap(\.range) { removeCharacteristics(in: service) }
        for owner in all {
            owner.setIncludedServices(owner.includedServices?.filter { part in !gone.contains { $0 === part } })
        }
        return gone
    }

    private mutating func removeCharacteristics(in range: AttributeHandleRange) {
        for characteristic in characteristics.remove(in: range) { characteristic.subscription = .none }
        _ = descriptors.remove(in: range)
    }

    /// Removes everything, as if nothing had been discovered, and returns the services.
    mutating func removeAll() -> [CBService] {
        let gone = remove(in: .all)
        self = DiscoveredDatabase()
        return gone
    }

    /// The connection is gone, and with it what the peripheral sends by itself.
    func endSubscriptions() {
        for characteristic in characteristics.objects { characteristic.subscription = .none }
    }

    private mutating func object(for found: DiscoveredService, of peripheral: CBPeripheral) -> CBService {
        if let known = service(in: found.range), known.uuid.value == found.uuid { return known }
        _ = remove(in: found.range)
        return CBService(found, of: peripheral)
    }

    private static func merged(_ old: [CBService], _ new: [CBService]) -> [CBService] {
        let added = new.filter { service in !old.contains { $0 === service } }
        return (old + added).sorted { $0.position < $1.position }
    }
}

extension DiscoveredService {
    /// Whether apps do not get to see the service, since the host deals with it.
    fileprivate var isHidden: Bool {
        switch uuid.attributeForm {
        case .short(0x1800), .short(0x1801): true
        case .short, .medium, .long: false
        }
    }
}

extension CBService {
    fileprivate var position: AttributeHandle { range?.start ?? .none }
}

extension [CBService] {
    /// The service that takes `range`, of those that are in the order of their handles.
    fileprivate func service(in range: AttributeHandleRange) -> CBService? {
        let index = indices.bisected { self[$0].position < range.start }
        return index < count && self[index].range == range ? self[index] : nil
    }
}

extension CBCharacteristic {
    /// Whether this is the object of what was found.
    fileprivate func stands(for found: DiscoveredCharacteristic) -> Bool {
        let new = Handles(found)
        return handles == new && uuid.value == found.uuid && properties.rawValue == UInt(found.properties)
    }

    fileprivate var position: AttributeHandle { handles?.value ?? .none }
}
