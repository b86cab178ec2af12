package import BLEWire

/// The state of knowledge about one aspect of an attribute, and whether clients rely on it.
package struct HandleStatus: Equatable, Sendable {
    enum State: Sendable {
        /// Never read, or dropped.
        case unknown
        /// Valid for one use.
        case read
        /// Must be read again before use.
        case stale
    }

    enum Delivery: Sendable {
        case undelivered
        /// Clients were told before the peer was asked to report changes.
        case deliveredUnwatched
        /// Clients were told and rely on it until a change is reported.
        case delivered
    }

    private(set) var state = State.unknown
    private(set) var delivery = Delivery.undelivered
    /// Needs to be read again, although no client asked for it.
    var isUnverified = false

    package var isKnown: Bool { state != .unknown }
    var isDelivered: Bool { delivery != .undelivered }
    /// True if the peer must be asked before this can be used.
    var isMissing: Bool { state != .read }
    /// The status for storage, in which no client was told.
    var kept: Self {
        var kept = Self()
        if isKnown { kept.learn() }
        return kept
    }

    /// Records that the peer has just sent it.
    package mutating func learn() {
        state = .read
        isUnverified = false
    }

    mutating func forget() { state = .unknown }

    mutating func expire() { if isKnown { state = .stale } }

    /// Records that a stale value is unchanged.
    mutating func confirm() { if isKnown { state = .read } }

    mutating func noteDelivery() { if delivery == .undelivered { delivery = .delivered } }

    /// Records that the peer is about to be asked to report changes.
    mutating func beginWatching() { if isDelivered { delivery = .deliveredUnwatched } }

    /// Marks it for verification if clients were told before the peer reported changes.
    mutating func checkUnwatched() {
        isUnverified = delivery == .deliveredUnwatched
        if isUnverified { delivery = .delivered }
    }
}

/// The status of every handle, stored as runs of handles with the same status.
package struct HandleStatuses: Equatable, Sendable {
    private struct Run: Equatable, Sendable {
        /// The last handle.
        ///
        /// The run starts after the previous one.
        var end: AttributeHandle
        var status: HandleStatus
    }

    /// In ascending order up to the maximum handle.
    ///
    /// Adjacent runs differ.
    private var runs = [Run(end: AttributeHandleRange.all.end, status: HandleStatus())]

    package init() {}

    package subscript(handle: AttributeHandle) -> HandleStatus { runs[position(of: handle)].status }

    /// Returns the first handle in `range` with a matching status.
    package func first(in range: AttributeHandleRange, where fits: (HandleStatus) -> Bool) -> AttributeHandle? {
        var rest = range
        for run in runs[position(of: range.start)...] {
            if fits(run.status) { return rest.start }
            guard let behind = rest.after(run.end) else { return nil }
            rest = behind
        }
        return nil
    }

    /// Returns the last handle with a matching status.
    func last(where fits: (HandleStatus) -> Bool) -> AttributeHandle? { runs.last { fits($0.status) }?.end }

    /// The handles that are known, as the smallest number of ranges.
    package var known: [AttributeHandleRange] {
        var ranges: [AttributeHandleRange] = [], rest: AttributeHandleRange? = .all
        for run in runs {
            guard let start = rest?.start, let range = AttributeHandleRange(start, run.end) else { break }
            if run.status.isKnown {
                let joined = ranges.last.flatMap { $0.end.wire + 1 == start.wire ? $0.joined(with: range) : nil }
                if let joined { ranges[ranges.count - 1] = joined } else { ranges.append(range) }
            }
            rest = rest?.after(run.end)
        }
        return ranges
    }

    /// Changes the status of all handles in `range`.
    package mutating func update(_ range: AttributeHandleRange, _ change: (inout HandleStatus) -> Void) {
        let first = position(of: range.start), last = position(of: range.end, from: first)
        guard first < last else { return update(range, inRunAt: first, change) }
        let lower = max(first - 1, 0), upper = min(last + 1, runs.count - 1)
        let before = AttributeHandle(wire: range.start.wire - 1)
        var start = lower > 0 ? Int(runs[lower - 1].end.wire) + 1 : 1, new: [Run] = []
        for run in runs[lower...upper] {
            var changed = run.status
            change(&changed)
            for (limit, status) in [(before, run.status), (range.end, changed), (run.end, run.status)] {
                let end = min(limit, run.end)
                guard start <= Int(end.wire) else { continue }
                if new.last?.status == status { new.removeLast() }
                new.append(Run(end: end, status: status))
                start = Int(end.wire) + 1
            }
        }
        runs.replaceSubrange(lower...upper, with: new)
    }

    /// Changes the status of handles in place.
    private mutating func update(
        _ range: AttributeHandleRange,
        inRunAt index: Int,
        _ change: (inout HandleStatus) -> Void
    ) {
        let run = runs[index], begin = index > 0 ? Int(runs[index - 1].end.wire) + 1 : 1
        var status = run.status
        change(&status)
        guard status != run.status else { return }
        let isFirst = Int(range.start.wire) == begin, isLast = range.end == run.end
        let joinsPrevious = isFirst && index > 0 && runs[index - 1].status == status
        let joinsNext = isLast && index + 1 < runs.count && runs[index + 1].status == status
        switch (isFirst, isLast) {
        case (true, true) where joinsPrevious:
            runs[index - 1].end = joinsNext ? runs[index + 1].end : run.end
            runs.removeSubrange(index...(joinsNext ? index + 1 : index))
        case (true, true) where joinsNext: runs.remove(at: index)
        case (true, true): runs[index].status = status
        case (true, false) where joinsPrevious: runs[index - 1].end = range.end
        case (true, false): runs.insert(Run(end: range.end, status: status), at: index)
        case (false, true):
            runs[index].end = AttributeHandle(wire: range.start.wire - 1)
            if !joinsNext { runs.insert(Run(end: range.end, status: status), at: index + 1) }
        case (false, false):
            runs.insert(Run(end: range.end, status: status), at: index)
            runs.insert(Run(end: AttributeHandle(wire: range.start.wire - 1), status: run.status), at: index)
        }
    }

    /// Returns the index of the run with a handle, starting the search at `first`.
    private func position(of handle: AttributeHandle, from first: Int = 0) -> Int {
        // What is asked about is mostly of one status.
        if runs[first].end >= handle { return first }
        return (first..<runs.count).bisected { runs[$0].end < handle }
    }
}

extension AttributeHandleRange {
    /// Returns the smallest range that contains both.
    func joined(with other: Self) -> Self? { Self(min(start, other.start), max(end, other.end)) }
}
