import BLEWire

/// The cause of a failure in a timeline, in sentences with links to the events.
package struct FailureFinding: Equatable, Sendable {
    /// A sentence, and the index of the event that it is about; the index is `nil` if it is not about one event.
    package struct Sentence: Equatable, Sendable {
        package let text: String
        package let event: Int?
    }

    /// The name of the rule.
    package let rule: String
    /// The index of the event that the finding explains.
    package let event: Int
    package fileprivate(set) var sentences: [Sentence]

    /// The sentences as one text.
    package var text: String { sentences.map(\.text).joined(separator: " ") }
}

/// A rule that recognizes a kind of failure and walks back to its cause.
package struct FailureRule: Sendable {
    /// The maximum number of findings on a page.
    private static let mostFindings = 200

    package let name: String
    /// Returns the sentences that explain the event at an index; `nil` if the rule does not apply.
    let explain: @Sendable (Timeline, Int, WalkLimit) -> [FailureFinding.Sentence]?

    /// Returns the cause of each failure in a timeline.
    ///
    /// An event is explained by the first rule that applies to it. After one event of a group has been explained, the
    /// later events of the group are skipped. A lost link has one finding, for the end that recorded the loss first;
    /// this finding also contains the sentences about the other end. If the search ends early, because there are too
    /// many findings or steps, the last finding says so.
    ///
    /// - Parameters:
    ///   - timeline: The events.
    ///   - steps: The number of events that all rules together may look at.
    /// - Returns: The causes, in chronological order.
    package static func findings(in timeline: Timeline, steps: Int = 20_000_000) -> [FailureFinding] {
        var findings: [FailureFinding] = [], groups: Set<Int> = []
        let limit = WalkLimit(steps)
        for index in timeline.events.indices {
            let group = timeline.events[index].group
            guard group == 0 || !groups.contains(group) else { continue }
            if let earlier = lossAtOtherEnd(timeline, index, limit), !limit.isReached,
                let place = findings.lastIndex(where: { $0.event == earlier })
            {
                findings[place].sentences += ending(timeline, index, after: earlier, limit)
                if group != 0 { groups.insert(group) }
                continue
            }
            for rule in all {
                guard let sentences = rule.explain(timeline, index, limit), !limit.isReached else { continue }
                findings.append(.init(rule: rule.name, event: index, sentences: sentences))
                if group != 0 { groups.insert(group) }
                break
            }
            guard !limit.isReached, findings.count < mostFindings else {
                let time = timeline.clock(timeline.events[index])
                let text = "Too many failures or events: failures after \(time) are not shown."
                let sentence = FailureFinding.Sentence(text: text, event: index)
                findings.append(.init(rule: "limit", event: index, sentences: [sentence]))
                break
            }
        }
        return findings
    }

    /// Returns the sentences about the second end of a lost link; `earlier` is the index of the event at the first end.
    private static func ending(
        _ timeline: Timeline,
        _ index: Int,
        after earlier: Int,
        _ limit: WalkLimit
    ) -> [FailureFinding.Sentence] {
        let event = timeline.events[index]
        guard case .disconnected(let link, _) = event.fact else { return [] }
        let isKnown = !lostPackets(timeline, earlier, limit).isEmpty
        return [sentence("\(timeline.sources[event.source]) recorded the loss at \(timeline.clock(event)).", index)]
            + (isKnown ? [] : lostPackets(timeline, index, limit)) + waiting(timeline, index, link, limit)
    }
}

/// A limit on the number of events that rules look at, so that no file keeps them busy for long.
final class WalkLimit {
    private var rest: Int

    init(_ steps: Int) { rest = steps }

    /// True if the limit was reached, in which case the result of a rule may be wrong.
    var isReached: Bool { rest <= 0 }

    /// Returns the elements of a sequence until the limit is reached.
    func walk<Base: Sequence>(_ base: Base) -> some Sequence<Base.Element> {
        base.lazy.prefix { _ in
            self.rest -= 1
            return self.rest > 0
        }
    }
}
