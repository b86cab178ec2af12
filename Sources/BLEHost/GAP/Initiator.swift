import BLEWire

/// The one attempt of the controller to connect to somebody, on behalf of everybody who waits for a connection.
///
///        ┌──────┐ create ┌──────────┐ accepted ┌────────────┐ cancel ┌────────────┐ answer, event
///        │ idle │ ─────▶ │ creating │ ───────▶ │ initiating │ ─────▶ │ cancelling │ ──────▶ idle
///        └──────┘        └──────────┘          └────────────┘        └────────────┘
///           ▲ ─────────────── a connection, or none ──┘
///
/// One peer is named in the command; several are put into the accept list before. An attempt that is under way is
/// cancelled when the peers change, and begun again with the new ones.
///
/// Core 6.0, Vol 4, Part E, 7.8.12, 7.8.13, 7.8.15 to 7.8.17 and 7.8.66.
struct Initiator {
    /// How long to wait after an attempt came to nothing.
    static let retryInterval = Duration.milliseconds(100)
    /// How long the controller may take to end an attempt that it agreed to cancel.
    static let patience = Duration.seconds(2)
    /// For how long the accept list holds the same peers, if it has no room for all.
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
        /// The accept list is being changed.
        case editing(Step)
        /// The controller has not answered the command yet.
        case creating(Target)
        case initiating(Target, since: Instant)
        /// Neither the answer to the cancellation nor the end of the attempt has come.
        case cancelling
        /// The cancellation is accepted, and the end of the attempt is due.
        case ending(due: Instant)
        /// The attempt has ended, and only an answer is to come.
        case ended
    }

    private var state = State.idle(notBefore: nil)
    /// What the controller's accept list holds.
    private var accepted: [DeviceAddress] = []
    /// How many peers have had their turn in the accept list.
    private var offset = 0
    private var capacity = 0

    /// The peers to connect to, in the order in which clients asked for them.
    var wanted: [DeviceAddress] = []
    /// Which address to show them from the next attempt on; what this host shows otherwise if `nil`.
    var ownAddress: OwnAddressKind?
    /// Which address the attempt that is under way, or was last, shows.
    private(set) var shownAddress: OwnAddressKind?

    /// Whether the controller tries to connect, or is about to.
    var isActive: Bool {
        switch state {
        case .creating, .initiating, .cancelling, .ending, .ended: true
        case .idle, .editing: false
        }
    }

    /// Whether not all peers have room in the accept list.
    var isCrowded: Bool { wanted.count > max(capacity, 1) }

    /// When to ask for the next step, or call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? {
        switch state {
        case .idle(let notBefore): wanted.isEmpty ? nil : notBefore
        case .initiating(_, let since): isCrowded ? since + Self.turn : nil
        case .ending(let due): due
        case .editing, .creating, .cancelling, .ended: nil
        }
    }

    /// Counts an attempt as over that the controller agreed to cancel and never ended; `true` if there is one.
    ///
    /// Links are worth more than the truth about it: a connection that comes after all is taken like any other.
    mutating func expire(at now: Instant) -> Bool {
        guard case .ending(let due) = state, due <= now else { return false }
        state = .idle(notBefore: nil)
        return true
    }

    /// The controller was reset; its accept list is empty and has room for `capacity` peers.
    mutating func reset(capacity: Int) {
        self = Initiator()
        self.capacity = capacity
    }

    /// Returns the command that leads toward what is wanted, unless one is under way or none is needed.
    mutating func step(at now: Instant) -> Step? {
        switch state {
        case .idle(let notBefore?) where now < notBefore: return nil
        case .idle: return begin()
        case .initiating(let current, let since):
            if isCrowded, since + Self.turn <= now { offset &+= max(capacity, 1) }
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
        shownAddress = ownAddress
        return .create(target, from: ownAddress)
    }

    /// Whom the controller should try to connect to now.
    private var target: Target? {
        guard let first = wanted.first else { return nil }
        guard wanted.count > 1 else { return .peer(first) }
        guard isCrowded else { return .acceptList(wanted) }
        let turn = (0..<max(capacity, 1)).map { wanted[(offset &+ $0) % wanted.count] }
        return turn.count == 1 ? .peer(turn[0]) : .acceptList(turn)
    }

    /// What the answer to a command means for those who wait.
    enum OnAnswer: Equatable {
        case proceed
        /// The controller does not even try.
        case refused(HCI.Status)
    }

    /// The command that is under way was answered.
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
                state = .idle(notBefore: now + Self.retryInterval)
                return .refused(status)
            }
            state = .initiating(target, since: now)
        case .cancelling:
            // Refused: there is nothing to cancel, so the attempt's end has been reported or is on its way.
            state = status == .success ? .ending(due: now + Self.patience) : .idle(notBefore: now + Self.retryInterval)
        case .ended: state = .idle(notBefore: nil)
        case .editing(.create), .editing(.cancel), .idle, .initiating, .ending: break
        }
        return .proceed
    }

    /// The attempt has ended, with a connection or without; `false` if there was none.
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
