import BLEWire

/// Learns how long a program at the other end takes to answer, to say when it is worth while to look for an answer.
///
/// What comes first is often a word that the packet has left, and what the program was asked for comes later; whoever
/// looks then finds both. Who says or hears more than fits a question and its answer streams, and looks at any time.
struct AnswerDelay {
    /// What is expected at most, in nanoseconds.
    static let most: Int64 = 100_000
    /// An answer that took longer than expected counts for one part of so many, and one that may have been there sooner
    /// takes one of so many off.
    private static let (growth, decay): (Int64, Int64) = (8, 16)

    /// How many octets a question has at most, and an answer: either may be a long attribute.
    private static let longest = 1_024

    /// Before so many nanoseconds no answer is looked for.
    private(set) var expected: Int64 = 0
    /// Since when an answer is waited for.
    private var begin: Instant?
    /// When the last part of the answer came.
    private var end: Instant?
    /// How many octets were said since `begin`, and heard since then.
    private var (said, heard) = (0, 0)
    /// Whether there was a look in vain before.
    private var wasLate = false

    /// Whether more was heard than an answer has, since something was said last.
    var hearsStream: Bool { heard > Self.longest }

    /// Whether an answer may have come.
    func isOver(at now: Instant) -> Bool {
        guard let begin, said <= Self.longest else { return true }
        return now >= begin.later(byNanoseconds: expected)
    }

    /// So many octets are said to which there may be an answer; all that came before was the answer to what was said
    /// before.
    mutating func said(_ count: Int, at now: Instant) {
        if let begin, let end {
            let isStream = said > Self.longest || hearsStream
            if isStream { expected = 0 } else { learn(end.nanoseconds(since: begin)) }
            self.begin = nil
        }
        if begin == nil {
            begin = now
            said = 0
        }
        said += count
        heard = 0
        end = nil
        wasLate = false
    }

    /// So many octets of an answer came.
    mutating func heard(_ count: Int, at now: Instant) {
        heard += count
        end = now
    }

    /// There was nothing to hear when it was looked for.
    mutating func heardNothing() { wasLate = true }

    private mutating func learn(_ delay: Int64) {
        if wasLate {
            expected = min(expected + max(0, delay - expected) / Self.growth, Self.most)
        } else {
            expected -= expected / Self.decay
        }
    }
}
