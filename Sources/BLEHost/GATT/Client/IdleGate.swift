import BLEWire

/// A delay of the host's own ATT requests on a link that clients are using.
///
/// A request of the host starts once no client has made a request for 250 ms, and after 2 s at the latest.
struct IdleGate {
    /// The required time without client requests.
    static let pause = Duration.milliseconds(250)
    /// The maximum delay if clients keep making requests.
    static let maximumDelay = Duration.seconds(2)

    /// The time of the last client request, or at which the link became ready; `nil` before the link is ready.
    private var idleSince: Instant?
    /// The time at which the host's requests started to wait.
    private var start = Instant()

    /// The time at which the host may start a request if no client makes one before; `nil` before the link is ready.
    var begin: Instant? { idleSince.map { $0 + Self.pause } }

    /// The time at which the host may start a request in any case.
    var due: Instant { start + Self.maximumDelay }

    /// Records that the link is ready.
    ///
    /// Clients may make requests first.
    mutating func allow(at now: Instant) {
        idleSince = now
        start = now
    }

    /// Records a client's request, which delays those of the host.
    ///
    /// `isIdle` is true if the host has no request waiting.
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
