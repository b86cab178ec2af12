import BLEWire

/// Finds the places of addresses, or of other numbers but 0, flat and by open addressing; it grows with what is in it.
///
/// Where a number lies follows from it and from a secret, so that nobody can choose numbers that lie together.
package struct PlaceTable {
    private struct Slot {
        /// The number; 0 if there is none.
        var key: UInt64 = 0
        var place = 0
    }

    private static let leastBits = 4

    private var slots: [Slot]
    /// What a product is shifted by to be the number of a slot.
    private var shift: UInt64
    private let multiplier: UInt64
    /// How many numbers are in it.
    private(set) var count = 0

    /// Creates an empty table; the secret may be any number where nobody else chooses what is put in.
    package init(secret: UInt64) {
        multiplier = (secret &* 0xD6E8_FEB8_6659_FD93 ^ 0x9E37_79B9_7F4A_7C15) | 1
        slots = Array(repeating: Slot(), count: 1 << Self.leastBits)
        shift = UInt64(64 - Self.leastBits)
    }

    /// How many slots there are now.
    var size: Int { slots.count }

    /// Where a number is; `nil` if it is not in the table.
    @inline(__always)
    package func place(of key: UInt64) -> Int? {
        let mask = slots.count &- 1
        var index = home(of: key)
        while true {
            let slot = slots[index]
            if slot.key == key { return slot.place }
            if slot.key == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    /// Puts a number into the table, or has it at another place.
    package mutating func insert(_ key: UInt64, at place: Int) {
        precondition(key != 0, "0 is the number of what is not there")
        if 2 * (count + 1) > slots.count { grow() }
        put(Slot(key: key, place: place))
    }

    /// Forgets a number; does nothing if it is not in the table.
    mutating func remove(_ key: UInt64) {
        let mask = slots.count - 1
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

    /// Where a number is looked for first; multiplied twice, since those that follow each other would lie together.
    private func home(of key: UInt64) -> Int {
        let product = key &* multiplier
        return Int(truncatingIfNeeded: ((product ^ product &>> 32) &* multiplier) &>> shift)
    }
}

extension PlaceTable {
    /// Where `address` is; `nil` if it is not in the table.
    @inline(__always)
    func place(of address: DeviceAddress) -> Int? { place(of: address.key) }

    /// Puts an address into the table, or has it at another place.
    mutating func insert(_ address: DeviceAddress, at place: Int) { insert(address.key, at: place) }

    /// Forgets an address; does nothing if it is not in the table.
    mutating func remove(_ address: DeviceAddress) { remove(address.key) }
}

extension DeviceAddress {
    /// The address and its kind in one number, which is never 0.
    fileprivate var key: UInt64 { value | UInt64(kind.wire) << 48 | 1 << 56 }
}
