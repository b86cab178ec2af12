import BLEWire

/// A delay of the host's own ATT requests on a link that clients are using.
///
/// A request of the host starts once no client has made a request for 250 ms, and after 2 s at the latest.
struct IdleGate {
    /// The required time without client requests.
    static let pause = Duration.milliseconds(250)
    /// The maximum delay if clients keep making requests.
    static let maximumDelay = Duration.seconds(2)

    /// The time of the last client request; `nil` before the link is ready.
    private var idleSince: Instant?
    /// The time at which the host's requests were queued.
    private var start = Instant()

    /// The time at which the host can start if no client makes a request; `nil` before the link is ready.
    var begin: Instant? { idleSince.map { $0 + Self.pause } }

    /// The time at which it starts in any case.
    var due: Instant { start + Self.maximumDelay }

    /// Records that the link is ready; clients get time to go first.
    mutating func allow(at now: Instant) {
        idleSince = now
        start = now
    }

    /// Records a client's request.
    ///
    /// `isIdle` is true if the host has nothing queued.
    mutating func postpone(at now: Instant, isIdle: Bool) {
        guard let idleSince else { return }
        if isIdle {
            start = now
            if idleSince < now { self.idleSince = now }
        } else {
            self.idleSince = max(idleSince, min(now, start + (Self.maximumDelay - Self.pause)))
        }
    }

    /// Records that the host has started one of several requests although clients are active.
    ///
    /// The next one waits for the usual pause.
    mutating func startedOne(at now: Instant) { start = now + (Self.pause - Self.maximumDelay) }
}
