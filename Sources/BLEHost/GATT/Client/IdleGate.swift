import BLEWire

/// A delay for the host's own ATT requests on a link that clients are using.
///
/// A request from the host starts once no client has made a request for 250 ms, or after 2 s if clients keep making
/// requests.
struct IdleGate {
    /// The required time without client requests.
    static let pause = Duration.milliseconds(250)
    /// The maximum delay if clients keep making requests.
    static let maximumDelay = Duration.seconds(2)

    /// The start of ``pause``: the last client request, but never so late that ``maximumDelay`` is exceeded; `nil`
    /// before the link is ready.
    private(set) var idleSince: Instant?
    /// The time at which the host's requests started to wait.
    private var start = Instant()

    /// The earliest time for a request from the host while clients make none; `nil` before the link is ready.
    var begin: Instant? { idleSince.map { $0 + Self.pause } }

    /// The earliest time for a request from the host while clients keep making requests.
    var due: Instant { start + Self.maximumDelay }

    /// Records that the link is ready.
    ///
    /// The host's own requests still wait for ``pause``, so that clients can make theirs first.
    mutating func allow(at now: Instant) {
        idleSince = now
        start = now
    }

    /// Records a client's request, which delays the host's own requests.
    ///
    /// `isIdle` is true if no request from the host is waiting.
    mutating func postpone(at now: Instant, isIdle: Bool) {
        guard let idleSince else { return }
        if isIdle {
            start = now
            if idleSince < now { self.idleSince = now }
        } else {
            self.idleSince = max(idleSince, min(now, start + (Self.maximumDelay - Self.pause)))
        }
    }

    /// Records that the host has started one of its requests although clients are active.
    ///
    /// The next one waits for another ``pause``.
    mutating func startedOne(at now: Instant) { start = now + (Self.pause - Self.maximumDelay) }
}
