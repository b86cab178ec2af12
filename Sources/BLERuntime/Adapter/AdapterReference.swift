package import BLEWire

/// Which adapter of the machine is meant.
package enum AdapterReference: Hashable, Sendable, CustomStringConvertible {
    /// The one that has this number now; numbers are given in the order in which adapters come.
    case index(AdapterIndex)
    /// The one with this address, whatever its number.
    case address(DeviceAddress)

    /// Reads a number, a name such as `hci0` or an address; `nil` for anything else.
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
