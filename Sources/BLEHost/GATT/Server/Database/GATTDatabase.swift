package import BLEWire

/// The attributes of the local server, in ascending order of handles.
///
/// The host's own services come first and are permanent. The services of clients follow, and can be added and removed.
/// The handles of a removed service are not assigned again until ``releaseHandles()`` is called, because a peer may
/// still use them for the old attributes.
///
/// Core 6.0, Vol 3, Part G, 2.5 and 3.
package struct GATTDatabase: Sendable {
    /// The client that provides an attribute, and the client's identifier for it.
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

    /// The characteristic that a Client Characteristic Configuration belongs to.
    package struct ConfiguredCharacteristic: Equatable, Sendable {
        /// The handle of the value.
        package let value: AttributeHandle
        package let properties: CharacteristicProperties
        /// The client that provides the characteristic; `nil` for the host's own characteristics.
        package let owner: Owner?
    }

    /// The content of an attribute, or the client that provides it.
    package enum Content: Equatable, Sendable {
        /// A constant value.
        case constant([UInt8])
        /// A value that the host stores and peers may write.
        case stored([UInt8])
        /// A value that a client provides.
        case provided(by: Owner)
        /// A Client Characteristic Configuration, which has a value for each peer.
        case configuration(ConfiguredCharacteristic)
        /// Client Supported Features, which has a value for each peer.
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
        /// The client that provides the service; `nil` for the host's own services.
        package let owner: Owner?
    }

    package private(set) var attributes: [Attribute] = []
    /// The permissions of each attribute, and the client that provides its value, at the same index as in
    /// ``attributes``.
    private var provided: [ProvidedValue] = []
    package private(set) var services: [Service] = []
    /// True if any attribute of this database requires an encrypted link.
    private(set) var needsEncryption = false
    /// The services and values that clients have added.
    private var owned: Set<Owner> = []
    /// The Client Characteristic Configurations of clients' characteristics, in ascending order of their owners.
    private var configurations: [(owner: Owner, handle: AttributeHandle, about: ConfiguredCharacteristic)] = []
    /// The index in ``configurations`` that was used last.
    ///
    /// Most updates are for the same characteristic as the previous one.
    private var lastUsed = 0
    /// The highest handle that is or was assigned.
    ///
    /// New attributes get higher handles.
    private var lastHandle: UInt16 = 0
    /// The handles that were assigned to the services of clients.
    var handleUse = HandleUse()
    /// The current hash; `nil` if the attributes have changed since it was computed.
    private var knownHash: UInt128?

    /// Creates an empty database.
    package init() {}

    /// Returns the attribute with this handle; `nil` if there is none.
    package func attribute(at handle: AttributeHandle) -> Attribute? {
        index(of: handle).map { attributes[$0] }
    }

    /// Returns the attributes with handles in `range`, in ascending order.
    package func attributes(in range: AttributeHandleRange) -> ArraySlice<Attribute> { attributes[indices(in: range)] }

    /// Returns the indices in ``attributes`` of the attributes with handles in `range`.
    ///
    /// A loop should go over these indices, because copying attributes is expensive.
    func indices(in range: AttributeHandleRange) -> Range<Int> {
        let last = position(of: range.end)
        return position(of: range.start)..<(isAttribute(at: last, range.end) ? last + 1 : last)
    }

    /// Returns the service that contains `handle`; `nil` if there is none.
    package func service(around handle: AttributeHandle) -> Service? {
        services.first { $0.range.contains(handle) }
    }

    /// Returns the Client Characteristic Configuration for the value at `handle`; `nil` if there is none.
    package func configuration(of handle: AttributeHandle) -> (
        handle: AttributeHandle, about: ConfiguredCharacteristic
    )? {
        guard let index = index(of: handle) else { return nil }
        for attribute in attributes[index...] {
            if case .configuration(let about) = attribute.content {
                return about.value == handle ? (attribute.handle, about) : nil
            }
            if attribute.handle != handle, attribute.type.isDeclaration { return nil }
        }
        return nil
    }

    /// Returns the Client Characteristic Configuration for the value that `owner` identifies; `nil` if there is none.
    mutating func configuration(of owner: Owner) -> (handle: AttributeHandle, about: ConfiguredCharacteristic)? {
        if !isConfiguration(lastUsed, of: owner) { lastUsed = position(of: owner) }
        guard isConfiguration(lastUsed, of: owner) else { return nil }
        return (configurations[lastUsed].handle, configurations[lastUsed].about)
    }

    private func isConfiguration(_ index: Int, of owner: Owner) -> Bool {
        index < configurations.count && configurations[index].owner == owner
    }

    /// Returns the client that provides the value at `handle`, if a peer with this trust may access it; `nil`
    /// otherwise.
    @inline(__always)
    mutating func provider(of handle: AttributeHandle, for access: AttributePermissions.Access, on trust: LinkTrust)
        -> Owner?
    {
        var index = Int(handle.wire) - 1
        if !isProvided(at: index, handle) { index = self.index(of: handle) ?? provided.count }
        guard isProvided(at: index, handle) else { return nil }
        let permissions = provided[index].permissions
        guard permissions.isOpen(to: access) || permissions.refusal(of: access, on: trust) == nil else { return nil }
        return provided[index].owner
    }

    private func isProvided(at index: Int, _ handle: AttributeHandle) -> Bool {
        index >= 0 && index < provided.count && provided[index].handle.wire == handle.wire
    }

    /// Replaces a value that the host stores; has no effect on other attributes.
    package mutating func store(_ value: [UInt8], at handle: AttributeHandle) {
        guard let index = index(of: handle), case .stored = attributes[index].content else { return }
        attributes[index].content = .stored(value)
        if attributes[index].type.isHashedWithValue { knownHash = nil }
    }

    /// Adds a service.
    ///
    /// The handles of its attributes must be higher than all existing handles.
    mutating func append(_ service: Service, _ members: [Attribute]) {
        precondition(lastHandle < service.range.start.wire, "services must be appended in handle order")
        precondition(
            zip(members, members.dropFirst()).allSatisfy { $0.handle < $1.handle }
                && members.allSatisfy { service.range.contains($0.handle) },
            "the attributes of a service must be in its range and in order"
        )
        services.append(service)
        attributes += members
        provided += members.map(ProvidedValue.init)
        needsEncryption = needsEncryption || members.contains { $0.permissions.needEncryption }
        if let owner = service.owner { owned.insert(owner) }
        for member in members { if case .provided(let owner) = member.content { owned.insert(owner) } }
        for member in members {
            guard case .configuration(let about) = member.content, let owner = about.owner else { continue }
            configurations.insert((owner, member.handle, about), at: position(of: owner))
        }
        knownHash = nil
        lastHandle = service.range.end.wire
    }

    /// Returns the next `count` handles that can be assigned; `nil` if there are not enough.
    func room(for count: Int) -> AttributeHandleRange? {
        let last = Int(lastHandle) + count
        guard count > 0, last <= Int(UInt16.max) else { return nil }
        return AttributeHandleRange(AttributeHandle(wire: lastHandle + 1), AttributeHandle(wire: UInt16(last)))
    }

    /// Removes the services for which `isUnwanted` is true, and returns their ranges.
    mutating func removeServices(where isUnwanted: (Service) -> Bool) -> [AttributeHandleRange] {
        let ranges = services.filter(isUnwanted).map(\.range)
        guard !ranges.isEmpty else { return [] }
        for service in services { if isUnwanted(service), let owner = service.owner { owned.remove(owner) } }
        services.removeAll(where: isUnwanted)
        knownHash = nil
        attributes.removeAll { attribute in
            guard ranges.contain(attribute.handle) else { return false }
            if case .provided(let owner) = attribute.content { owned.remove(owner) }
            return true
        }
        provided = attributes.map(ProvidedValue.init)
        needsEncryption = attributes.contains { $0.permissions.needEncryption }
        configurations.removeAll { ranges.contain($0.handle) }
        return ranges
    }

    /// Returns whether the client in `owner` has added a service or value with the identifier in `owner`.
    func isTaken(_ owner: Owner) -> Bool { owned.contains(owner) }

    /// Allows the handles of removed services to be assigned again.
    ///
    /// Call this method only when no peer can still use these handles.
    package mutating func releaseHandles() {
        lastHandle = services.last?.range.end.wire ?? 0
        handleUse.release(allExcept: services)
    }

    /// The Database Hash.
    ///
    /// Its most significant octet is sent last.
    ///
    /// Core 6.0, Vol 3, Part G, 7.3.
    package var hash: UInt128 { knownHash ?? computeHash() }

    /// Computes the hash if it is not known, so that later reads of ``hash`` are fast.
    mutating func refreshHash() { knownHash = hash }

    /// Returns the index in ``attributes`` of the attribute with this handle; `nil` if there is none.
    func index(of handle: AttributeHandle) -> Int? {
        let index = position(of: handle)
        return isAttribute(at: index, handle) ? index : nil
    }

    /// Returns the index of this owner's entry in ``configurations``, or the index at which to insert it.
    private func position(of owner: Owner) -> Int {
        configurations.indices.bisected { configurations[$0].owner < owner }
    }

    /// Returns the index of the attribute with this handle, or the index at which to insert it.
    private func position(of handle: AttributeHandle) -> Int {
        // In a database without gaps, the index follows from the handle.
        let guess = Int(handle.wire) - 1
        return isAttribute(at: guess, handle) ? guess : attributes.indices.bisected { attributes[$0].handle < handle }
    }

    private func isAttribute(at index: Int, _ handle: AttributeHandle) -> Bool {
        attributes.indices.contains(index) && attributes[index].handle == handle
    }
}

extension [AttributeHandleRange] {
    /// Returns whether one of the ranges contains `handle`.
    ///
    /// The ranges must be in ascending order and not overlap.
    fileprivate func contain(_ handle: AttributeHandle) -> Bool {
        let index = indices.bisected { self[$0].end < handle }
        return index < count && self[index].contains(handle)
    }
}

extension GATTDatabase {
    /// The owner and permissions of a value that a client provides, as needed to serve reads and writes.
    ///
    /// It contains only numbers, so it is cheap to copy.
    private struct ProvidedValue: Sendable {
        /// The handle of the value; ``AttributeHandle/none`` unless a client provides it.
        var handle = AttributeHandle.none
        let permissions: AttributePermissions
        var owner = Owner(client: ClientID(rawValue: 0), id: LocalAttributeID(rawValue: 0))

        init(_ attribute: Attribute) {
            permissions = attribute.permissions
            if case .provided(let owner) = attribute.content { (handle, self.owner) = (attribute.handle, owner) }
        }
    }
}

extension BluetoothUUID {
    /// True for the declaration of a service, an included service or a characteristic.
    var isDeclaration: Bool {
        [GATT.primaryService, GATT.secondaryService, GATT.include, GATT.characteristic].contains(self)
    }
}
