import BLEHost
import BLEWire

/// The discovered attributes of a peripheral.
///
/// Each attribute has the same object as long as the attribute exists on the peripheral.
struct DiscoveredDatabase {
    /// A discovered service: its object, and the properties by which it is recognized when it is discovered again.
    private struct Known {
        let object: CBService
        let found: DiscoveredService
        /// True if the service was discovered only as an included service.
        var isOnlyIncluded: Bool
        /// The result of the last discovery of characteristics; `nil` if it did not contain all known characteristics
        /// of the service, or if characteristics have since been removed from the peripheral.
        var characteristics: [DiscoveredCharacteristic]?
    }

    /// The services that were discovered directly, not as included services; `nil` before the first discovery.
    private(set) var services: [CBService]?
    /// All discovered services, sorted by their handles; their handle ranges do not overlap.
    private var known: [Known] = []
    private var characteristics = HandleTable<CBCharacteristic>()
    private var descriptors = HandleTable<CBDescriptor>()
    /// Removed characteristics whose subscriptions have not been ended yet.
    private var dropped: [CBCharacteristic] = []

    func service(in range: AttributeHandleRange) -> CBService? { index(of: range).map { known[$0].object } }
    func characteristic(_ handle: AttributeHandle) -> CBCharacteristic? { characteristics[handle] }
    func descriptor(_ handle: AttributeHandle) -> CBDescriptor? { descriptors[handle] }

    /// Adds discovered services, and drops other known services that have some of the same handles.
    ///
    /// The GAP and GATT services stay hidden from apps, because the host uses them itself.
    mutating func add(_ found: [DiscoveredService], of peripheral: CBPeripheral) {
        for item in found where !item.isHidden { known[insert(item, of: peripheral)].isOnlyIncluded = false }
        services = known.filter { !$0.isOnlyIncluded }.map(\.object)
    }

    /// Adds services that `owner` includes.
    ///
    /// `found` is in the order of the include declarations.
    ///
    /// If the app has discovered the included services with several requests, the order of all declarations is unknown,
    /// so the services are sorted by their handles.
    mutating func add(_ found: [DiscoveredService], to owner: CBService, of peripheral: CBPeripheral) {
        var parts: [CBService] = []
        for item in found {
            let part = known[insert(item, of: peripheral)].object
            if !parts.contains(where: { $0 === part }) { parts.append(part) }
        }
        let old = owner.includedServices ?? [], others = old.filter { one in !parts.contains { $0 === one } }
        if others.isEmpty {
            owner.setIncludedServices(parts)
        } else if others.count + parts.count > old.count {
            owner.setIncludedServices((others + parts).sorted { $0.position < $1.position })
        }
    }

    /// Adds discovered characteristics of `service`, and drops other characteristics with the same handles.
    mutating func add(_ found: [DiscoveredCharacteristic], to service: CBService) {
        for range in ranges(replacedBy: found, in: service) { removeCharacteristics(in: range) }
        var list = (service.characteristics ?? []).filter { known in
            known.handles.map { characteristics[$0.value] === known } ?? false
        }
        for item in found where characteristics[item.value]?.represents(item) != true {
            let new = CBCharacteristic(item, of: service)
            characteristics[item.value] = new
            list.append(new)
        }
        list.sort { $0.position < $1.position }
        service.setCharacteristics(list)
        guard let index = service.range.flatMap(index), known[index].object === service else { return }
        let isAll = list.count == found.count && zip(list, found).allSatisfy { $0.represents($1) }
        known[index].characteristics = isAll ? found : nil
    }

    /// Sets the descriptors of `characteristic` to the discovered ones.
    mutating func add(_ found: [DiscoveredDescriptor], to characteristic: CBCharacteristic) {
        let list = found.map { item -> CBDescriptor in
            if let known = descriptors[item.handle], known.uuid.value == item.uuid { return known }
            let new = CBDescriptor(item, of: characteristic)
            descriptors[item.handle] = new
            return new
        }
        characteristic.setDescriptors(list)
    }

    /// Returns the ranges of the services that have a handle in `range`.
    func ranges(touching range: AttributeHandleRange) -> [AttributeHandleRange] {
        known.map(\.found.range).filter { $0.overlaps(range) }
    }

    /// Returns the handle ranges of the known services that are dropped when `found` is added.
    func ranges(replacedBy found: [DiscoveredService]) -> [AttributeHandleRange] {
        let found = found.sorted { $0.range.start < $1.range.start }
        var replaced: [AttributeHandleRange] = [], first = 0
        for old in known.lazy.map(\.found) {
            // `found[first]` also lies before all later known services, so it can be skipped for good.
            while first < found.count, found[first].range.end < old.range.start { first += 1 }
            let isReplaced = found[first...].prefix { $0.range.start <= old.range.end }.contains { new in
                !new.isHidden && new.range.overlaps(old.range) && !new.represents(old)
            }
            if isReplaced { replaced.append(old.range) }
        }
        return replaced
    }

