package import BLEWire

/// What has been learnt of the attributes of a peer, and of which handles it has been learnt.
///
/// A search that finds nothing is worth as much as one that finds something: either way nobody has to ask again. What
/// is known of a handle comes in four aspects, since a request asks for one of them.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.
package struct KnownAttributes: Equatable, Sendable {
    /// Something to be learnt of a range of handles.
    package enum Aspect: CaseIterable, Sendable {
        /// Which primary services begin there.
        case services
        /// Which included services are declared there.
        case includes
        /// Which characteristics are declared there.
        case characteristics
        /// Of which types the attributes are.
        case types
    }

    /// The handles of which an aspect is known, for each aspect.
    package struct Coverage: Equatable, Sendable {
        private var services = HandleSet()
        private var includes = HandleSet()
        private var characteristics = HandleSet()
        private var types = HandleSet()

        package init() {}

        package subscript(aspect: Aspect) -> HandleSet {
            get {
                switch aspect {
                case .services: services
                case .includes: includes
                case .characteristics: characteristics
                case .types: types
                }
            }
            set {
                switch aspect {
                case .services: services = newValue
                case .includes: includes = newValue
                case .characteristics: characteristics = newValue
                case .types: types = newValue
                }
            }
        }

        package var isEmpty: Bool { Aspect.allCases.allSatisfy { self[$0].isEmpty } }

        /// Takes every handle of `other` away.
        mutating func subtract(_ other: Self) {
            for aspect in Aspect.allCases {
                for range in other[aspect].ranges { self[aspect].remove(range) }
            }
        }
    }

    /// The declaration of an included service.
    package struct Include: Equatable, Sendable {
        package let handle: AttributeHandle
        package let range: AttributeHandleRange
        /// The type of the service; `nil` as long as only the service itself can tell.
        package var uuid: BluetoothUUID?

        package init(handle: AttributeHandle, range: AttributeHandleRange, uuid: BluetoothUUID?) {
            self.handle = handle
            self.range = range
            self.uuid = uuid
        }
    }

    /// The declaration of a characteristic.
    package struct Declaration: Equatable, Sendable {
        package let handle: AttributeHandle
        package let properties: UInt8
        package let value: AttributeHandle
        package let uuid: BluetoothUUID

        package init(handle: AttributeHandle, properties: UInt8, value: AttributeHandle, uuid: BluetoothUUID) {
            self.handle = handle
            self.properties = properties
            self.value = value
            self.uuid = uuid
        }

        /// From the declaration to the value, between which there is nothing else.
        var range: AttributeHandleRange? { AttributeHandleRange(handle, value) }
    }

    /// Primary services, in ascending order, none of which overlap.
    package private(set) var services: [DiscoveredService] = []
    package private(set) var includes: [Include] = []
    package private(set) var declarations: [Declaration] = []
    package private(set) var types: [DiscoveredDescriptor] = []
    package private(set) var known = Coverage()

    package init() {}

    /// Creates what was learnt earlier, and kept elsewhere; `nil` if no peer could have such attributes.
    package init?(
        services: [DiscoveredService],
        includes: [Include],
        declarations: [Declaration],
        types: [DiscoveredDescriptor],
        known: Coverage
    ) {
        guard zip(services, services.dropFirst()).allSatisfy({ $0.range.end < $1.range.start }),
            zip(includes, includes.dropFirst()).allSatisfy({ $0.handle < $1.handle }),
            zip(types, types.dropFirst()).allSatisfy({ $0.handle < $1.handle }),
            declarations.allSatisfy({ $0.range != nil && $0.handle < $0.value }),
            zip(declarations, declarations.dropFirst()).allSatisfy({ $0.value < $1.handle })
        else { return nil }
        self.services = services
        self.includes = includes
        self.declarations = declarations
        self.types = types
        self.known = known
    }

    /// How many attributes of the aspect with the most of them are kept.
    var count: Int { max(services.count, includes.count, declarations.count, types.count) }

    /// Notes that just these primary services begin in `range`, which reaches to the end of the last of them.
    ///
    /// One that begins before, and reaches beyond the beginning of the first of these, ends there.
    mutating func learn(services found: [DiscoveredService], in range: AttributeHandleRange) -> Coverage {
        services.replace(in: range, with: found)
        let first = services.indices(in: range).lowerBound
        if first > 0, first < services.count { _ = services[first - 1].end(before: services[first]) }
        return gain([(.services, range)])
    }

    /// Notes that just these included services are declared in `range`; a type that was known stays so.
    mutating func learn(includes found: [Include], in range: AttributeHandleRange) -> Coverage {
        let old = includes[includes.indices(in: range)]
        let found = found.map { new in
            old.first { $0.handle == new.handle && $0.range == new.range && new.uuid == nil } ?? new
        }
        includes.replace(in: range, with: found)
        return gain([(.includes, range)])
    }

    /// Notes that just these characteristics are declared in `range`, and with that what follows each declaration.
    mutating func learn(declarations found: [Declaration], in range: AttributeHandleRange) -> Coverage {
        var gained: [(Aspect, AttributeHandleRange)] = [(.characteristics, range)]
        declarations.replace(in: range, with: [])
        for declaration in found {
            guard let extent = declaration.range else { continue }
            declarations.replace(in: extent, with: [declaration])
            types.replace(
                in: extent,
                with: [
                    DiscoveredDescriptor(uuid: GATT.characteristic, handle: declaration.handle),
                    DiscoveredDescriptor(uuid: declaration.uuid, handle: declaration.value),
                ]
            )
            gained += [(.characteristics, extent), (.types, extent)]
        }
        return gain(gained)
    }

    /// Notes that `range` holds just attributes of these types, which also tells where nothing is declared.
    mutating func learn(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) -> Coverage {
        types.replace(in: range, with: found)
        var gained: [(Aspect, AttributeHandleRange)] = [(.types, range)]
        for (aspect, type) in [(Aspect.includes, GATT.include), (.characteristics, GATT.characteristic)] {
            var rest: AttributeHandleRange? = range
            for attribute in found where attribute.uuid == type {
                if let start = rest?.start, start < attribute.handle,
                    let before = AttributeHandleRange(start, AttributeHandle(wire: attribute.handle.wire - 1))
                {
                    gained.append((aspect, before))
                }
                rest = rest?.after(attribute.handle)
            }
            if let rest { gained.append((aspect, rest)) }
        }
        return gain(gained)
    }

    private mutating func gain(_ parts: [(Aspect, AttributeHandleRange)]) -> Coverage {
        var gained = Coverage()
        for (aspect, range) in parts {
            gained[aspect].insert(range)
            known[aspect].insert(range)
        }
        return gained
    }

    /// Notes the type of a service that is included.
    mutating func name(include handle: AttributeHandle, _ uuid: BluetoothUUID) {
        guard let index = includes.firstIndex(where: { $0.handle == handle }) else { return }
        includes[index].uuid = uuid
    }

    /// Forgets whatever has a part in `range`, and returns what is not known any more.
    mutating func remove(_ range: AttributeHandleRange) -> AttributeHandleRange {
        var start = range.start, end = range.end
        for extent in declarations.compactMap(\.range) + services.map(\.range) where extent.overlaps(range) {
            start = min(start, extent.start)
            end = max(end, extent.end)
        }
        guard let gone = AttributeHandleRange(start, end) else { return range }
        services.removeAll { $0.range.overlaps(gone) }
        for include in includes where include.range.overlaps(gone) {
            if let place = AttributeHandleRange(include.handle) { known[.includes].remove(place) }
        }
        includes.removeAll { gone.contains($0.handle) || $0.range.overlaps(gone) }
        declarations.replace(in: gone, with: [])
        types.replace(in: gone, with: [])
        for aspect in Aspect.allCases { known[aspect].remove(gone) }
        return gone
    }
}
