import BLEWire

// What an answer of the peer says to what somebody was told before.
extension KnownAttributes {
    /// Where it is news to those who were told of services that just these begin in `range`.
    func change(services found: [DiscoveredService], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.services]
        guard status.first(in: range, where: \.isTold) != nil else { return nil }
        let old = services[services.indices(in: range)]
        return status.news(from: old, to: found, at: \.place, isSame: ==).map(\.range).joined
    }

    /// Where it is news to those who were told of included services that just these are in `range`.
    func change(includes found: [Include], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.includes]
        guard status.first(in: range, where: \.isTold) != nil else { return nil }
        let old = includes[includes.indices(in: range)]
        let news = status.news(from: old, to: found, at: \.handle) { $0.agrees(with: $1) }
        return news.compactMap { AttributeHandleRange($0.handle) }.joined
    }

    /// Where it is news to those who were told of characteristics that just these are in `range`.
    func change(declarations found: [Declaration], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.characteristics]
        guard status.first(in: range, where: \.isTold) != nil else { return nil }
        let old = declarations[declarations.indices(in: range)]
        return status.news(from: old, to: found, at: \.handle, isSame: ==).compactMap(\.range).joined
    }

    /// Where it is news to those who were told of descriptors that `range` holds just these attributes.
    ///
    /// What belongs to a declaration is left to that: not every peer says the same of it twice.
    func change(types found: [DiscoveredDescriptor], in range: AttributeHandleRange) -> AttributeHandleRange? {
        let status = status[.types]
        guard status.first(in: range, where: \.isTold) != nil else { return nil }
        let old = types[types.indices(in: range)]
        return status.news(from: old, to: found, at: \.handle, isSame: ==)
            .filter { one in !declarations.contains { $0.range?.contains(one.handle) ?? false } }
            .compactMap { AttributeHandleRange($0.handle) }
            .joined
    }
}

extension HandleStatuses {
    /// What is gone and what is new, of all that lies where clients were told what there is.
    fileprivate func news<Item>(
        from old: ArraySlice<Item>,
        to found: [Item],
        at place: (Item) -> AttributeHandle,
        isSame: (Item, Item) -> Bool
    ) -> [Item] {
        if old.elementsEqual(found, by: isSame) { return [] }
        let gone = old.filter { one in self[place(one)].isTold && !found.contains { isSame($0, one) } }
        let new = found.filter { one in self[place(one)].isTold && !old.contains { isSame($0, one) } }
        return gone + new
    }
}

extension KnownAttributes.Include {
    /// Whether both declare the same service, as far as both say of which type it is.
    fileprivate func agrees(with other: Self) -> Bool {
        handle == other.handle && range == other.range && (uuid == other.uuid || uuid == nil || other.uuid == nil)
    }
}

extension [AttributeHandleRange] {
    /// The least range that has all of them in it; `nil` if there are none.
    fileprivate var joined: AttributeHandleRange? {
        guard let start = map(\.start).min(), let end = map(\.end).max() else { return nil }
        return AttributeHandleRange(start, end)
    }
}
