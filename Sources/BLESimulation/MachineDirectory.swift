import BLEWire

/// The machines of a world by name and by address.
///
/// A search through all machines for each new one would make the creation of a large world slow.
struct MachineDirectory {
    private var byName: [String: Int] = [:]
    private var byAddress: [DeviceAddress: String] = [:]
    /// The addresses that only the machine with this name can get, whether or not it has been added.
    private var reserved: [DeviceAddress: String] = [:]

    /// Reserves an address for the machine called `name`, unless it is already reserved.
    mutating func reserve(_ address: DeviceAddress, for name: String) {
        if reserved[address] == nil { reserved[address] = name }
    }

    /// Adds a machine, whose index and addresses never change.
    mutating func add(_ name: String, at index: Int, addresses: [DeviceAddress]) {
        byName[name] = index
        for address in addresses { byAddress[address] = name }
    }

    /// Returns the index of the machine called `name`; `nil` if there is none.
    func index(of name: String) -> Int? { byName[name] }

    /// Returns the name of the machine with this address; `nil` if there is none.
    func owner(of address: DeviceAddress) -> String? { byAddress[address] }

    /// Returns whether a new machine called `name` can have this address: no machine has it, and it is not reserved for
    /// another name.
    func isAvailable(_ address: DeviceAddress, to name: String) -> Bool {
        byAddress[address] == nil && reserved[address, default: name] == name
    }
}
