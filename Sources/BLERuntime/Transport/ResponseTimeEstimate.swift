import BLEWire

/// An estimate of the response time of a program at the other end, to decide when to look for a response.
///
/// The first packet is often just the report that a packet has left, and the actual response comes later; a later look
/// finds both. Traffic beyond the size of a request and its response is a stream, for which no time is estimated.
struct ResponseTimeEstimate {
    /// The maximum estimate, in nanoseconds.
    static let most: Int64 = 100_000
    /// The weights of a longer and a possibly shorter response time in the estimate: 1/8 and 1/16.
    private static let (growth, decay): (Int64, Int64) = (8, 16)

    /// The maximum size of a request or response, in octets: either may be a long attribute.
    private static let longest = 1_024

    /// The time before which no response is looked for, in nanoseconds.
    private(set) var expected: Int64 = 0
    /// The start of the wait for a response.
    private var begin: Instant?
    /// The arrival of the last part of the response.
    private var end: Instant?
    /// The octets sent since `begin`, and received since then.
    private var (said, heard) = (0, 0)
    /// True if an earlier look was unsuccessful.
    private var wasLate = false

    /// True if more was received since the last request than a response can have.
    var hearsStream: Bool { heard > Self.longest }

    /// Returns whether a response may have arrived.
    func isOver(at now: Instant) -> Bool {
        guard let begin, said <= Self.longest else { return true }
        return now >= begin.later(byNanoseconds: expected)
    }

    /// Records octets that may get a response.
    ///
    /// Everything received before belongs to the previous request.
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

    /// Records received octets of a response.
    mutating func heard(_ count: Int, at now: Instant) {
        heard += count
        end = now
    }

    /// Records an unsuccessful look.
    mutating func heardNothing() { wasLate = true }

    private mutating func learn(_ delay: Int64) {
        if wasLate {
            expected = min(expected + max(0, delay - expected) / Self.growth, Self.most)
        } else {
            expected -= expected / Self.decay
        }
    }
}
