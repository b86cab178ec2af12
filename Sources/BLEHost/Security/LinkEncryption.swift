import BLEWire

/// How far the encryption of one link is, and whose key it is done with.
///
///        ┌─────┐ a key was given ┌──────────┐ success ┌────┐
///        │ off │ ──────────────▶ │ starting │ ──────▶ │ on │ ─┐ another key, or the same again
///        └─────┘ ◀────────────── └──────────┘         └────┘ ◀┘
///                     failure
///
/// A link that was encrypted never counts as another: what can only be heard in the clear is heard no more.
///
/// Core 6.0, Vol 3, Part C, 10.3; Vol 4, Part E, 7.7.8.
struct LinkEncryption: Equatable, Sendable {
    /// Where the key is from.
    enum Key: Equatable, Sendable {
        /// An earlier pairing with the peer.
        case bond
        /// The pairing that is under way.
        case pairing
    }

    private enum State: Equatable, Sendable {
        case off
        case starting(Key, isRefresh: Bool)
        case on(Key)
    }

    /// What follows from what the controller says.
    enum OnChange: Equatable {
        /// The link is encrypted with this key: the peer has it.
        case encrypted(Key)
        /// The link could not be encrypted with this key, and is as it was.
        case failed(Key)
        /// The link is not encrypted any more, or by a key that nobody gave: it must end.
        case broken
        /// Nothing was to be expected.
        case unexpected
    }

    private var state = State.off

    /// Whether a key was given, and it is not known yet what came of that.
    var isStarting: Bool { if case .starting = state { true } else { false } }

    var isOn: Bool {
        switch state {
        case .on, .starting(_, isRefresh: true): true
        case .off, .starting: false
        }
    }

    /// The controller was given this key to encrypt with.
    mutating func begin(with key: Key) { state = .starting(key, isRefresh: isOn) }

    /// The controller has changed the encryption of the link, or cannot.
    mutating func changed(_ status: HCI.Status, isOn: Bool) -> OnChange {
        switch (state, status) {
        case (.starting(let key, _), .success) where isOn:
            state = .on(key)
            return .encrypted(key)
        case (.on(let key), .success) where isOn: return .encrypted(key)
        case (.starting(let key, isRefresh: false), let status) where status != .success:
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
