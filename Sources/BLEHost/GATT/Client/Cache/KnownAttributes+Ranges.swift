package import BLEWire

extension ArraySlice<DiscoveredDescriptor> {
    /// Whether all that these declarations tell is among these types, and nothing else lies where they do.
    func tell(of declarations: [KnownAttributes.Declaration]) -> Bool {
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

    /// These types, with those of which declarations tell in the places of what lies where they do.
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
    /// Visits what reaches from a declaration to its value; those between which there is nothing are one.
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
    /// The characteristics that are declared so, one behind the other, in a service that takes `range`.
    ///
    /// One ends where the next begins, the last with the service. Those whose value is not before that are left out.
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
    /// What describes a characteristic that ends with `range`: all that is there but declarations.
    func descriptors(in range: AttributeHandleRange) -> [DiscoveredDescriptor] {
        types[types.indices(in: range)].filter { !$0.uuid.isDeclaration }
    }

    /// Where descriptors may be, as far as services and characteristics are known: behind each value, to the end of its
    /// characteristic.
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

    /// The first attribute of a type that is known in `range`.
    func first(_ type: BluetoothUUID, in range: AttributeHandleRange) -> AttributeHandle? {
        types[types.indices(in: range)].first { $0.uuid == type }?.handle
    }

    /// The last attribute with a type of 128 bits that is known in `range`.
    func lastLongType(in range: AttributeHandleRange) -> AttributeHandle? {
        types[types.indices(in: range)].last { ATT.FindInformationResponse.Format(of: $0.uuid) == .full }?.handle
    }

    /// The declarations of included services in `range`, with what their types are known to be.
    func includes(in range: AttributeHandleRange) -> [Include] {
        includes[includes.indices(in: range)].map { include in
            var include = include
            include.uuid = include.uuid ?? services.first { $0.range.start == include.range.start }?.uuid
            return include
        }
    }

    /// The last handle that can belong to what is declared at `handle`, as far as services are known.
    func end(around handle: AttributeHandle) -> AttributeHandle {
        let next = services.indices.bisected { services[$0].range.start <= handle }
        if next > 0, handle <= services[next - 1].range.end { return services[next - 1].range.end }
        return AttributeHandle(wire: next < services.count ? services[next].range.start.wire - 1 : .max)
    }

    /// Whether a primary service begins at `handle`.
    func hasPrimaryService(at handle: AttributeHandle) -> Bool { services.contains { $0.range.start == handle } }
}
