import BLEWire

/// An estimate of how fast the program at the other end of a socket responds, which decides when to read the response.
///
/// The first packet that arrives is often only the report that a packet has been sent, and the actual response follows.
/// Reading a little later gets both with one system call. If more octets are sent or received than a request and its
/// response have, they belong to a stream, for which no time is estimated.
struct ResponseTimeEstimate {
    /// The maximum estimate, in nanoseconds.
    static let most: Int64 = 100_000
    /// The divisors with which the estimate is corrected.
    ///
    /// If a read came too early, the estimate grows by 1/8 of the difference between the actual response time and the
    /// estimate; otherwise it shrinks by 1/16 of itself.
    private static let (growth, decay): (Int64, Int64) = (8, 16)

    /// The maximum size of a request or response, in octets.
    ///
    /// Either may contain a long attribute.
    private static let longest = 1_024

    /// The time after a request during which a read would come too early, in nanoseconds.
    private(set) var expected: Int64 = 0
    /// The time of the request that waits for a response; `nil` if there is none.
    private var begin: Instant?
    /// The time at which the last part of the response arrived; `nil` if nothing has arrived since the request.
    private var end: Instant?
    /// The number of octets sent since `begin`, and the number received since the last of them was sent.
    private var (sent, received) = (0, 0)
    /// True if a read since the last request found nothing, which shows that the estimate is not too long.
    private var hadEmptyRead = false

    /// True if more octets were received since the last request than a response can have.
    var receivesStream: Bool { received > Self.longest }

    /// Returns whether a response may have arrived by now.
    func isOver(at now: Instant) -> Bool {
        guard let begin, sent <= Self.longest else { return true }
        return now >= begin.later(byNanoseconds: expected)
    }

    /// Records octets that were sent and may cause a response.
    ///
    /// Everything that was received before belongs to the previous request.
    mutating func sent(_ count: Int, at now: Instant) {
        if let begin, let end {
            let isStream = sent > Self.longest || receivesStream
            if isStream { expected = 0 } else { learn(end.nanoseconds(since: begin)) }
            self.begin = nil
        }
        if begin == nil {
            begin = now
            sent = 0
        }
        sent += count
        received = 0
        end = nil
        hadEmptyRead = false
    }

    /// Records octets that were received.
    mutating func received(_ count: Int, at now: Instant) {
        received += count
        end = now
    }

    /// Records that a read found nothing.
    mutating func receivedNothing() { hadEmptyRead = true }

    private mutating func learn(_ delay: Int64) {
        if hadEmptyRead {
            expected = min(expected + max(0, delay - expected) / Self.growth, Self.most)
        } else {
            expected -= expected / Self.decay
        }
    }
}
