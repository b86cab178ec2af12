package import BLEWire

/// The attributes of the own server, in ascending order of their handles.
///
/// The host's own services come first and stay; those of clients are appended and removed. A handle that was removed is
/// not given to something else before ``releaseHandles()``, since a peer may still take it for what it was.
///
/// Core 6.0, Vol 3, Part G, 2.5 and 3.
package struct GATTDatabase: Sendable {
    /// Something that a client added, as it names it.
    package struct Owner: Hashable, Comparable, Sendable {
        package let client: ClientID
        package let id: LocalAttributeID
        package init(client: ClientID, id: LocalAttributeID) {
            self.client = client
            self.id = id
        }

        package static func < (a: Self, b: Self) -> Bool {
            a.client == b.client ? a.id < b.id : a.client < b.client
        }
    }

    /// What a Client Characteristic Configuration is about.
    package struct Configured: Equatable, Sendable {
        /// The value that is notified or indicated.
        package let value: AttributeHandle
        package let properties: CharacteristicProperties
        /// Who added it; `nil` for the host itself.
        package let owner: Owner?
    }

    /// What an attribute holds, and who knows it.
    package enum Content: Equatable, Sendable {
        /// A value that never changes.
        case constant([UInt8])
        /// A value that the host keeps, and that peers may write.
        case stored([UInt8])
        /// A value that a client gives and takes.
        case held(by: Owner)
        /// What a peer wants to hear of; each link has its own.
        case configuration(Configured)
        /// What a peer can do; each link has its own.
        case clientFeatures
        /// The hash of this database.
        case databaseHash
    }

    package struct Attribute: Equatable, Sendable {
        package let handle: AttributeHandle
        package let type: BluetoothUUID
        package let permissions: AttributePermissions
        package var content: Content
    }

    package struct Service: Equatable, Sendable {
        package let range: AttributeHandleRange
        package let uuid: BluetoothUUID
        package let isPrimary: Bool
        /// Who added it; `nil` for the host itself.
        package let owner: Owner?
    }

    package private(set) var attributes: [Attribute] = []
    /// What clients hold, in the order of ``attributes``.
    private var held: [HeldValue] = []
    package private(set) var services: [Service] = []
    /// Whether peers need an encrypted link for anything in this database.
    private(set) var needsEncryption = false
    /// The services and values that clients added.
    private var owned: Set<Owner> = []
    /// The configurations of what clients added, in ascending order of what they name it.
    private var configurations: [(owner: Owner, handle: AttributeHandle, about: Configured)] = []
    /// Which of them was asked for last: who sends values mostly sends those of one characteristic.
    private var lastAsked = 0
    /// The highest handle that must not be given to anything new.
    private var lastHandle: UInt16 = 0
    /// The hash of the attributes as they are; `nil` when they have changed since it was computed.
    private var knownHash: UInt128?

    /// Creates a database without anything in it.
    package init() {}

    /// The attribute with this handle.
    package func attribute(at handle: AttributeHandle) -> Attribute? {
        index(of: handle).map { attributes[$0] }
    }

    /// The attributes with handles in `range`, in ascending order.
    package func attributes(in range: AttributeHandleRange) -> ArraySlice<Attribute> { attributes[indices(in: range)] }

    /// Where the attributes with handles in `range` are among ``attributes``; whoever goes through many looks at them
    /// there, since a copy of one costs more than the look.
    func indices(in range: AttributeHandleRange) -> Range<Int> {
        let last = position(of: range.end)
        return position(of: range.start)..<(isAttribute(at: last, range.end) ? last + 1 : last)
    }

    /// The service that is declared at or around `handle`.
    package func service(around handle: AttributeHandle) -> Service? {
        services.first { $0.range.contains(handle) }
    }

    /// The configuration that belongs to the value at `handle`.
    package func configuration(of handle: AttributeHandle) -> (handle: AttributeHandle, about: Configured)? {
        guard let index = index(of: handle) else { return nil }
        for attribute in attributes[index...] {
            if case .configuration(let about) = attribute.content {
                return about.value == handle ? (attribute.handle, about) : nil
            }
            if attribute.handle != handle, attribute.type.isDeclaration { return nil }
        }
        return nil
    }

    /// The configuration of a value that a client named so.
    mutating func configuration(of owner: Owner) -> (handle: AttributeHandle, about: Configured)? {
        if !isConfiguration(lastAsked, of: owner) { lastAsked = position(of: owner) }
        guard isConfiguration(lastAsked, of: owner) else { return nil }
        return (configurations[lastAsked].handle, configurations[lastAsked].about)
    }

    private func isConfiguration(_ index: Int, of owner: Owner) -> Bool {
        index < configurations.count && configurations[index].owner == owner
    }

    /// The client that has the value at `handle`, if a peer that is trusted so far may read or write it.
    @inline(__always)
    mutating func holder(of handle: AttributeHandle, for access: AttributePermissions.Access, on trust: LinkTrust)
        -> Owner?
    {
        var index = Int(handle.wire) - 1
        if !isHeld(at: index, handle) { index = self.index(of: handle) ?? held.count }
        guard isHeld(at: index, handle) else { return nil }
        let permissions = held[index].permissions
        guard permissions.isOpen(to: access) || permissions.refusal(of: access, on: trust) == nil else { return nil }
        return held[index].owner
    }

    private func isHeld(at index: Int, _ handle: AttributeHandle) -> Bool {
        index >= 0 && index < held.count && held[index].handle.wire == handle.wire
    }

    /// Replaces a value that the host keeps.
    package mutating func store(_ value: [UInt8], at handle: AttributeHandle) {
        guard let index = index(of: handle), case .stored = attributes[index].content else { return }
        attributes[index].content = .stored(value)
        if attributes[index].type.isHashedWithValue { knownHash = nil }
    }

    /// Adds a service whose attributes have their handles already, all of them behind those that are there.
    mutating func append(_ service: Service, _ members: [Attribute]) {
        precondition(lastHandle < service.range.start.wire, "services are appended")
        precondition(
            zip(members, members.dropFirst()).allSatisfy { $0.handle < $1.handle }
                && members.allSatisfy { service.range.contains($0.handle) },
            "the attributes of a service are in its range and in order"
        )
        services.append(service)
        attributes += members
        held += members.map(HeldValue.init)
        needsEncryption = needsEncryption || members.contains { $0.permissions.needEncryption }
        if let owner = service.owner { owned.insert(owner) }
        for member in members { if case .held(let owner) = member.content { owned.insert(owner) } }
        for member in members {
            guard case .configuration(let about) = member.content, let owner = about.owner else { continue }
            configurations.insert((owner, member.handle, about), at: position(of: owner))
        }
        knownHash = nil
        lastHandle = service.range.end.wire
    }

    /// Room for `count` attributes behind all others; `nil` if there is none.
    func room(for count: Int) -> AttributeHandleRange? {
        let last = Int(lastHandle) + count
        guard count > 0, last <= Int(UInt16.max) else { return nil }
        return AttributeHandleRange(AttributeHandle(wire: lastHandle + 1), AttributeHandle(wire: UInt16(last)))
    }

    /// Removes the services for which `isUnwanted` holds, and returns what they took.
    mutating func removeServices(where isUnwanted: (Service) -> Bool) -> [AttributeHandleRange] {
        let ranges = services.filter(isUnwanted).map(\.range)
        guard !ranges.isEmpty else { return [] }
        for service in services { if isUnwanted(service), let owner = service.owner { owned.remove(owner) } }
        services.removeAll(where: isUnwanted)
        knownHash = nil
        attributes.removeAll { attribute in
            guard ranges.areAround(attribute.handle) else { return false }
            if case .held(let owner) = attribute.content { owned.remove(owner) }
            return true
        }
        held = attributes.map(HeldValue.init)
        needsEncryption = attributes.contains { $0.permissions.needEncryption }
        configurations.removeAll { ranges.areAround($0.handle) }
        return ranges
    }

    /// Whether a client has added a service or a value under this name.
    func isTaken(_ owner: Owner) -> Bool { owned.contains(owner) }

    /// Lets handles that were removed be given again: no peer is there that could mistake them.
    package mutating func releaseHandles() { lastHandle = services.last?.range.end.wire ?? 0 }

    /// The Database Hash; its most significant octet is the last one on the air.
    ///
    /// Core 6.0, Vol 3, Part G, 7.3.
    package var hash: UInt128 { knownHash ?? computeHash() }

    /// Computes the hash if that has not been done since something changed, so that it need not be computed to be read.
    mutating func refreshHash() { knownHash = hash }

    /// Where the attribute with this handle is among ``attributes``.
    func index(of handle: AttributeHandle) -> Int? {
        let index = position(of: handle)
        return isAttribute(at: index, handle) ? index : nil
    }

    /// Where the configuration of what is named so is or belongs.
    private func position(of owner: Owner) -> Int {
        configurations.indices.bisected { configurations[$0].owner < owner }
    }

    /// Where the attribute with this handle is or belongs.
    private func position(of handle: AttributeHandle) -> Int {
        // Most databases have no gaps.
        let guess = Int(handle.wire) - 1
        return isAttribute(at: guess, handle) ? guess : attributes.indices.bisected { attributes[$0].handle < handle }
    }

    private func isAttribute(at index: Int, _ handle: AttributeHandle) -> Bool {
        attributes.indices.contains(index) && attributes[index].handle == handle
    }
}

extension [AttributeHandleRange] {
    /// Whether one of the ranges, which are in ascending order and do not overlap, has `handle` in it.
    fileprivate func areAround(_ handle: AttributeHandle) -> Bool {
        let index = indices.bisected { self[$0].end < handle }
        return index < count && self[index].contains(handle)
    }
}

extension GATTDatabase {
    /// What matters of an attribute to those who read and write the values of clients; nothing but numbers, so that it
    /// is no matter to look at one.
    private struct HeldValue: Sendable {
        /// ``AttributeHandle/none`` unless a client has the value.
        var handle = AttributeHandle.none
        let permissions: AttributePermissions
        var owner = Owner(client: ClientID(rawValue: 0), id: LocalAttributeID(rawValue: 0))

        init(_ attribute: Attribute) {
            permissions = attribute.permissions
            if case .held(let owner) = attribute.content { (handle, self.owner) = (attribute.handle, owner) }
        }
    }
}

extension BluetoothUUID {
    /// Whether an attribute of this type begins something: a service, an include or a characteristic.
    var isDeclaration: Bool {
        [GATT.primaryService, GATT.secondaryService, GATT.include, GATT.characteristic].contains(self)
    }
}
