import BLEWire

/// The controller's connection attempt, which serves all clients that wait for a connection.
///
///        ┌──────┐ create ┌──────────┐ accepted ┌────────────┐ cancel ┌────────────┐ completion, event
///        │ idle │ ─────▶ │ creating │ ───────▶ │ initiating │ ─────▶ │ cancelling │ ──────▶ idle
///        └──────┘        └──────────┘          └────────────┘        └────────────┘
///           ▲ ────────── connected, or failed ────────┘
///
/// If there is only one peer, the command to create the connection names it. Several peers are added to the filter
/// accept list before the command is sent. When the set of peers changes, the current attempt is cancelled and a new
/// one is started.
///
/// Core 6.0, Vol 4, Part E, 7.8.12, 7.8.13, 7.8.15 to 7.8.17 and 7.8.66.
struct Initiator {
    /// The wait between a failed attempt and the next one.
    static let retryInterval = Duration.milliseconds(100)
    /// The maximum wait for the controller to end an attempt after it has accepted the cancellation.
    static let cancellationTimeout = Duration.seconds(2)
    /// The time for which the same peers stay in the filter accept list if the list has no room for all peers.
    static let turn = Duration.seconds(5)

    enum Target: Equatable {
        case peer(DeviceAddress)
        case acceptList([DeviceAddress])
    }

    enum Step: Equatable {
        case add(DeviceAddress), remove(DeviceAddress), create(Target, from: OwnAddressKind?), cancel
    }

    private enum State {
        case idle(notBefore: Instant?)
        /// The filter accept list is being changed.
        case editing(Step)
        /// The command to create the connection is pending.
        case creating(Target)
        case initiating(Target, since: Instant)
        /// The cancel command is pending, and the attempt has not ended yet.
        case cancelling
        /// The controller has accepted the cancellation, but the attempt has not ended yet.
        case ending(due: Instant)
        /// The attempt has ended, but the command that started or cancelled it is still pending.
        case ended
    }

    private var state = State.idle(notBefore: nil)
    /// The contents of the controller's filter accept list.
    private var accepted: [DeviceAddress] = []
    /// The position in ``wanted`` of the first peer that is in the filter accept list during this turn.
    ///
    /// The offset only increases; it is taken modulo the number of peers.
    private var offset = 0
    private var capacity = 0

    /// The addresses of the peers to connect to, in the order of the requests.
    var wanted: [DeviceAddress] = []
    /// The kind of address for the next attempt; `nil` for the host's default.
    var ownAddress: OwnAddressKind?
    /// The kind of address that the current or last attempt uses; `nil` for the host's default.
    private(set) var usedAddress: OwnAddressKind?

    /// True if the next attempt should ask for the short connection interval (``FastStart``).
    var prefersShortInterval = false
    /// True if the current or last attempt asks for the short connection interval.
    private(set) var usesShortInterval = false
    /// True if the controller has rejected an attempt with the short interval; the next attempt uses the usual
    /// interval.
    private var rejectsShortInterval = false

    /// True if the controller is trying to connect, or a command to start or cancel an attempt is pending.
    var isActive: Bool {
        switch state {
        case .creating, .initiating, .cancelling, .ending, .ended: true
        case .idle, .editing: false
        }
    }

    /// True if the filter accept list has no room for all peers.
    var exceedsAcceptList: Bool { wanted.count > max(capacity, 1) }

    /// The time to call ``expire(at:)`` and request the next step; `nil` if nothing is due.
    var deadline: Instant? {
        switch state {
        case .idle(let notBefore): wanted.isEmpty ? nil : notBefore
        case .initiating(_, let since): exceedsAcceptList ? since + Self.turn : nil
        case .ending(let due): due
        case .editing, .creating, .cancelling, .ended: nil
        }
    }

