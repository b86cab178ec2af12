package import BLEWire

/// What has been learnt of the attributes of a peer, and of which handles it has been learnt.
///
/// A search that finds nothing is worth as much as one that finds something: either way nobody has to ask again. What
/// is known of a handle comes in four aspects, since a request asks for one of them.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.
package struct KnownAttributes: Equatable, Sendable {
    /// Something to be learnt of a range of handles.
    package enum Aspect: Int, CaseIterable, Sendable {
        /// Which primary services begin there.
        case services
        /// Which included services are declared there.
        case includes
        /// Which characteristics are declared there.
        case characteristics
        /// Of which types the attributes are.
        case types
    }

    /// How far each aspect of each handle is known.
    package struct Status: Equatable, Sendable {
        private var aspects = [HandleStatuses](repeating: HandleStatuses(), count: Aspect.allCases.count)

        package init() {}

        package subscript(aspect: Aspect) -> HandleStatuses { aspects[aspect.rawValue] }

        /// Whether a handle has one of those in some aspect.
        func contains(where fits: (HandleStatus) -> Bool) -> Bool {
            aspects.contains { $0.last(where: fits) != nil }
        }

        package mutating func update(
            _ aspect: Aspect,
            in range: AttributeHandleRange,
            _ change: (inout HandleStatus) -> Void
        ) {
            aspects[aspect.rawValue].update(range, change)
        }

        /// Changes every aspect.
        mutating func update(_ range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
            for aspect in Aspect.allCases { update(aspect, in: range, change) }
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
    package private(set) var status = Status()

    package init() {}

    /// Creates what was learnt earlier, and kept elsewhere; `nil` if no peer could have such attributes.
    package init?(
        services: [DiscoveredService],
        includes: [Include],
        declarations: [Declaration],
        types: [DiscoveredDescriptor],
        status: Status
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
        self.status = status
    }

    /// How many attributes of the aspect with the most of them are kept.
    var count: Int { max(services.count, includes.count, declarations.count, types.count) }

    /// Whether nothing is known.
    var isEmpty: Bool { !status.contains(where: \.isKnown) }

    /// The same, of which nobody has heard.
    var kept: Self {
        var kept = self
        kept.status.update(.all) { $0 = $0.kept }
        return kept
    }

    /// Changes how far an aspect of `range` can be relied on.
    mutating func mark(_ aspect: Aspect, in range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
        status.update(aspect, in: range, change)
    }

    /// Changes how far all can be relied on.
    mutating func mark(_ change: (inout HandleStatus) -> Void) { status.update(.all, change) }

    /// Notes that just these primary services begin in `range`, which reaches to the end of the last of them.
    ///
    /// One that begins before, and reaches beyond the beginning of the first of these, ends there.
    mutating func learn(services found: [DiscoveredService], in range: AttributeHandleRange) {
        services.replace(in: range, with: found)
        let first = services.indices(in: range).lowerBound
        if first > 0, first < services.count { _ = services[first - 1].end(before: services[first]) }
        learnt(.services, in: range)
    }

    /// Notes that just these included services are declared in `range`; a type that was known stays so.
    mutating func learn(includes found: [Include], in range: AttributeHandleRange) {
        let old = includes[includes.indices(in: range)]
        let found = found.map { new in
            old.first { $0.handle == new.handle && $0.range == new.range && new.uuid == nil } ?? new
        }
        includes.replace(in: range, with: found)
        learnt(.includes, in: range)
    }

    /// Notes that just these characteristics, one behind the other, are declared in `range`, and with that what follows
    /// each declaration.
    mutating func learn(declarations found: [Declaration], in range: AttributeHandleRange) {
        let whole = found.last?.range.flatMap(range.joined) ?? range
        learnt(.characteristics, in: whole)
        declarations.replace(in: whole, with: found)
        let places = types.indices(in: whole)
        if !types[places].tell(of: found) { types.replaceSubrange(places, with: types[places].with(found)) }
        found.forEachExtent { status.update(.types, in: $0) { $0.learn() } }
    }

    /// Notes that `range` holds just attributes of these types, which also tells where nothing is declared.
    mutating func learn(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) {
        types.replace(in: range, with: found)
        learnt(.types, in: range)
        for (aspect, type) in [(Aspect.includes, GATT.include), (.characteristics, GATT.characteristic)] {
            var rest: AttributeHandleRange? = range
            for attribute in found where attribute.uuid == type {
                if let start = rest?.start, start < attribute.handle,
                    let before = AttributeHandleRange(start, AttributeHandle(wire: attribute.handle.wire - 1))
                {
                    learnt(aspect, in: before)
                }
                rest = rest?.after(attribute.handle)
            }
            if let rest { learnt(aspect, in: rest) }
        }
    }

    private mutating func learnt(_ aspect: Aspect, in range: AttributeHandleRange) {
        status.update(aspect, in: range) { $0.learn() }
    }

    /// Notes the type of a service that is included.
    mutating func name(include handle: AttributeHandle, _ uuid: BluetoothUUID) {
        guard let index = includes.firstIndex(where: { $0.handle == handle }) else { return }
        includes[index].uuid = uuid
    }

    /// Forgets whatever has a part in `range`, also that somebody was told of it, and returns what is not known any
    /// more.
    mutating func remove(_ range: AttributeHandleRange) -> AttributeHandleRange {
        var start = range.start, end = range.end
        for extent in declarations.compactMap(\.range) + services.map(\.range) where extent.overlaps(range) {
            start = min(start, extent.start)
            end = max(end, extent.end)
        }
        guard let gone = AttributeHandleRange(start, end) else { return range }
        services.removeAll { $0.range.overlaps(gone) }
        for include in includes where include.range.overlaps(gone) {
            if let place = AttributeHandleRange(include.handle) {
                status.update(.includes, in: place) { $0.forget() }
            }
        }
        includes.removeAll { gone.contains($0.handle) || $0.range.overlaps(gone) }
        declarations.replace(in: gone, with: [])
        types.replace(in: gone, with: [])
        status.update(gone) { $0 = HandleStatus() }
        return gone
    }
}
