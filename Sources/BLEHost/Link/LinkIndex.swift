import BLEWire

/// A lookup table, by handle, of the positions of links in a sorted table.
///
/// A search takes constant time.
struct LinkIndex {
    /// For each handle up to the highest one, the index plus one; zero if there is no link.
    private var places: [UInt16] = []

    /// Creates the lookup table for links in ascending order of their handles.
    init(_ handles: [ConnectionHandle] = []) {
        guard let last = handles.last else { return }
        places = [UInt16](repeating: 0, count: Int(last.wire) + 1)
        for (index, handle) in handles.enumerated() { places[Int(handle.wire)] = UInt16(index + 1) }
    }

    /// The index of a link; `nil` if there is no such link.
    subscript(handle: ConnectionHandle) -> Int? {
        let wire = Int(handle.wire)
        guard wire < places.count, places[wire] > 0 else { return nil }
        return Int(places[wire]) - 1
    }
}
