import BLEWire

/// Learns how long a program at the other end takes to answer, to say when it is worth while to look for an answer.
///
/// What comes first is often a word that the packet has left, and what the program was asked for comes later; whoever
/// looks then finds both.
struct AnswerDelay {
    /// What is expected at most, in nanoseconds.
    static let most: Int64 = 100_000
    /// An answer that took longer than expected counts for one part of so many, and one that may have been there sooner
    /// takes one of so many off.
    private static let (growth, decay): (Int64, Int64) = (8, 16)

    /// After how many nanoseconds about half of all answers have come.
    private(set) var expected: Int64 = 0
    /// Since when an answer is waited for.
    private var begin: Instant?
    /// When the last part of the answer came.
    private var end: Instant?
    /// Whether there was a look in vain before.
    private var wasLate = false

    /// Whether an answer may have come.
    func isOver(at now: Instant) -> Bool {
        guard let begin else { return true }
        return now >= begin.later(byNanoseconds: expected)
    }

    /// Something is said to which there may be an answer; all that came before was the answer to what was said before.
    mutating func said(at now: Instant) {
        if let begin, let end {
            learn(end.nanoseconds - begin.nanoseconds)
            self.begin = nil
        }
        if begin == nil { begin = now }
        end = nil
        wasLate = false
    }

    mutating func heard(at now: Instant) { end = now }

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