    /// Returns the handle ranges of the characteristics in `service` that are dropped when `found` is added.
    func ranges(replacedBy found: [DiscoveredCharacteristic], in service: CBService) -> [AttributeHandleRange] {
        (service.characteristics ?? []).compactMap { known in
            guard let range = known.handles?.range else { return nil }
            let isReplaced = found.contains { new in
                (AttributeHandleRange(new.declaration, new.end)?.overlaps(range) ?? false) && !known.represents(new)
            }
            return isReplaced ? range : nil
        }
    }

    /// Returns whether `found` contains exactly the services that were discovered before.
    ///
    /// Services that were discovered only as included services do not count, and neither do hidden services.
    func hasExactly(_ found: [DiscoveredService]) -> Bool {
        guard services != nil else { return false }
        var next = 0
        for item in found where !item.isHidden {
            while next < known.count, known[next].isOnlyIncluded { next += 1 }
            guard next < known.count, item.represents(known[next].found) else { return false }
            next += 1
        }
        return known[next...].allSatisfy(\.isOnlyIncluded)
    }

    /// Returns whether `found` repeats the last discovery of characteristics in the service with the handles `range`.
    ///
    /// If so, there is nothing to change.
    func hasExactly(_ found: [DiscoveredCharacteristic], in range: AttributeHandleRange) -> Bool {
        index(of: range).map { known[$0].characteristics == found } ?? false
    }

    /// Removes the services that have a handle in `range`, with everything in them, and returns the services.
    mutating func remove(in range: AttributeHandleRange) -> [CBService] {
        let gone = known.filter { $0.found.range.overlaps(range) }
        guard !gone.isEmpty else { return [] }
        known.removeAll { $0.found.range.overlaps(range) }
        for service in gone { removeCharacteristics(in: service.found.range) }
        for owner in known.map(\.object) {
            owner.setIncludedServices(owner.includedServices?.filter { part in !gone.contains { $0.object === part } })
        }
        services?.removeAll { service in gone.contains { $0.object === service } }
        return gone.filter { !$0.isOnlyIncluded }.map(\.object) + gone.filter(\.isOnlyIncluded).map(\.object)
    }

    private mutating func removeCharacteristics(in range: AttributeHandleRange) {
        let gone = characteristics.remove(in: range)
        _ = descriptors.remove(in: range)
        guard !gone.isEmpty else { return }
        dropped += gone
        for index in known.indices { known[index].characteristics = nil }
    }

    /// Returns the removed characteristics whose subscriptions are still to be ended, and forgets them.
    mutating func takeDropped() -> [CBCharacteristic] {
        guard !dropped.isEmpty else { return [] }
        defer { dropped = [] }
        return dropped
    }

    /// Removes everything, and returns the services.
    mutating func removeAll() -> [CBService] {
        let gone = remove(in: .all)
        removeCharacteristics(in: .all)
        services = nil
        return gone
    }

    /// Marks all characteristics as unsubscribed, because the connection has ended.
    func endSubscriptions() {
        for characteristic in characteristics.objects { characteristic.subscription = .none }
    }

    /// Inserts a discovered service, and returns its index.
    ///
    /// If the same service was discovered before, its object stays; otherwise a new one is created.
    private mutating func insert(_ found: DiscoveredService, of peripheral: CBPeripheral) -> Int {
        if let index = index(of: found.range), found.represents(known[index].found) { return index }
        _ = remove(in: found.range)
        let index = firstIndex(from: found.range.start)
        known.insert(Known(object: CBService(found, of: peripheral), found: found, isOnlyIncluded: true), at: index)
        return index
    }

    private func index(of range: AttributeHandleRange) -> Int? {
        let index = firstIndex(from: range.start)
        return index < known.count && known[index].found.range == range ? index : nil
    }

    /// Returns the index of the first service that starts at or after `handle`.
    private func firstIndex(from handle: AttributeHandle) -> Int {
        known.indices.bisected { known[$0].found.range.start.wire < handle.wire }
    }
}

extension DiscoveredService {
    /// True if the service is hidden from apps, because the host uses it itself.
    fileprivate var isHidden: Bool { uuid == .short(0x1800) || uuid == .short(0x1801) }

    /// Returns whether this service has the same handles and the same type as `old`.
    fileprivate func represents(_ old: DiscoveredService) -> Bool { range == old.range && uuid == old.uuid }
}

extension CBService {
    fileprivate var position: AttributeHandle { range?.start ?? .none }
}

extension CBCharacteristic {
    /// Returns whether this object has the same handles, type and properties as `found`.
    fileprivate func represents(_ found: DiscoveredCharacteristic) -> Bool {
        let new = Handles(found)
        return handles == new && uuid.value == found.uuid && properties.rawValue == UInt(found.properties)
    }

    fileprivate var position: AttributeHandle { handles?.value ?? .none }
}
