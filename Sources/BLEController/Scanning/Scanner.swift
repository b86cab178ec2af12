import BLEWire

/// The parameters and state of a controller's scan.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.
struct Scanner: Sendable {
    /// The treatment of repeated advertisements.
    enum Duplicates: UInt8, Sendable {
        case reported = 0
        case filtered = 1
        /// Filtered, but reported again in each period.
        case filteredInPeriod = 2
    }

    /// Whether the controller scans, and until when.
    enum State: Equatable, Sendable {
        case off
        /// `until` is the end of the scan or of its current period; `period` is the time from start to start.
        case on(until: Instant?, period: Duration?)
        /// Between two periods. The next one starts at `at` and takes `duration`.
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
    /// True if only advertisers on the filter accept list are reported.
    var usesAcceptList = false
    /// True if directed advertisements to unresolved private addresses are reported.
    var takesUnresolved = false
    /// True if extended commands started the scan, which then makes extended reports.
    var isExtended = false
    var duplicates = Duplicates.reported
    private(set) var state = State.off
    var seen = DuplicateFilter()
    var backoff = ScanBackoff()
    /// The token of the latest schedule entry for this scan.
    var token: UInt64 = 0

    /// True if the scan is enabled, even while it pauses.
    var isEnabled: Bool { state != .off }

    /// True if the receiver is on.
    var isListening: Bool { if case .on = state { true } else { false } }

    /// The time at which the scan ends, pauses or resumes.
    var deadline: Instant? {
        switch state {
        case .off: nil
        case .on(let until, _): until
        case .paused(let instant, _, _): instant
        }
    }

    /// Starts to scan for `duration`, every `period`, or until it is disabled.
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

    /// Ends, pauses or resumes the scan if it is due.
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

    /// Returns the window that receives a packet starting at `instant` on the primary `channel`.
    @inline(__always)
    func window(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> ScanWindow? {
        for index in windows.indices where windows[index].hears(channel, phy, at: instant) {
            return windows[index]
        }
        return nil
    }
}