    /// Gives up an attempt if the controller has accepted its cancellation, but has not ended it in time.
    ///
    /// Returns `true` if there is such an attempt.
    ///
    /// If the controller still reports a connection later, that connection is accepted like any other.
    mutating func expire(at now: Instant) -> Bool {
        guard case .ending(let due) = state, due <= now else { return false }
        state = .idle(notBefore: nil)
        return true
    }

    /// Records that the controller was reset.
    ///
    /// Its filter accept list is empty and has room for `capacity` peers.
    mutating func reset(capacity: Int) {
        self = Initiator()
        self.capacity = capacity
    }

    /// Returns the next command; `nil` if one is pending or none is needed.
    mutating func step(at now: Instant) -> Step? {
        switch state {
        case .idle(let notBefore?) where now < notBefore: return nil
        case .idle: return begin()
        case .initiating(let current, let since):
            if exceedsAcceptList, since + Self.turn <= now { offset &+= max(capacity, 1) }
            guard current != target else { return nil }
            state = .cancelling
            return .cancel
        case .editing, .creating, .cancelling, .ending, .ended: return nil
        }
    }

    private mutating func begin() -> Step? {
        guard let target else { return nil }
        switch target {
        case .peer: break
        case .acceptList(let peers):
            let surplus = accepted.first { !peers.contains($0) }.map(Step.remove)
            if let edit = surplus ?? peers.first(where: { !accepted.contains($0) }).map(Step.add) {
                state = .editing(edit)
                return edit
            }
        }
        state = .creating(target)
        usedAddress = ownAddress
        usesShortInterval = prefersShortInterval && !rejectsShortInterval
        return .create(target, from: ownAddress)
    }

    /// The peers that the controller should try to connect to now; `nil` if there are none.
    private var target: Target? {
        guard let first = wanted.first else { return nil }
        guard wanted.count > 1 else { return .peer(first) }
        guard exceedsAcceptList else { return .acceptList(wanted) }
        let turn = (0..<max(capacity, 1)).map { wanted[(offset &+ $0) % wanted.count] }
        return turn.count == 1 ? .peer(turn[0]) : .acceptList(turn)
    }

    /// The effect of a completed command on the waiting clients.
    enum OnAnswer: Equatable {
        case proceed
        /// The controller rejected the connection attempt.
        case refused(HCI.Status)
    }

    /// Processes the completion of the pending command.
    mutating func answered(_ status: HCI.Status, at now: Instant) -> OnAnswer {
        switch state {
        case .editing(.add(let address)):
            if status == .success { accepted.append(address) } else { capacity = accepted.count }
            state = .idle(notBefore: nil)
        case .editing(.remove(let address)):
            accepted.removeAll { $0 == address }
            state = .idle(notBefore: nil)
        case .creating(let target):
            guard status == .success else {
                // A controller with many links may have no room for a short interval, or may not support it.
                rejectsShortInterval = usesShortInterval
                state = .idle(notBefore: usesShortInterval ? nil : now + Self.retryInterval)
                return usesShortInterval ? .proceed : .refused(status)
            }
            state = .initiating(target, since: now)
        case .cancelling:
            // A refusal means that there is nothing to cancel: the attempt has ended, and the controller has reported
            // its end or is about to.
            state =
                status == .success
                ? .ending(due: now + Self.cancellationTimeout) : .idle(notBefore: now + Self.retryInterval)
        case .ended: state = .idle(notBefore: nil)
        case .editing(.create), .editing(.cancel), .idle, .initiating, .ending: break
        }
        return .proceed
    }

    /// Records that the attempt ended, with or without a connection.
    ///
    /// Returns `false` if there was no attempt.
    mutating func completed(_ status: HCI.Status, at now: Instant) -> Bool {
        switch state {
        case .initiating:
            state = .idle(notBefore: status == .success ? nil : now + Self.retryInterval)
        case .ending: state = .idle(notBefore: nil)
        case .creating, .cancelling: state = .ended
        case .idle, .editing, .ended: return false
        }
        return true
    }
}
