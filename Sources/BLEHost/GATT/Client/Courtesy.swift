import BLEWire

/// A delay of the host's own ATT requests on a link that clients are using.
///
/// A request of the host starts once no client has made a request for 250 ms, and after 2 s at the latest.
struct Courtesy {
    /// The required time without client requests.
    static let pause = Duration.milliseconds(250)
    /// The maximum delay if clients keep making requests.
    static let patience = Duration.seconds(2)

    /// The time of the last client request; `nil` before the link is ready.
    private var calm: Instant?
    /// The time at which the host's requests were queued.
    private var start = Instant()

    /// The time at which the host can start if no client makes a request; `nil` before the link is ready.
    var begin: Instant? { calm.map { $0 + Self.pause } }

    /// The time at which it starts in any case.
    var due: Instant { start + Self.patience }

    /// Records that the link is ready; clients get time to go first.
    mutating func allow(at now: Instant) {
        calm = now
        start = now
    }

    /// Records a client's request.
    ///
    /// `isIdle` is true if the host has nothing queued.
    mutating func postpone(at now: Instant, isIdle: Bool) {
        guard let calm else { return }
        if isIdle {
            start = now
            if calm < now { self.calm = now }
        } else {
            self.calm = max(calm, min(now, start + (Self.patience - Self.pause)))
        }
    }

    /// Records that the host has started one of several requests although clients are active.
    ///
    /// The next one waits for the usual pause.
    mutating func indulge(at now: Instant) { start = now + (Self.pause - Self.patience) }
}
