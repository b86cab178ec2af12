import BLEWire

/// The objects for attributes of a peripheral, sorted by handle.
///
/// A handle is looked up for every notification, by binary search, which costs less than hashing.
struct HandleTable<Object> {
    private var handles: [UInt16] = []
    /// The objects, at the same indices as their handles.
    private(set) var objects: [Object] = []

    subscript(handle: AttributeHandle) -> Object? {
        get {
            let place = index(of: handle.wire)
            return place < handles.count && handles[place] == handle.wire ? objects[place] : nil
        }
        set {
            let place = index(of: handle.wire), isThere = place < handles.count && handles[place] == handle.wire
            switch (newValue, isThere) {
            case (let object?, true): objects[place] = object
            case (let object?, false):
                handles.insert(handle.wire, at: place)
                objects.insert(object, at: place)
            case (nil, true):
                handles.remove(at: place)
                objects.remove(at: place)
            case (nil, false): break
            }
        }
    }

    /// Removes and returns the objects with a handle in `range`.
    mutating func remove(in range: AttributeHandleRange) -> [Object] {
        let first = index(of: range.start.wire), end = index(after: range.end.wire)
        defer {
            handles.removeSubrange(first..<end)
            objects.removeSubrange(first..<end)
        }
        return Array(objects[first..<end])
    }

    /// Returns the index of the first handle that is not less than `handle`.
    private func index(of handle: UInt16) -> Int {
        var low = 0, high = handles.count
        while low < high {
            let middle = (low + high) / 2
            if handles[middle] < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the index of the first handle that is greater than `handle`.
    private func index(after handle: UInt16) -> Int { handle == .max ? handles.count : index(of: handle + 1) }
}
