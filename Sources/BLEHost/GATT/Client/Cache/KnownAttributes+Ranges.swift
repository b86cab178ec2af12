package import BLEWire

extension ArraySlice<DiscoveredDescriptor> {
    /// Returns whether the slice contains each declaration, directly followed by its value.
    func containAll(_ declarations: [KnownAttributes.Declaration]) -> Bool {
        var place = startIndex
        for declaration in declarations {
            while place < endIndex, self[place].handle < declaration.handle { place += 1 }
            guard place + 1 < endIndex, self[place].handle == declaration.handle,
                self[place].uuid == GATT.characteristic, self[place + 1].handle == declaration.value,
                self[place + 1].uuid == declaration.uuid
            else { return false }
            place += 2
        }
        return true
    }

    /// Returns the elements of the slice, with the attributes of `declarations` inserted.
    ///
    /// The inserted attributes replace all attributes from each declaration to its value.
    func with(_ declarations: [KnownAttributes.Declaration]) -> [DiscoveredDescriptor] {
        var types: [DiscoveredDescriptor] = [], rest = self
        types.reserveCapacity(count + 2 * declarations.count)
        for declaration in declarations {
            while let first = rest.first, first.handle <= declaration.value {
                rest.removeFirst()
                if first.handle < declaration.handle { types.append(first) }
            }
            types.append(DiscoveredDescriptor(uuid: GATT.characteristic, handle: declaration.handle))
            types.append(DiscoveredDescriptor(uuid: declaration.uuid, handle: declaration.value))
        }
        return types + rest
    }
}

extension [KnownAttributes.Declaration] {
    /// Calls `body` with the range from each declaration to its value.
    ///
    /// Adjacent ranges are joined.
    func forEachExtent(_ body: (AttributeHandleRange) -> Void) {
        var whole: AttributeHandleRange?
        for declaration in self {
            guard let extent = declaration.range else { continue }
            guard let before = whole else {
                whole = extent
                continue
            }
            if before.end.wire &+ 1 == extent.start.wire, let joined = before.joined(with: extent) {
                whole = joined
            } else {
                body(before)
                whole = extent
            }
        }
        if let whole { body(whole) }
    }
}

extension Sequence<KnownAttributes.Declaration> {
    /// Returns the characteristics that consecutive declarations define in the service with the handles `range`.
    ///
    /// Each characteristic ends before the next declaration, the last one at the end of the service. Characteristics
    /// whose value is beyond their end are omitted.
    package func characteristics(in range: AttributeHandleRange) -> [DiscoveredCharacteristic] {
        var found: [DiscoveredCharacteristic] = []
        found.reserveCapacity(underestimatedCount)
        for declaration in self where declaration.handle < declaration.value && declaration.value <= range.end {
            if let last = found.last, last.value >= declaration.handle { found.removeLast() }
            if let last = found.indices.last { found[last].end = AttributeHandle(wire: declaration.handle.wire - 1) }
            found.append(
                DiscoveredCharacteristic(
                    uuid: declaration.uuid,
                    properties: declaration.properties,
                    declaration: declaration.handle,
                    value: declaration.value,
                    end: range.end
                )
            )
        }
        return found
    }
}

extension KnownAttributes {
    /// Returns the descriptors in `range`: all attributes in it except declarations.
    ///
    /// `range` must end where the characteristic ends.
    func descriptors(in range: AttributeHandleRange) -> [DiscoveredDescriptor] {
        types[types.indices(in: range)].filter { !$0.uuid.isDeclaration }
    }

    /// The ranges that may contain descriptors: from the handle after each characteristic value to the end of the
    /// characteristic, as far as services and characteristics are known.
    var descriptorRanges: [AttributeHandleRange] {
        var ranges: [AttributeHandleRange] = [], services = self.services[...]
        for (index, declaration) in declarations.enumerated() {
            while let service = services.first, service.range.end < declaration.handle { services.removeFirst() }
            var end = AttributeHandle(wire: .max)
            if let service = services.first?.range {
                let isAround = service.start <= declaration.handle
                end = isAround ? service.end : AttributeHandle(wire: service.start.wire - 1)
            }
            if index + 1 < declarations.count {
                end = min(end, AttributeHandle(wire: declarations[index + 1].handle.wire - 1))
            }
            if let range = AttributeHandleRange(declaration.value, end)?.after(declaration.value) {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Returns the handle of the first known attribute in `range` that has this type; `nil` if there is none.
    func first(_ type: BluetoothUUID, in range: AttributeHandleRange) -> AttributeHandle? {
        types[types.indices(in: range)].first { $0.uuid == type }?.handle
    }

    /// Returns whether the value at `handle` can be notified or indicated, according to its declaration.
    func canUpdate(_ handle: AttributeHandle) -> Bool {
        let updates = CharacteristicProperties([.notify, .indicate]).declared
        return declarations.contains { $0.value == handle && $0.properties & updates != 0 }
    }

    /// Returns the handle of the last known attribute in `range` that has a 128-bit type; `nil` if there is none.
    func lastLongType(in range: AttributeHandleRange) -> AttributeHandle? {
        types[types.indices(in: range)].last { ATT.FindInformationResponse.Format(of: $0.uuid) == .full }?.handle
    }

    /// Returns the declarations of included services in `range`, with the UUIDs of the services where they are known.
    func includes(in range: AttributeHandleRange) -> [Include] {
        includes[includes.indices(in: range)].map { include in
            var include = include
            include.uuid = include.uuid ?? services.first { $0.range.start == include.range.start }?.uuid
            return include
        }
    }

    /// Returns the last handle that may belong to the characteristic or included service declared at `handle`.
    ///
    /// That is the end of the known service that contains `handle`. If there is no such service, it is the handle
    /// before the next known service, or the maximum handle.
    func end(around handle: AttributeHandle) -> AttributeHandle {
        let next = services.indices.bisected { services[$0].range.start <= handle }
        if next > 0, handle <= services[next - 1].range.end { return services[next - 1].range.end }
        return AttributeHandle(wire: next < services.count ? services[next].range.start.wire - 1 : .max)
    }

    /// Returns whether a primary service starts at `handle`.
    func hasPrimaryService(at handle: AttributeHandle) -> Bool { services.contains { $0.range.start == handle } }
}
