import BLEWire

/// Finds the places of addresses, flat and by open addressing; it grows with what is in it.
///
/// Where an address lies follows from it and from a secret, so that nobody can choose addresses that lie together.
struct AddressTable {
    private struct Slot {
        /// The address and its kind; 0 if there is none.
        var key: UInt64 = 0
        var place = 0
    }

    private static let leastBits = 4

    private var slots: [Slot]
    /// What a product is shifted by to be the number of a slot.
    private var shift: UInt64
    private let multiplier: UInt64
    /// How many addresses are in it.
    private(set) var count = 0

    /// Creates an empty table.
    init(secret: UInt64) {
        multiplier = (secret &* 0xD6E8_FEB8_6659_FD93 ^ 0x9E37_79B9_7F4A_7C15) | 1
        slots = Array(repeating: Slot(), count: 1 << Self.leastBits)
        shift = UInt64(64 - Self.leastBits)
    }

    /// How many slots there are now.
    var size: Int { slots.count }

    /// Where `address` is; `nil` if it is not in the table.
    @inline(__always)
    func place(of address: DeviceAddress) -> Int? {
        let key = Self.key(address), mask = slots.count &- 1
        var index = home(of: key)
        while true {
            let slot = slots[index]
            if slot.key == key { return slot.place }
            if slot.key == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    /// Puts an address into the table, or has it at another place.
    mutating func insert(_ address: DeviceAddress, at place: Int) {
        if 2 * (count + 1) > slots.count { grow() }
        put(Slot(key: Self.key(address), place: place))
    }

    /// Forgets an address; does nothing if it is not in the table.
    mutating func remove(_ address: DeviceAddress) {
        let key = Self.key(address), mask = slots.count - 1
        var hole = home(of: key)
        while slots[hole].key != key {
            if slots[hole].key == 0 { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // What lies behind the hole is moved into it, unless it would then lie before where it is looked for.
        var index = (hole + 1) & mask
        while slots[index].key != 0 {
            let distance = (index - home(of: slots[index].key)) & mask
            if distance >= (index - hole) & mask {
                slots[hole] = slots[index]
                hole = index
            }
            index = (index + 1) & mask
        }
        slots[hole] = Slot()
    }

    private mutating func put(_ slot: Slot) {
        let mask = slots.count - 1
        var index = home(of: slot.key)
        while slots[index].key != 0, slots[index].key != slot.key { index = (index + 1) & mask }
        if slots[index].key == 0 { count += 1 }
        slots[index] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: 2 * old.count)
        shift -= 1
        count = 0
        for slot in old where slot.key != 0 { put(slot) }
    }

    private func home(of key: UInt64) -> Int { Int(truncatingIfNeeded: (key &* multiplier) &>> shift) }

    /// The address and its kind in one number, which is never 0.
    private static func key(_ address: DeviceAddress) -> UInt64 {
        address.value | UInt64(address.kind.wire) << 48 | 1 << 56
    }
}
