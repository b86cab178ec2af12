import BLEWire

/// The encryption state of one link, and the origin of its key.
///
///        ┌─────┐ a key was given ┌──────────┐ success ┌────┐
///        │ off │ ──────────────▶ │ starting │ ──────▶ │ on │ ─┐ another key, or the same again
///        └─────┘ ◀────────────── └──────────┘         └────┘ ◀┘
///                     failure
///
/// A link that was encrypted never counts as another: what can only be heard in the clear is heard no more.
/// Encryption that has started and comes to no end is given up: until it ends, nothing else passes on the link.
///
/// Core 6.0, Vol 3, Part C, 10.3; Vol 4, Part E, 7.7.8.
struct LinkEncryption: Equatable, Sendable {
    /// The origin of the key.
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
        /// The link is encrypted with this key, so the peer has it.
        case encrypted(Key)
        /// The link could not be encrypted with this key, and is unchanged.
        case failed(Key)
        /// The link is not encrypted any more, or with an unknown key: it must end.
        case broken
        /// The event was not expected.
        case unexpected
    }

    /// The shortest time that the controllers have to encrypt a link.
    static let patience = Duration.seconds(5)
    /// The connection events that they have for it, if those take longer.
    static let events = 10

    private var state = State.off

    /// The time that the controllers have to encrypt a link whose ends meet so often.
    static func patience(_ interval: ConnectionInterval?, _ latency: PeripheralLatency?) -> Duration {
        guard let interval else { return patience }
        return max(patience, interval.duration * (events * (1 + Int(latency?.wire ?? 0))))
    }

    /// When to call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? {
        if case .starting(_, _, let due) = state { due } else { nil }
    }

    /// The key that was given, as long as it is not known what came of that.
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

    /// The controller was given this key to encrypt with, and has until `due`.
    mutating func begin(with key: Key, until due: Instant) { state = .starting(key, isRefresh: isOn, due: due) }

    enum OnExpire: Equatable {
        /// The link could not be encrypted with this key in time, and must end.
        case overdue(Key)
        case nothing
    }

    /// The time has come.
    mutating func expire(at now: Instant) -> OnExpire {
        switch state {
        case .starting(let key, _, let due) where due <= now:
            state = .off
            return .overdue(key)
        case .off, .starting, .on: return .nothing
        }
    }

    /// Processes a change of the link's encryption, or its failure.
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
