package import BLEWire

/// The discovered attributes of a peer, and the handles that were searched.
///
/// A search without results is as valuable as one with results: neither needs to be repeated. There are four aspects
/// per handle, because a request asks for one of them.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.
package struct KnownAttributes: Equatable, Sendable {
    /// An aspect of the attributes in a range.
    package enum Aspect: Int, CaseIterable, Sendable {
        /// The primary services that start there.
        case services
        /// The included services that are declared there.
        case includes
        /// The characteristics that are declared there.
        case characteristics
        /// The types of the attributes.
        case types
    }

    /// The status of each aspect of each handle.
    package struct Status: Equatable, Sendable {
        private var aspects = [HandleStatuses](repeating: HandleStatuses(), count: Aspect.allCases.count)

        package init() {}

        package subscript(aspect: Aspect) -> HandleStatuses { aspects[aspect.rawValue] }

        /// Returns whether any handle has a matching status in any aspect.
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

        /// Changes all aspects.
        mutating func update(_ range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
            for aspect in Aspect.allCases { update(aspect, in: range, change) }
        }
    }

    /// The declaration of an included service.
    package struct Include: Equatable, Sendable {
        package let handle: AttributeHandle
        package let range: AttributeHandleRange
        /// The type of the service; `nil` until it is read from the service itself.
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

        /// The range from the declaration to the value, without attributes in between.
        var range: AttributeHandleRange? { AttributeHandleRange(handle, value) }
    }

    /// Primary services in ascending order, without overlaps.
    package private(set) var services: [DiscoveredService] = []
    package private(set) var includes: [Include] = []
    package private(set) var declarations: [Declaration] = []
    package private(set) var types: [DiscoveredDescriptor] = []
    package private(set) var status = Status()

    package init() {}

    /// Creates the attributes from storage; returns `nil` if they are inconsistent.
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

    /// The number of items in the largest aspect.
    var count: Int { max(services.count, includes.count, declarations.count, types.count) }

    /// True if nothing is known.
    var isEmpty: Bool { !status.contains(where: \.isKnown) }

    /// The attributes for storage, in which no client was told.
    var kept: Self {
        var kept = self
        kept.status.update(.all) { $0 = $0.kept }
        return kept
    }

    /// Changes the status of an aspect in `range`.
    mutating func mark(_ aspect: Aspect, in range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
        status.update(aspect, in: range, change)
    }

    /// Changes the status of everything.
    mutating func mark(_ change: (inout HandleStatus) -> Void) { status.update(.all, change) }

    /// Records the complete list of primary services that start in `range`, which extends to the end of the last one.
    ///
    /// An earlier service that overlaps the first of them is shortened.
    mutating func learn(services found: [DiscoveredService], in range: AttributeHandleRange) {
        services.replace(in: range, with: found)
        let first = services.indices(in: range).lowerBound
        if first > 0, first < services.count { _ = services[first - 1].end(before: services[first]) }
        learnt(.services, in: range)
    }

    /// Records the complete list of included services in `range`.
    ///
    /// Known types are kept.
    mutating func learn(includes found: [Include], in range: AttributeHandleRange) {
        let old = includes[includes.indices(in: range)]
        let found = found.map { new in
            old.first { $0.handle == new.handle && $0.range == new.range && new.uuid == nil } ?? new
        }
        includes.replace(in: range, with: found)
        learnt(.includes, in: range)
    }

    /// Records the complete list of consecutive characteristic declarations in `range`, and with it the attributes
    /// after each one.
    mutating func learn(declarations found: [Declaration], in range: AttributeHandleRange) {
        let whole = found.last?.range.flatMap(range.joined) ?? range
        learnt(.characteristics, in: whole)
        declarations.replace(in: whole, with: found)
        let places = types.indices(in: whole)
        if !types[places].tell(of: found) { types.replaceSubrange(places, with: types[places].with(found)) }
        found.forEachExtent { status.update(.types, in: $0) { $0.learn() } }
    }

    /// Records the complete list of attribute types in `range`, which also shows where there are no declarations.
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

    /// Records the type of an included service.
    mutating func name(include handle: AttributeHandle, _ uuid: BluetoothUUID) {
        guard let index = includes.firstIndex(where: { $0.handle == handle }) else { return }
        includes[index].uuid = uuid
    }

    /// Drops everything that overlaps `range`, including the fact that clients were told, and returns the range that is
    /// unknown now.
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
