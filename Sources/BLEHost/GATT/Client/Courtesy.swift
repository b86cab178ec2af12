import BLEWire

/// When the host may do something for itself at a peer of which clients want something as well.
///
/// Clients go first, and may want more: the host waits until they have wanted nothing for a while, but not for ever.
struct Courtesy {
    /// How long no client must have wanted anything.
    static let pause = Duration.milliseconds(250)
    /// How long clients that always want something keep the host waiting.
    static let patience = Duration.seconds(2)

    /// Since when no client has wanted anything; `nil` before the link is ready.
    private var calm: Instant?
    /// Since when the host has had something to do.
    private var start = Instant()

    /// When the host may begin; `nil` before the link is ready.
    var begin: Instant? { calm.map { $0 + Self.pause } }

    /// When it begins even if clients want something all the time.
    var due: Instant { start + Self.patience }

    /// The link is ready: clients have the time to go first.
    mutating func allow(at now: Instant) {
        calm = now
        start = now
    }

    /// A client wanted something; `isIdle` if the host has nothing to do yet.
    mutating func postpone(at now: Instant, isIdle: Bool) {
        guard let calm else { return }
        if isIdle {
            start = now
            if calm < now { self.calm = now }
        } else {
            self.calm = max(calm, min(now, start + (Self.patience - Self.pause)))
        }
    }

    /// The host has begun with one thing of several although clients want something: the next waits as a pause does.
    mutating func indulge(at now: Instant) { start = now + (Self.pause - Self.patience) }
}
