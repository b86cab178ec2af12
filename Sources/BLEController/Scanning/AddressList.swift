import BLEWire

/// The devices that a host accepts: few, so a list.
///
/// Core 6.0, Vol 4, Part E, 7.8.14 to 7.8.17.
struct AcceptList: Sendable {
    static let capacity = 32
    private(set) var addresses: [DeviceAddress] = []

    /// Whether `address` is on the list; a device without an address may be on it as such.
    func contains(_ address: DeviceAddress) -> Bool { addresses.contains { Self.matches($0, address) } }

    /// Adds an address; false if there is no room.
    mutating func add(_ address: DeviceAddress) -> Bool {
        if contains(address) { return true }
        guard addresses.count < Self.capacity else { return false }
        addresses.append(address)
        return true
    }

    mutating func remove(_ address: DeviceAddress) { addresses.removeAll { Self.matches($0, address) } }
    mutating func removeAll() { addresses.removeAll() }

    private static func matches(_ a: DeviceAddress, _ b: DeviceAddress) -> Bool {
        a.kind == .anonymous ? b.kind == .anonymous : a == b
    }
}

/// The devices whose private addresses a host would have resolved.
///
/// The list is kept; addresses are not resolved, and the feature is not claimed.
///
/// Core 6.0, Vol 4, Part E, 7.8.38 to 7.8.45.
struct ResolvingList: Sendable {
    struct Entry: Equatable, Sendable {
        let identity: DeviceAddress
        let peerKey: Key128
        let localKey: Key128
        var usesDevicePrivacy = false
    }

    static let capacity = 16
    private(set) var entries: [Entry] = []
    var isEnabled = false

    enum OnAdd: Equatable { case added, full, duplicate }

    mutating func add(_ entry: Entry) -> OnAdd {
        if index(of: entry.identity) != nil { return .duplicate }
        guard entries.count < Self.capacity else { return .full }
        entries.append(entry)
        return .added
    }

    /// Removes an entry; false if there is none.
    mutating func remove(_ identity: DeviceAddress) -> Bool {
        guard let index = index(of: identity) else { return false }
        entries.remove(at: index)
        return true
    }

    /// Sets how strict an entry is; false if there is none.
    mutating func setPrivacy(_ identity: DeviceAddress, device: Bool) -> Bool {
        guard let index = index(of: identity) else { return false }
        entries[index].usesDevicePrivacy = device
        return true
    }

    func contains(_ identity: DeviceAddress) -> Bool { index(of: identity) != nil }
    mutating func removeAll() { entries.removeAll() }
    private func index(of identity: DeviceAddress) -> Int? { entries.firstIndex { $0.identity == identity } }
}
