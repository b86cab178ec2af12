import BLEWire

/// An item that is sorted by a handle.
protocol HasHandle {
    var firstHandle: AttributeHandle { get }
}

extension DiscoveredService: HasHandle { var firstHandle: AttributeHandle { range.start } }
extension DiscoveredDescriptor: HasHandle { var firstHandle: AttributeHandle { handle } }
extension KnownAttributes.Include: HasHandle { var firstHandle: AttributeHandle { handle } }
extension KnownAttributes.Declaration: HasHandle { var firstHandle: AttributeHandle { handle } }

extension Array where Element: HasHandle {
    /// Returns the indices of the items in `range`; if there are none, an empty range at the index at which to insert
    /// such items.
    ///
    /// The array is in ascending order of handles.
    func indices(in range: AttributeHandleRange) -> Range<Int> {
        let lower = position(of: range.start, in: 0..<count)
        guard lower < count, range.end.wire < .max else { return lower..<count }
        let end = AttributeHandle(wire: range.end.wire + 1)
        // A range usually contains few items, even if the array is long, so this searches forward in growing steps.
        var step = 1
        while lower + step < count, self[lower + step].firstHandle < end { step *= 2 }
        return lower..<position(of: end, in: lower..<Swift.min(lower + step, count))
    }

    private func position(of handle: AttributeHandle, in range: Range<Int>) -> Int {
        if let last, last.firstHandle < handle { return count }
        return range.bisected { self[$0].firstHandle < handle }
    }
}

extension Array where Element: HasHandle & Equatable {
    /// Replaces the items in `range` with `new`, unless they are already equal.
    mutating func replace(in range: AttributeHandleRange, with new: [Element]) {
        let places = indices(in: range)
        if !self[places].elementsEqual(new) { replaceSubrange(places, with: new) }
    }
}
