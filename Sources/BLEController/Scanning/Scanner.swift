import BLEWire

/// What a controller scans for, and whether it does.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.
struct Scanner: Sendable {
    /// When each advertiser is reported again.
    enum Duplicates: UInt8, Sendable {
        case reported = 0
        case filtered = 1
        /// Filtered, but from each period to the next.
        case filteredInPeriod = 2
    }

    /// Whether the host listens for advertisements, and until when.
    enum State: Equatable, Sendable {
        case off
        /// `until` is when the scan ends or pauses; `resumes` is how long after its beginning the next period starts.
        case on(until: Instant?, period: Duration?)
        /// Between two periods, the next of which begins at `at` and takes `duration`.
        case paused(at: Instant, duration: Duration, period: Duration)
    }

    var windows = [
        ScanWindow(
            phy: .oneMegabit,
            isActive: false,
            interval: 10_000_000,
            window: 10_000_000,
            start: Instant()
        )
    ]
    var ownAddressKind: UInt8 = 0
    /// Whether only advertisers of the accept list are reported.
    var usesAcceptList = false
    /// Whether directed advertisements are reported whose target is a private address that nobody here made.
    var takesUnresolved = false
    /// Whether extended commands began the scan, so that its reports are extended ones.
    var isExtended = false
    var duplicates = Duplicates.reported
    private(set) var state = State.off
    var seen = DuplicateFilter()
    var backoff = ScanBackoff()
    /// The schedule's latest entry for this scan.
    var token: UInt64 = 0

    /// Whether the host has a scan, even if it pauses.
    var isEnabled: Bool { state != .off }

    /// Whether the receiver is on.
    var isListening: Bool { if case .on = state { true } else { false } }

    /// When the scan changes by itself.
    var deadline: Instant? {
        switch state {
        case .off: nil
        case .on(let until, _): until
        case .paused(let instant, _, _): instant
        }
    }

    /// Begins to scan for `duration`, every `period`, or for ever.
    mutating func enable(duration: Duration?, period: Duration?, at now: Instant) {
        state = .on(until: duration.map { now + $0 }, period: period)
        begin(at: now)
    }

    mutating func disable() {
        state = .off
        token = 0
        seen.removeAll()
    }

    enum OnExpire: Equatable { case nothing, timedOut, paused, resumed }

    /// Ends, pauses or resumes the scan if it is time.
    mutating func expire(at now: Instant) -> OnExpire {
        switch state {
        case .on(let until?, let period) where until <= now:
            guard let period, let start = windows.first?.start else {
                disable()
                return .timedOut
            }
            state = .paused(at: start + period, duration: until - start, period: period)
            return .paused
        case .paused(let instant, let duration, let period) where instant <= now:
            state = .on(until: now + duration, period: period)
            begin(at: now)
            return .resumed
        case .off, .on, .paused: return .nothing
        }
    }

    private mutating func begin(at now: Instant) {
        for index in windows.indices { windows[index].start = now }
        backoff = ScanBackoff()
        if duplicates != .filtered || isExtended == false { seen.removeAll() }
    }

    /// The window that hears a packet which begins at `instant` on the primary `channel`.
    @inline(__always)
    func window(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> ScanWindow? {
        for index in windows.indices where windows[index].hears(channel, phy, at: instant) {
            return windows[index]
        }
        return nil
    }
}
