import BLEWire

/// A hash index from device addresses, or other nonzero numbers, to array positions.
///
/// It uses open addressing.
///
/// The slot of a number depends on a secret, so that attackers cannot choose numbers that collide.
package struct HashIndex {
    private struct Bucket {
        /// The number; 0 if the slot is empty.
        var key: UInt64 = 0
        var index = 0
    }

    private static let leastBits = 4

    private var slots: [Bucket]
    /// The shift that reduces a hash to a slot number.
    private var shift: UInt64
    private let multiplier: UInt64
    /// The number of entries.
    private(set) var count = 0

    /// Creates an empty index.
    ///
    /// The secret may be a constant if no other device can choose the numbers.
    package init(secret: UInt64) {
        multiplier = (secret &* 0xD6E8_FEB8_6659_FD93 ^ 0x9E37_79B9_7F4A_7C15) | 1
        slots = Array(repeating: Bucket(), count: 1 << Self.leastBits)
        shift = UInt64(64 - Self.leastBits)
    }

    /// The number of slots, used and unused.
    var size: Int { slots.count }

    /// Returns the array position for a number; `nil` if the number is not in the index.
    @inline(__always)
    package func index(of key: UInt64) -> Int? {
        let mask = slots.count &- 1
        var index = home(of: key)
        while true {
            let slot = slots[index]
            if slot.key == key { return slot.index }
            if slot.key == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    /// Inserts a number with its array position, or changes the position of a number that is already in the index.
    package mutating func insert(_ key: UInt64, at place: Int) {
        precondition(key != 0, "a key must not be 0, which marks an empty slot")
        if 2 * (count + 1) > slots.count { grow() }
        put(Bucket(key: key, index: place))
    }

    /// Removes a number; has no effect if it is not in the index.
    mutating func remove(_ key: UInt64) {
        let mask = slots.count - 1
        var hole = home(of: key)
        while slots[hole].key != key {
            if slots[hole].key == 0 { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // Move later entries into the hole, unless the hole comes before the slot at which the search for the entry
        // starts.
        var index = (hole + 1) & mask
        while slots[index].key != 0 {
            let distance = (index - home(of: slots[index].key)) & mask
            if distance >= (index - hole) & mask {
                slots[hole] = slots[index]
                hole = index
            }
            index = (index + 1) & mask
        }
        slots[hole] = Bucket()
    }

    private mutating func put(_ slot: Bucket) {
        let mask = slots.count - 1
        var index = home(of: slot.key)
        while slots[index].key != 0, slots[index].key != slot.key { index = (index + 1) & mask }
        if slots[index].key == 0 { count += 1 }
        slots[index] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Bucket(), count: 2 * old.count)
        shift -= 1
        count = 0
        for slot in old where slot.key != 0 { put(slot) }
    }

    /// Returns the slot at which the search for a number starts.
    ///
    /// Two multiplications distribute consecutive numbers over the slots.
    private func home(of key: UInt64) -> Int {
        let product = key &* multiplier
        return Int(truncatingIfNeeded: ((product ^ product &>> 32) &* multiplier) &>> shift)
    }
}

extension HashIndex {
    /// Returns the array position for `address`; `nil` if the address is not in the index.
    @inline(__always)
    func index(of address: DeviceAddress) -> Int? { index(of: address.key) }

    /// Inserts an address with its array position, or changes the position of an address that is already in the index.
    mutating func insert(_ address: DeviceAddress, at place: Int) { insert(address.key, at: place) }

    /// Removes an address; has no effect if it is not in the index.
    mutating func remove(_ address: DeviceAddress) { remove(address.key) }
}

extension DeviceAddress {
    /// The address and its kind as a single number, which is never 0.
    fileprivate var key: UInt64 { value | UInt64(kind.wire) << 48 | 1 << 56 }
}
