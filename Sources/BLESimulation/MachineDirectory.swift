import BLEWire

/// The machines of a world by name and by address.
///
/// A search through all machines for each new one would make the creation of a large world slow.
struct MachineDirectory {
    private var byName: [String: Int] = [:]
    private var byAddress: [DeviceAddress: String] = [:]

    /// Adds a machine, whose index and addresses never change.
    mutating func add(_ name: String, at index: Int, addresses: [DeviceAddress]) {
        byName[name] = index
        for address in addresses { byAddress[address] = name }
    }

    /// Returns the index of the machine called `name`; `nil` if there is none.
    func index(of name: String) -> Int? { byName[name] }

    /// Returns the name of the machine with this address; `nil` if there is none.
    func owner(of address: DeviceAddress) -> String? { byAddress[address] }
}
