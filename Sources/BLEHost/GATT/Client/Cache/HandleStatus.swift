package import BLEWire

/// The status of one aspect (``KnownAttributes/Aspect``) of a handle: whether it is known, and whether it was reported
/// to clients.
package struct HandleStatus: Equatable, Sendable {
    enum State: Sendable {
        /// The aspect was never read, or was dropped.
        case unknown
        /// The aspect was read, and can be used. It can be used only once, unless the peer has been asked to report
        /// changes.
        case read
        /// The aspect may have changed since it was read or used. It must be read again before it can be used.
        case stale
    }

    enum Delivery: Sendable {
        case undelivered
        /// The aspect was reported to clients before the peer was asked to report changes.
        case deliveredUnwatched
        /// The aspect was reported to clients, which rely on it until the peer reports a change.
        case delivered
    }

    private(set) var state = State.unknown
    private(set) var delivery = Delivery.undelivered
    /// True if the aspect needs to be read again although no client asked for it.
    var isUnverified = false

    package var isKnown: Bool { state != .unknown }
    var isDelivered: Bool { delivery != .undelivered }
    /// True if the aspect must be read from the peer before it can be used.
    var isMissing: Bool { state != .read }
    /// The status to store for the next link, on which nothing has been reported to clients yet.
    var asStored: Self {
        var kept = Self()
        if isKnown { kept.learn() }
        return kept
    }
    /// The status to store for the next link, as in ``asStored``; unknown if the aspect would have to be read again.
    var asStoredIfCurrent: Self { isMissing ? Self() : asStored }

    /// Records that the aspect has been read from the peer.
    package mutating func learn() {
        state = .read
        isUnverified = false
    }

    mutating func forget() { state = .unknown }

    mutating func expire() { if isKnown { state = .stale } }

    /// Records that the peer has not changed the aspect.
    ///
    /// Has no effect if the aspect is unknown.
    mutating func confirm() { if isKnown { state = .read } }

    mutating func noteDelivery() { if delivery == .undelivered { delivery = .delivered } }

    /// Records that the peer is about to be asked to report changes.
    mutating func beginWatching() { if isDelivered { delivery = .deliveredUnwatched } }

    /// Marks the aspect for verification if it was reported to clients before the peer was asked to report changes.
    mutating func checkUnwatched() {
        isUnverified = delivery == .deliveredUnwatched
        if isUnverified { delivery = .delivered }
    }
}

/// The status of one aspect of each handle, stored as runs of handles with the same status.
package struct HandleStatuses: Equatable, Sendable {
    private struct Run: Equatable, Sendable {
        /// The last handle of the run.
        ///
        /// The run starts after the end of the previous run.
        var end: AttributeHandle
        var status: HandleStatus
    }

    /// The runs in ascending order, up to the maximum handle.
    ///
    /// Adjacent runs have different statuses.
    private var runs = [Run(end: AttributeHandleRange.all.end, status: HandleStatus())]

    package init() {}

    package subscript(handle: AttributeHandle) -> HandleStatus { runs[position(of: handle)].status }

    /// Returns the first handle in `range` whose status satisfies `fits`; `nil` if there is none.
    package func first(in range: AttributeHandleRange, where fits: (HandleStatus) -> Bool) -> AttributeHandle? {
        var rest = range
        for run in runs[position(of: range.start)...] {
            if fits(run.status) { return rest.start }
            guard let behind = rest.after(run.end) else { return nil }
            rest = behind
        }
        return nil
    }

    /// Returns the last handle whose status satisfies `fits`; `nil` if there is none.
    func last(where fits: (HandleStatus) -> Bool) -> AttributeHandle? { runs.last { fits($0.status) }?.end }

    /// The handles whose aspect is known, as the smallest possible number of ranges.
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

    /// Changes the status of handles that all belong to the run at `index`, without rebuilding the array of runs.
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

    /// Returns the index of the run that contains a handle, searching from the run at `first`.
    private func position(of handle: AttributeHandle, from first: Int = 0) -> Int {
        // Most searches end in the first run.
        if runs[first].end >= handle { return first }
        return (first..<runs.count).bisected { runs[$0].end < handle }
    }
}

extension AttributeHandleRange {
    /// Returns the smallest range that contains this range and `other`; never `nil` for valid ranges.
    func joined(with other: Self) -> Self? { Self(min(start, other.start), max(end, other.end)) }
}
