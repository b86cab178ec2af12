package import BLEWire

/// Attribute handles, kept as the ranges that they make up.
package struct HandleSet: Equatable, Sendable {
    /// In ascending order; between two of them there is at least one handle that is not in the set.
    package private(set) var ranges: [AttributeHandleRange] = []

    package init() {}

    package var isEmpty: Bool { ranges.isEmpty }

    package func contains(_ handle: AttributeHandle) -> Bool {
        let index = position(endingAtOrBehind: handle)
        return index < ranges.count && ranges[index].contains(handle)
    }

    /// The first handle of `range` that is in the set.
    package func first(in range: AttributeHandleRange) -> AttributeHandle? {
        let index = position(endingAtOrBehind: range.start)
        guard index < ranges.count, ranges[index].start <= range.end else { return nil }
        return max(range.start, ranges[index].start)
    }

    /// The first handle of `range` that is not in the set.
    package func first(missingIn range: AttributeHandleRange) -> AttributeHandle? {
        let index = position(endingAtOrBehind: range.start)
        guard index < ranges.count, ranges[index].contains(range.start) else { return range.start }
        return range.after(ranges[index].end)?.start
    }

    package mutating func insert(_ range: AttributeHandleRange) {
        var start = range.start, end = range.end
        // What ends just before the range is joined with it.
        let lower = position(endingAtOrBehind: max(AttributeHandle(wire: 1), AttributeHandle(wire: start.wire - 1)))
        var upper = lower
        while upper < ranges.count, Int(ranges[upper].start.wire) <= Int(end.wire) + 1 {
            start = min(start, ranges[upper].start)
            end = max(end, ranges[upper].end)
            upper += 1
        }
        guard let joined = AttributeHandleRange(start, end) else { return }
        ranges.replaceSubrange(lower..<upper, with: [joined])
    }

    package mutating func remove(_ range: AttributeHandleRange) {
        let lower = position(endingAtOrBehind: range.start)
        var upper = lower, rest: [AttributeHandleRange] = []
        while upper < ranges.count, ranges[upper].start <= range.end {
            if ranges[upper].start < range.start,
                let before = AttributeHandleRange(ranges[upper].start, AttributeHandle(wire: range.start.wire - 1))
            {
                rest.append(before)
            }
            if let behind = ranges[upper].after(range.end) { rest.append(behind) }
            upper += 1
        }
        ranges.replaceSubrange(lower..<upper, with: rest)
    }

    /// The first range that ends at `handle` or later.
    private func position(endingAtOrBehind handle: AttributeHandle) -> Int {
        var low = 0, high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].end < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
