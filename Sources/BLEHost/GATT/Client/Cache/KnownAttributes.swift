package import BLEWire

/// The discovered attributes of a peer, and the handles that were searched for them.
///
/// A search without results is recorded, too, because it does not need to be repeated either. The status of a handle is
/// recorded separately for each of its four aspects, because one request reads only one aspect of a range.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.
package struct KnownAttributes: Equatable, Sendable {
    /// A kind of information about the attributes in a range.
    ///
    /// Each aspect is read with its own kind of request.
    package enum Aspect: Int, CaseIterable, Sendable {
        /// The primary services that start in the range.
        case services
        /// The included services that are declared in the range.
        case includes
        /// The characteristics that are declared in the range.
        case characteristics
        /// The types of all attributes in the range.
        case types
    }

    /// The status of each aspect of each handle.
    package struct Status: Equatable, Sendable {
        private var aspects = [HandleStatuses](repeating: HandleStatuses(), count: Aspect.allCases.count)

        package init() {}

        package subscript(aspect: Aspect) -> HandleStatuses { aspects[aspect.rawValue] }

        /// Returns whether the status of any aspect of any handle satisfies `fits`.
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

        /// Changes the status of all aspects of the handles in `range`.
        mutating func update(_ range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
            for aspect in Aspect.allCases { update(aspect, in: range, change) }
        }
    }

    /// The declaration of an included service.
    package struct Include: Equatable, Sendable {
        package let handle: AttributeHandle
        package let range: AttributeHandleRange
        /// The UUID of the service; `nil` until it has been read from the service's own declaration.
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

        /// The range from the declaration to the value, without other attributes in between; `nil` if the value comes
        /// before the declaration.
        var range: AttributeHandleRange? { AttributeHandleRange(handle, value) }
    }

    /// The primary services in ascending order, without overlaps.
    package private(set) var services: [DiscoveredService] = []
    package private(set) var includes: [Include] = []
    package private(set) var declarations: [Declaration] = []
    package private(set) var types: [DiscoveredDescriptor] = []
    package private(set) var status = Status()

    package init() {}

    /// Creates the collection from stored items; returns `nil` if the items are out of order or overlap.
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

    /// The number of items of the aspect that has the most items.
    var count: Int { max(services.count, includes.count, declarations.count, types.count) }

    /// True if nothing is known.
    var isEmpty: Bool { !status.contains(where: \.isKnown) }

    /// The attributes to store for the next link, on which nothing has been reported to clients yet.
    var asStored: Self {
        var kept = self
        kept.status.update(.all) { $0 = $0.asStored }
        return kept
    }

    /// The attributes to store for the next link, as in ``asStored``, without those that would have to be read again.
    var asStoredIfCurrent: Self {
        var current = self
        current.status.update(.all) { $0 = $0.asStoredIfCurrent }
        return current
    }

    /// Changes the status of an aspect in `range`.
    mutating func mark(_ aspect: Aspect, in range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
        status.update(aspect, in: range, change)
    }

    /// Changes the status of all aspects of all handles.
    mutating func mark(_ change: (inout HandleStatus) -> Void) { status.update(.all, change) }

    /// Records all primary services that start in `range`.
    ///
    /// If any services were found, `range` must extend to the end of the last one.
    ///
    /// An earlier service that overlaps the first service in `found` is shortened.
    mutating func learn(services found: [DiscoveredService], in range: AttributeHandleRange) {
        services.replace(in: range, with: found)
        let first = services.indices(in: range).lowerBound
        if first > 0, first < services.count { _ = services[first - 1].end(before: services[first]) }
        markKnown(.services, in: range)
    }

    /// Records all included services that are declared in `range`.
    ///
    /// UUIDs that are already known are kept.
    mutating func learn(includes found: [Include], in range: AttributeHandleRange) {
        let old = includes[includes.indices(in: range)]
        let found = found.map { new in
            old.first { $0.handle == new.handle && $0.range == new.range && new.uuid == nil } ?? new
        }
        includes.replace(in: range, with: found)
        markKnown(.includes, in: range)
    }

    /// Records all characteristic declarations in `range`, and the attributes that each of them implies: the
    /// declaration and its value.
    mutating func learn(declarations found: [Declaration], in range: AttributeHandleRange) {
        let whole = found.last?.range.flatMap(range.joined) ?? range
        markKnown(.characteristics, in: whole)
        declarations.replace(in: whole, with: found)
        let places = types.indices(in: whole)
        if !types[places].containAll(found) { types.replaceSubrange(places, with: types[places].with(found)) }
        found.forEachExtent { status.update(.types, in: $0) { $0.learn() } }
    }

    /// Records the types of all attributes in `range`.
    ///
    /// The types also show at which handles no included service and no characteristic is declared; these two aspects of
    /// the handles are then known as well.
    mutating func learn(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) {
        types.replace(in: range, with: found)
        markKnown(.types, in: range)
        for (aspect, type) in [(Aspect.includes, GATT.include), (.characteristics, GATT.characteristic)] {
            var rest: AttributeHandleRange? = range
            for attribute in found where attribute.uuid == type {
                if let start = rest?.start, start < attribute.handle,
                    let before = AttributeHandleRange(start, AttributeHandle(wire: attribute.handle.wire - 1))
                {
                    markKnown(aspect, in: before)
                }
                rest = rest?.after(attribute.handle)
            }
            if let rest { markKnown(aspect, in: rest) }
        }
    }

    private mutating func markKnown(_ aspect: Aspect, in range: AttributeHandleRange) {
        status.update(aspect, in: range) { $0.learn() }
    }

    /// Records the UUID of an included service.
    mutating func setUUID(ofInclude handle: AttributeHandle, _ uuid: BluetoothUUID) {
        guard let index = includes.firstIndex(where: { $0.handle == handle }) else { return }
        includes[index].uuid = uuid
    }

    /// Drops everything that overlaps `range`, including the records of what was reported to clients, and returns the
    /// range that is now unknown.
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

/// The attributes of a peer that are stored for its next link.
///
/// They are valid on a new link only if the peer's Database Hash is still the same.
///
/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.3.
package struct CachedDatabase: Equatable, Sendable {
    /// The peer's Database Hash, which was the same before and after the attributes were discovered.
    package let hash: UInt128
    package let attributes: KnownAttributes

    package init(hash: UInt128, attributes: KnownAttributes) {
        self.hash = hash
        self.attributes = attributes
    }
}
