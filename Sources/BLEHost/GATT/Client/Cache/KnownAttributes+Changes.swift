import BLEWire

// Comparing the peer's responses with what was reported to clients.
extension KnownAttributes {
    /// Returns the range in which the services found in `range` differ from what was reported to clients; `nil` if
    /// there is no difference.
    func change(services found: [DiscoveredService], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.services]
        guard status.first(in: range, where: \.isDelivered) != nil else { return nil }
        let old = services[services.indices(in: range)]
        return status.changes(from: old, to: found, at: \.firstHandle, isSame: ==).map(\.range).joined
    }

    /// Returns the range in which the included services found in `range` differ from what was reported to clients;
    /// `nil` if there is no difference.
    func change(includes found: [Include], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.includes]
        guard status.first(in: range, where: \.isDelivered) != nil else { return nil }
        let old = includes[includes.indices(in: range)]
        let changes = status.changes(from: old, to: found, at: \.handle) { $0.agrees(with: $1) }
        return changes.compactMap { AttributeHandleRange($0.handle) }.joined
    }

    /// Returns the range in which the characteristics found in `range` differ from what was reported to clients; `nil`
    /// if there is no difference.
    func change(declarations found: [Declaration], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.characteristics]
        guard status.first(in: range, where: \.isDelivered) != nil else { return nil }
        let old = declarations[declarations.indices(in: range)]
        return status.changes(from: old, to: found, at: \.handle, isSame: ==).compactMap(\.range).joined
    }

    /// Returns the range in which the attributes found in `range` differ from the descriptors that were reported to
    /// clients; `nil` if there is no difference.
    ///
    /// Attributes from a characteristic declaration to its value are excluded, because some peers report their types
    /// inconsistently.
    func change(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.types]
        guard status.first(in: range, where: \.isDelivered) != nil else { return nil }
        let old = types[types.indices(in: range)]
        return status.changes(from: old, to: found, at: \.handle, isSame: ==)
            .filter { one in !declarations.contains { $0.range?.contains(one.handle) ?? false } }
            .compactMap { AttributeHandleRange($0.handle) }
            .joined
    }
}

extension HandleStatuses {
    /// Returns the items that were added or removed, limited to those whose handles were reported to clients.
    ///
    /// `place` returns the handle of an item, and `isSame` returns whether two items are equal.
    fileprivate func changes<Item>(
        from old: ArraySlice<Item>,
        to found: [Item],
        at place: (Item) -> AttributeHandle,
        isSame: (Item, Item) -> Bool
    ) -> [Item] {
        if old.elementsEqual(found, by: isSame) { return [] }
        let gone = old.filter { one in self[place(one)].isDelivered && !found.contains { isSame($0, one) } }
        let new = found.filter { one in self[place(one)].isDelivered && !old.contains { isSame($0, one) } }
        return gone + new
    }
}

extension KnownAttributes.Include {
    /// Returns whether this declaration and `other` have the same handle, and include the same service.
    ///
    /// A UUID that is not known yet matches any other.
    fileprivate func agrees(with other: Self) -> Bool {
        handle == other.handle && range == other.range && (uuid == other.uuid || uuid == nil || other.uuid == nil)
    }
}

extension [AttributeHandleRange] {
    /// The smallest range that contains all ranges of the array; `nil` if the array is empty.
    fileprivate var joined: AttributeHandleRange? {
        guard let start = map(\.start).min(), let end = map(\.end).max() else { return nil }
        return AttributeHandleRange(start, end)
    }
}
