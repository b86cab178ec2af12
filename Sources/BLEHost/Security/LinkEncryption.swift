import BLEWire

/// The encryption state of one link, and the origin of its key.
///
///        ┌─────┐ a key was given ┌──────────┐ success ┌────┐
///        │ off │ ──────────────▶ │ starting │ ──────▶ │ on │ ─┐ another key, or the same again
///        └─────┘ ◀────────────── └──────────┘         └────┘ ◀┘
///                     failure
///
/// A link that has been encrypted never becomes unencrypted again: if its encryption fails, the link must end. A link
/// must also end if its encryption has started but does not complete in time, because no other data pass on the link
/// until it is encrypted.
///
/// Core 6.0, Vol 3, Part C, 10.3; Vol 4, Part E, 7.7.8.
struct LinkEncryption: Equatable, Sendable {
    /// The origin of the link's key.
    enum Key: Equatable, Sendable {
        /// An earlier pairing with the peer.
        case bond
        /// The current pairing.
        case pairing
    }

    private enum State: Equatable, Sendable {
        case off
        case starting(Key, isRefresh: Bool, due: Instant)
        case on(Key)
    }

    /// The consequence of an event from the controller.
    enum OnChange: Equatable {
        /// The link is encrypted with the key from this origin, so the peer has the key.
        case encrypted(Key)
        /// The link could not be encrypted with the key from this origin, and remains unencrypted.
        case failed(Key)
        /// The link is no longer encrypted, or its key is unknown: it must end.
        case broken
        /// The event was not expected.
        case unexpected
    }

    /// The minimum time that the controllers get to encrypt a link.
    static let minimumTimeout = Duration.seconds(5)
    /// The minimum number of connection events that the controllers get to encrypt a link.
    static let events = 10

    private var state = State.off

    /// Returns the time that the controllers get to encrypt a link with the connection interval `interval` and the
    /// peripheral latency `latency`.
    ///
    /// If `interval` is `nil`, the result is ``minimumTimeout``.
    static func timeout(_ interval: ConnectionInterval?, _ latency: PeripheralLatency?) -> Duration {
        guard let interval else { return minimumTimeout }
        return max(minimumTimeout, interval.duration * (events * (1 + Int(latency?.wire ?? 0))))
    }

    /// The time at which to call ``expire(at:)`` unless the controller reports a result first.
    var deadline: Instant? {
        if case .starting(_, _, let due) = state { due } else { nil }
    }

    /// The origin of the key with which the controller is starting or refreshing encryption; `nil` if it is doing
    /// neither.
    var startingKey: Key? {
        if case .starting(let key, _, _) = state { key } else { nil }
    }

    /// True if a key was passed to the controller and the result is outstanding.
    var isStarting: Bool { if case .starting = state { true } else { false } }

    var isOn: Bool {
        switch state {
        case .on, .starting(_, isRefresh: true, _): true
        case .off, .starting: false
        }
    }

    /// Records that the controller was given the key from this origin, and has until `due` to encrypt the link with it.
    mutating func begin(with key: Key, until due: Instant) { state = .starting(key, isRefresh: isOn, due: due) }

    enum OnExpire: Equatable {
        /// The link could not be encrypted in time with the key from this origin, and must end.
        case overdue(Key)
        case nothing
    }

    /// Gives up if the link has not been encrypted in time.
    mutating func expire(at now: Instant) -> OnExpire {
        switch state {
        case .starting(let key, _, let due) where due <= now:
            state = .off
            return .overdue(key)
        case .off, .starting, .on: return .nothing
        }
    }

    /// Processes the controller's report that the link's encryption has changed, or could not be changed.
    ///
    /// `isOn` is true if the link is encrypted now.
    mutating func changed(_ status: HCI.Status, isOn: Bool) -> OnChange {
        switch (state, status) {
        case (.starting(let key, _, _), .success) where isOn:
            state = .on(key)
            return .encrypted(key)
        case (.on(let key), .success) where isOn: return .encrypted(key)
        case (.starting(let key, isRefresh: false, _), let status) where status != .success:
            state = .off
            return .failed(key)
        case (.off, let status) where status != .success: return .unexpected
        case (.off, .success) where !isOn: return .unexpected
        case (.off, _), (.starting, _), (.on, _):
            state = .off
            return .broken
        }
    }
}
