/// A queue of octets that can be removed in pieces of any size.
struct OctetQueue {
    private var units: [[UInt8]] = []
    /// The index in `units` of the first unit that has octets left.
    private var first = 0
    /// The number of octets that have already been removed from the unit at ``first``.
    private var used = 0

    /// The number of octets in the queue.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ unit: [UInt8]) {
        guard !unit.isEmpty else { return }
        units.append(unit)
        count += unit.count
    }

    /// Moves as many octets as fit into `destination`, and returns their number.
    mutating func move(to destination: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var moved = 0
        while moved < destination.count, first < units.count {
            let unit = units[first]
            let length = min(unit.count - used, destination.count - moved)
            let room = UnsafeMutableBufferPointer(rebasing: destination[moved..<moved + length])
            _ = room.update(fromContentsOf: unit[used..<used + length])
            moved += length
            used += length
            if used == unit.count { dropFirst() }
        }
        count -= moved
        return moved
    }

    mutating func removeAll() { self = OctetQueue() }

    private mutating func dropFirst() {
        units[first] = []
        first += 1
        used = 0
        guard first > units.count / 2 else { return }
        units.removeFirst(first)
        first = 0
    }
}
