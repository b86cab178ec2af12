import BLEWire

/// The filter accept list of a controller.
///
/// It is an array, because it is short.
///
/// Core 6.0, Vol 4, Part E, 7.8.14 to 7.8.17.
struct AcceptList: Sendable {
    static let capacity = 32
    private(set) var addresses: [DeviceAddress] = []

    /// Returns whether `address` is on the list.
    ///
    /// One entry of the list may stand for all anonymous devices.
    func contains(_ address: DeviceAddress) -> Bool { addresses.contains { Self.matches($0, address) } }

    /// Adds an address; returns false if the list is full.
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
