package import BLEWire

/// The plausible entries of a response.
///
/// A server that reports one attribute incorrectly usually reports the others correctly. So only entries that are
/// outside of the requested range, out of order or invalid are skipped.
package struct ResponseEntries<Item> {
    package private(set) var items: [Item] = []
    /// The handles of the entries that were skipped.
    private(set) var faults: [AttributeHandle] = []
    /// The range in which the next entry must be; `nil` if it is empty.
    private var rest: AttributeHandleRange?

    /// Adds the entry at `handle`.
    ///
    /// `item` is `nil` if the entry is invalid.
    private mutating func append(_ item: Item?, at handle: AttributeHandle) {
        guard let item, let room = rest, room.contains(handle) else { return faults.append(handle) }
        items.append(item)
        rest = room.after(handle)
    }
}

extension ResponseEntries<DiscoveredService> {
    /// Extracts the primary services from a response.
    ///
    /// An entry is skipped if its handles are not a valid range (`place` is `nil`), or if its UUID is invalid (`uuid`
    /// is `nil`). A service that overlaps the next one is shortened.
    package init(
        services entries: [(start: AttributeHandle, place: AttributeHandleRange?, uuid: BluetoothUUID?)],
        in range: AttributeHandleRange
    ) {
        rest = range
        for entry in entries {
            let service = entry.uuid.flatMap { uuid in
                entry.place.map { DiscoveredService(uuid: uuid, range: $0, isPrimary: true) }
            }
            append(service, at: entry.start)
        }
        for (index, next) in zip(items.indices, items.dropFirst()) where items[index].end(before: next) {
            faults.append(items[index].range.start)
        }
    }
}

extension ResponseEntries<KnownAttributes.Include> {
    /// Extracts the declarations of included services from a response.
    package init(includes entries: ATT.ReadByTypeResponse.Entries, in range: AttributeHandleRange) {
        rest = range
        for entry in entries {
            let value = entry.value, isWhole = value.count == 4 || value.count == 6
            let service = isWhole ? AttributeHandleRange(value.handle(at: 0), value.handle(at: 2)) : nil
            let uuid = BluetoothUUID(attributeValue: value.dropFirst(4))
            append(service.map { .init(handle: entry.handle, range: $0, uuid: uuid) }, at: entry.handle)
        }
    }
}

extension ResponseEntries<KnownAttributes.Declaration> {
    /// Extracts the declarations of characteristics from a response.
    ///
    /// Each value must come after its declaration, before the next declaration, and not after the handle that `end`
    /// returns for the declaration.
    package init(
        declarations entries: ATT.ReadByTypeResponse.Entries,
        in range: AttributeHandleRange,
        end: (AttributeHandle) -> AttributeHandle
    ) {
        rest = range
        items.reserveCapacity(entries.count)
        var limit = AttributeHandle.none
        for index in 0..<entries.count {
            let entry = entries[index]
            // `end` returns the same handle for all declarations of a service, so it is called once per service.
            if entry.handle > limit { limit = end(entry.handle) }
            let declaration = KnownAttributes.Declaration(entry)
            append(declaration.flatMap { $0.value <= limit ? $0 : nil }, at: entry.handle)
        }
        let isTooLong = (1..<max(items.count, 1)).contains { items[$0 - 1].value >= items[$0].handle }
        guard isTooLong else { return }
        let tooLong = zip(items, items.dropFirst()).filter { $0.value >= $1.handle }.map(\.0.handle)
        items.removeAll { tooLong.contains($0.handle) }
        faults += tooLong
    }
}

extension ResponseEntries<DiscoveredDescriptor> {
    /// Extracts the attributes and their types from a response.
    package init(types entries: [ATT.FindInformationResponse.Entry], in range: AttributeHandleRange) {
        rest = range
        for entry in entries {
            append(DiscoveredDescriptor(uuid: entry.type, handle: entry.handle), at: entry.handle)
        }
    }
}

extension DiscoveredService {
    /// Shortens this service so that it ends before `next` starts.
    ///
    /// Returns `false` if that was unnecessary or impossible.
    mutating func end(before next: Self) -> Bool {
        guard range.end >= next.range.start,
            let shorter = AttributeHandleRange(range.start, AttributeHandle(wire: next.range.start.wire - 1))
        else { return false }
        range = shorter
        return true
    }
}

extension KnownAttributes.Declaration {
    /// Decodes the declaration in an attribute's value; returns `nil` if it is invalid.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.1.
    fileprivate init?(_ entry: ATT.ReadByTypeResponse.Entry) {
        let octets = entry.value
        guard octets.count >= 3, let uuid = BluetoothUUID(attributeValue: octets.dropFirst(3)),
            entry.handle < octets.handle(at: 1)
        else { return nil }
        let properties = octets[octets.startIndex]
        self.init(handle: entry.handle, properties: properties, value: octets.handle(at: 1), uuid: uuid)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the handle in the two octets at `offset`, which must exist.
    func handle(at offset: Int) -> AttributeHandle {
        let place = startIndex + offset
        return AttributeHandle(wire: UInt16(self[place]) | UInt16(self[place + 1]) << 8)
    }
}
