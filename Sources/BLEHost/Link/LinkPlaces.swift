import BLEWire

/// Where each link is in a table that is in the order of their handles, found in one step however many there are.
struct LinkPlaces {
    /// One more than the place of each handle, zero where there is no link; up to the highest handle.
    private var places: [UInt16] = []

    /// Creates places for these links, in ascending order of their handles.
    init(_ handles: [ConnectionHandle] = []) {
        guard let last = handles.last else { return }
        places = [UInt16](repeating: 0, count: Int(last.wire) + 1)
        for (index, handle) in handles.enumerated() { places[Int(handle.wire)] = UInt16(index + 1) }
    }

    /// The place of a link; `nil` if there is no such link.
    subscript(handle: ConnectionHandle) -> Int? {
        let wire = Int(handle.wire)
        guard wire < places.count, places[wire] > 0 else { return nil }
        return Int(places[wire]) - 1
    }
}
