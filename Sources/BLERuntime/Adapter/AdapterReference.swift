package import BLEWire

/// The number or address by which a user names an adapter of the machine.
package enum AdapterReference: Hashable, Sendable, CustomStringConvertible {
    /// The adapter's current number. The kernel assigns numbers in the order in which adapters appear.
    case index(AdapterIndex)
    /// The adapter's address, which does not change when its number does.
    case address(DeviceAddress)

    /// Parses a number, a name such as `hci0` or an address; returns `nil` for anything else.
    package init?(_ text: String) {
        if let index = AdapterIndex(name: text) ?? AdapterIndex(name: "hci" + text) {
            self = .index(index)
        } else if let address = DeviceAddress(text, .public), address != .none {
            self = .address(address)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .index(let index): "hci:\(index.wire)"
        case .address(let address): "hci:\(address)"
        }
    }
}
