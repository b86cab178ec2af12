import BLEWire

/// The parameters and state of a controller's scan.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.
struct Scanner: Sendable {
    /// The treatment of repeated advertisements.
    enum Duplicates: UInt8, Sendable {
        case reported = 0
        case filtered = 1
        /// Repeated advertisements are filtered, but reported again in each period of the scan.
        case filteredInPeriod = 2
    }

    /// The state of a scan: off, on, or paused between two periods.
    enum State: Equatable, Sendable {
        case off
        /// The scan is on.
        ///
        /// `until` is the end of the scan or, if the scan is repeated, of its current repetition; `nil` for no end.
        /// `period` is the time from the start of one period to the start of the next; `nil` for a single scan.
        case on(until: Instant?, period: Duration?)
        /// The scan is paused until `at`, when the next period starts with a scan of `duration`.
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
    /// True if the scanner reports only advertisers on the filter accept list.
    var usesAcceptList = false
    /// True if the scanner also reports directed advertisements to private addresses that it cannot resolve.
    var takesUnresolved = false
    /// True if extended commands started the scan; the host then receives extended advertising reports.
    var isExtended = false
    var duplicates = Duplicates.reported
    private(set) var state = State.off
    var seen = DuplicateFilter()
    var backoff = ScanBackoff()

    /// True if the scan is on or paused.
    var isEnabled: Bool { state != .off }

    /// True if the scan is on and not paused.
    var isListening: Bool { if case .on = state { true } else { false } }

    /// The time at which the scan ends, pauses or resumes; `nil` if the scan is off or has no limit.
    var deadline: Instant? {
        switch state {
        case .off: nil
        case .on(let until, _): until
        case .paused(let instant, _, _): instant
        }
    }

    /// Starts scanning for `duration`, and repeats the scan in every `period`.
    ///
    /// If `duration` is `nil`, the scan continues until the host disables it. If `period` is `nil`, the scan is not
    /// repeated.
    mutating func enable(duration: Duration?, period: Duration?, at now: Instant) {
        state = .on(until: duration.map { now + $0 }, period: period)
        begin(at: now)
    }

    mutating func disable() {
        state = .off
        seen.removeAll()
    }

    enum OnExpire: Equatable { case nothing, timedOut, paused, resumed }

    /// Ends, pauses or resumes the scan if ``deadline`` has been reached.
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

    /// Returns the scan window in which a packet that starts at `instant` on the primary channel `channel` is received;
    /// `nil` if there is none.
    @inline(__always)
    func window(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> ScanWindow? {
        for index in windows.indices where windows[index].receives(channel, phy, at: instant) {
            return windows[index]
        }
        return nil
    }
}

/// The backoff of an active scanner, which keeps several scanners from sending their scan requests at the same time.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.2.
struct ScanBackoff: Sendable {
    private var upperLimit = 1
    private var count = 1
    private var successes = 0
    private var failures = 0

    /// Counts a received advertisement, and returns whether to send a scan request in response.
    mutating func countAdvertisement() -> Bool {
        count -= 1
        return count <= 0
    }

    /// Adjusts the backoff after a scan request; `answered` is true if the scanner has received a scan response.
    mutating func note(answered: Bool, random: inout SeededGenerator) {
        if answered {
            (successes, failures) = (successes + 1, 0)
            if successes == 2 { (upperLimit, successes) = (max(1, upperLimit / 2), 0) }
        } else {
            (successes, failures) = (0, failures + 1)
            if failures == 2 { (upperLimit, failures) = (min(256, upperLimit * 2), 0) }
        }
        count = 1 + Int(random.below(Int64(upperLimit)))
    }
}

/// The times and channels at which a receiver listens for advertisements on one PHY.
///
/// The receiver listens during one window in each interval, and moves to the next of the three primary channels after
/// each interval.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.
struct ScanWindow: Equatable, Sendable {
    let phy: AirPHY
    /// True if the receiver sends scan requests.
    let isActive: Bool
    /// The time from the start of one window to the start of the next, in nanoseconds.
    let interval: Int64
    /// The length of each window, in nanoseconds.
    let window: Int64
    var start: Instant

    /// Returns whether the receiver receives a packet that starts at `instant` on `channel`, 37 to 39.
    @inline(__always)
    func receives(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        let elapsed = instant.nanoseconds(since: start)
        guard elapsed >= 0, phy.number == self.phy.number else { return false }
        let (turn, offset) = elapsed.quotientAndRemainder(dividingBy: interval)
        return Int(turn % 3) == channel - 37 && offset < window
    }
}
