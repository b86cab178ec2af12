package import BLEWire

/// How far one aspect of an attribute is known, and whether clients stand on what they were told of it.
package struct HandleStatus: Equatable, Sendable {
    enum State: Sendable {
        /// It was not asked for, or is forgotten.
        case unknown
        /// It may be handed out.
        case read
        /// It has to be asked for again before it is handed out.
        case stale
    }

    enum Telling: Sendable {
        case untold
        /// Clients were told before the peer was asked to tell of changes.
        case unwatched
        /// Clients were told, and stand on it until they hear of a change.
        case told
    }

    private(set) var state = State.unknown
    private(set) var telling = Telling.untold
    /// Whether it has to be learnt again, by nobody's wish: it may be otherwise than it was.
    var isUnverified = false

    package var isKnown: Bool { state != .unknown }
    var isTold: Bool { telling != .untold }
    /// Whether the peer must be asked before this is handed out.
    var isMissing: Bool { state != .read }
    /// The same, of which nobody has heard.
    var kept: Self {
        var kept = Self()
        if isKnown { kept.learn() }
        return kept
    }

    /// Takes note that the peer has just said what is there.
    package mutating func learn() {
        state = .read
        isUnverified = false
    }

    mutating func forget() { state = .unknown }

    mutating func expire() { if isKnown { state = .stale } }

    /// Takes note that what was stale is still so.
    mutating func confirm() { if isKnown { state = .read } }

    mutating func tell() { if telling == .untold { telling = .told } }

    /// Takes note that the peer is about to be asked to tell of changes.
    mutating func beginWatching() { if isTold { telling = .unwatched } }

    /// Has it learnt again if clients were told before the peer told of changes.
    mutating func checkUnwatched() {
        isUnverified = telling == .unwatched
        if isUnverified { telling = .told }
    }
}

/// The status of every handle, kept once for each run of handles that share one.
package struct HandleStatuses: Equatable, Sendable {
    private struct Run: Equatable, Sendable {
        /// The last handle; the first is the one behind the run before.
        var end: AttributeHandle
        var status: HandleStatus
    }

    /// In ascending order, up to the last handle that there is; neighbours differ.
    private var runs = [Run(end: AttributeHandleRange.all.end, status: HandleStatus())]

    package init() {}

    package subscript(handle: AttributeHandle) -> HandleStatus { runs[position(of: handle)].status }

    /// The first handle of `range` whose status is one of those.
    package func first(in range: AttributeHandleRange, where fits: (HandleStatus) -> Bool) -> AttributeHandle? {
        var rest = range
        for run in runs[position(of: range.start)...] {
            if fits(run.status) { return rest.start }
            guard let behind = rest.after(run.end) else { return nil }
            rest = behind
        }
        return nil
    }

    /// The last handle whose status is one of those.
    func last(where fits: (HandleStatus) -> Bool) -> AttributeHandle? { runs.last { fits($0.status) }?.end }

    /// The handles of which it is known what is there, as the fewest ranges.
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

    /// Changes the status of all handles of `range`.
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

    /// Changes the status of handles that have one, in place.
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

    /// The run in which a handle is, which is not before the one at `first`.
    private func position(of handle: AttributeHandle, from first: Int = 0) -> Int {
        // What is asked about is mostly of one status.
        if runs[first].end >= handle { return first }
        return (first..<runs.count).bisected { runs[$0].end < handle }
    }
}

extension AttributeHandleRange {
    /// The least range that has both in it.
    func joined(with other: Self) -> Self? { Self(min(start, other.start), max(end, other.end)) }
}
