import BLEWire

extension FailureRule {
    /// The maximum difference between the times at which the two ends of a link record their connection, in
    /// nanoseconds.
    private static let mostDifference: Int64 = 1_000_000_000

    /// Returns the index of an earlier event in which the other end of the link recorded the same loss; `nil` if there
    /// is none.
    ///
    /// The two ends of a link are recognized by their connection events, which have different sources and roles, and
    /// about the same time.
    static func lossAtOtherEnd(_ timeline: Timeline, _ index: Int, _ limit: WalkLimit) -> Int? {
        let event = timeline.events[index]
        guard case .disconnected(let link, .connectionTimeout) = event.fact else { return nil }
        let begin = limit.walk((0..<index).reversed()).first { place in
            guard timeline.events[place].source == event.source,
                case .connected(link, _, _) = timeline.events[place].fact
            else { return false }
            return true
        }
        guard let begin, let other = otherBeginning(timeline, begin, limit),
            otherBeginning(timeline, other, limit) == begin,
            case .connected(let otherLink, _, _) = timeline.events[other].fact
        else { return nil }
        for place in limit.walk(min(other + 1, index)..<index)
        where timeline.events[place].source == timeline.events[other].source {
            switch timeline.events[place].fact {
            case .disconnected(otherLink, .connectionTimeout): return place
            case .disconnected(otherLink, _), .connected(otherLink, _, _): return nil
            default: continue
            }
        }
        return nil
    }

    /// Returns a sentence about the last packets between the ends of a link, if they were lost.
    static func lostPackets(_ timeline: Timeline, _ index: Int, _ limit: WalkLimit) -> [FailureFinding.Sentence] {
        let event = timeline.events[index]
        var lost = 0, last: (strength: Int, distance: Double)?, first: Int?
        for place in limit.walk((0..<index).reversed()) {
            guard case .air(let isLost, let strength, let distance, let receiver) = timeline.events[place].fact,
                receiver == timeline.sources[event.source] || timeline.events[place].source == event.source,
                !timeline.events[place].title.hasPrefix("Adv")
            else { continue }
            guard isLost else { break }
            if last == nil { last = (strength, distance) }
            (lost, first) = (lost + 1, place)
        }
        guard let last, lost > 0 else { return [] }
        let place = "while the devices were \(Int(last.distance.rounded())) m apart (RSSI \(last.strength) dBm)"
        let packets = lost == 1 ? "1 packet was" : "\(lost) packets in a row were"
        return [sentence("\(packets) lost \(place).", first)]
    }

    /// Returns the index of the event in which the other end of a link recorded the connection event at `index`.
    ///
    /// This is the connection event of another source, with the other role, that is closest in time. Returns `nil` if
    /// there is none within ``mostDifference``.
    private static func otherBeginning(_ timeline: Timeline, _ index: Int, _ limit: WalkLimit) -> Int? {
        let event = timeline.events[index]
        guard case .connected(_, _, let isCentral) = event.fact else { return nil }
        func difference(_ place: Int) -> Int64 { abs(clamping: timeline.events[place].time, event.time) }
        func first(_ places: some Sequence<Int>) -> Int? {
            for place in limit.walk(places) {
                guard difference(place) <= mostDifference else { return nil }
                if timeline.events[place].source != event.source,
                    case .connected(_, _, !isCentral) = timeline.events[place].fact
                {
                    return place
                }
            }
            return nil
        }
        let earlier = first((0..<index).reversed()), later = first((index + 1)..<timeline.events.count)
        guard let earlier, let later else { return earlier ?? later }
        return difference(later) < difference(earlier) ? later : earlier
    }

    /// Returns the distance between two times, at most `Int64.max`.
    private static func abs(clamping first: Int64, _ second: Int64) -> Int64 {
        let (difference, overflows) = max(first, second).subtractingReportingOverflow(min(first, second))
        return overflows ? .max : difference
    }
}
