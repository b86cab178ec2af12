import BLEWire

/// What is known of addresses, in a flat table that forgets instead of growing without end.
///
/// An address has its place in one of the eight slots of one row. A row that is full has the table double, up to its
/// capacity; then the newcomer takes the place of one of the eight. So what is kept here must be known elsewhere, or be
/// of use only as long as it is here.
struct AddressTable<Value> {
    private static var ways: Int { 8 }

    /// The most slots.
    private let capacity: Int
    /// The addresses, 0 where there is none.
    private var keys: [UInt64]
    private var contents: [Value?]

    /// Creates an empty table; `capacity` is the most addresses that it can hold.
    init(capacity: Int) {
        precondition(capacity >= Self.ways, "a table has at least one row")
        self.capacity = capacity
        keys = Array(repeating: 0, count: Self.ways)
        contents = Array(repeating: nil, count: Self.ways)
    }

    /// How many slots there are now.
    var size: Int { keys.count }

    /// What is known of `address`; setting `nil` forgets it.
    subscript(address: DeviceAddress) -> Value? {
        get { slot(of: address).flatMap { contents[$0] } }
        set {
            guard let newValue else { return remove(address) }
            let index = slot(of: address) ?? makeRoom(for: Self.key(address))
            keys[index] = Self.key(address)
            contents[index] = newValue
        }
    }

    mutating func removeAll() { self = Self(capacity: capacity) }

    private mutating func remove(_ address: DeviceAddress) {
        guard let index = slot(of: address) else { return }
        keys[index] = 0
        contents[index] = nil
    }

    private func slot(of address: DeviceAddress) -> Int? {
        let key = Self.key(address), first = row(of: key)
        for index in first..<(first + Self.ways) where keys[index] == key { return index }
        return nil
    }

    /// A slot for an address that has none.
    private mutating func makeRoom(for key: UInt64) -> Int {
        while true {
            let first = row(of: key)
            for index in first..<(first + Self.ways) where keys[index] == 0 { return index }
            guard keys.count * 2 <= capacity else {
                return first + Int(truncatingIfNeeded: Self.hash(key) & UInt64(Self.ways - 1))
            }
            grow()
        }
    }

    private mutating func grow() {
        let (oldKeys, oldContents) = (keys, contents)
        keys = Array(repeating: 0, count: 2 * oldKeys.count)
        contents = Array(repeating: nil, count: 2 * oldKeys.count)
        for (key, value) in zip(oldKeys, oldContents) where key != 0 {
            // Each row of before is two now, so none can be full.
            let first = row(of: key)
            for index in first..<(first + Self.ways) where keys[index] == 0 {
                keys[index] = key
                contents[index] = value
                break
            }
        }
    }

    private func row(of key: UInt64) -> Int {
        let rows = UInt64(keys.count / Self.ways)
        return Int(truncatingIfNeeded: (Self.hash(key) >> 8) & (rows - 1)) * Self.ways
    }

    /// The address and its kind in one number, which is never 0.
    private static func key(_ address: DeviceAddress) -> UInt64 {
        address.value | UInt64(address.kind.wire) << 48 | 1 << 56
    }

    /// Spreads numbers that differ in few bits, as addresses of one maker do.
    private static func hash(_ key: UInt64) -> UInt64 {
        let product = key &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 32
    }
}
