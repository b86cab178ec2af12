import BLECrypto
import BLEWire

/// Keeps this host private: gives it another address from time to time, and its controller the keys of friends.
///
///        ┌──────┐ too old, or another list ┌─────────┐ step ┌──────┐
///        │ idle │ ───────────────────────▶ │ resting │ ───▶ │ busy │
///        └──────┘                          └─────────┘      └──────┘
///           ▲ ────────────────── answer ────────────────────────┘
///
/// The address and the list of friends may change only while nobody advertises, scans or initiates. Whoever drives the
/// radio brings it to rest while ``needsRest(at:)``, and asks for steps when it is.
///
/// Strangers see the address that is made here. Towards a friend on the list the controller makes one by itself, and it
/// tells who is behind the address of a friend. Friends for whom it has no room are known by the host alone.
///
/// Core 6.0, Vol 3, Part C, 10.7; Vol 4, Part E, 7.8.4, 7.8.38 to 7.8.45 and 7.8.77.
struct LocalPrivacy {
    /// How long to wait after the controller refused an address.
    static let retryInterval = Duration.seconds(1)

    /// A bonded peer that makes its addresses with a key.
    struct Friend: Equatable {
        /// The address that stands for the peer on the resolving list.
        let identity: DeviceAddress
        let key: Key128
    }

    enum Step: Equatable {
        case address(DeviceAddress)
        /// Says how long the controller is to use the addresses that it makes.
        case lifetime(PrivateAddressTimeout)
        case add(Friend)
        case remove(Friend)
        /// Lets a friend use its identity address as well.
        case admit(DeviceAddress)
        case resolve
    }

    private enum State {
        case idle(notBefore: Instant?)
        /// Something is to change, and the radio is on its way to rest.
        case resting
        case busy(Step)
    }

    private var state = State.idle(notBefore: nil)
    private var random: any RandomNumberGenerator & Sendable
    private let lifetime: PrivateAddressTimeout
    /// What the addresses of this host are made with.
    private(set) var key = Key128.zero
    /// The address of this host; `nil` until the controller has one.
    private(set) var address: DeviceAddress?
    private var since = Instant()
    /// For how many friends the controller has room; 0 if it resolves no addresses.
    private(set) var capacity = 0
    private var wanted: [Friend] = []
    private var listed: [Friend] = []
    /// The friends on the list that may use their identity addresses.
    private var admitted: [DeviceAddress] = []
    /// Those whom the controller does not take.
    private var refused: [DeviceAddress] = []
    private var knowsLifetime = false
    /// Whether the controller resolves addresses.
    private(set) var isResolving = false
    /// Which state of the bonds ``know(_:revision:)`` was told of last; `nil` for none.
    private(set) var revision: Int?

    /// - Parameters:
    ///   - lifetime: How long an address is used.
    ///   - random: Where addresses come from.
    init(lifetime: PrivateAddressTimeout, random: any RandomNumberGenerator & Sendable) {
        self.lifetime = lifetime
        self.random = random
    }

    /// When to call ``needsRest(at:)``, if nothing happens before.
    var deadline: Instant? {
        guard case .idle(let notBefore) = state else { return nil }
        return notBefore ?? address.map { _ in since + lifetime.duration }
    }

    /// The controller was reset.
    ///
    /// - Parameters:
    ///   - key: What the addresses of this host are made with.
    ///   - capacity: How many friends the controller can know by their keys.
    mutating func reset(key: Key128, capacity: Int) {
        self = Self(lifetime: lifetime, random: random)
        self.key = key
        self.capacity = capacity
    }

    /// These are the friends, those that matter most first, as of a state of the bonds.
    mutating func know(_ friends: [Friend], revision: Int) {
        wanted = friends
        self.revision = revision
    }

    /// Whether the controller knows a peer by its key, and tells who is behind its addresses.
    func lists(_ identity: DeviceAddress) -> Bool { isResolving && admitted.contains(identity.onAir) }

    /// Whether the radio has to be at rest, since something is to change, or there is no address yet.
    mutating func needsRest(at now: Instant) -> Bool {
        switch state {
        case .busy: return true
        case .idle(let notBefore?) where now < notBefore: return address == nil
        case .idle, .resting:
            let isNeeded = isOutdated(at: now) || listStep != nil
            state = isNeeded ? .resting : .idle(notBefore: nil)
            return isNeeded
        }
    }

    /// Returns the next command, now that the radio is at rest; `nil` if one is under way or none is needed.
    mutating func step(at now: Instant) -> Step? {
        switch state {
        case .busy: return nil
        case .idle(let notBefore?) where now < notBefore: return nil
        case .idle, .resting: break
        }
        let next = isOutdated(at: now) ? Step.address(makeAddress()) : listStep
        if let next { state = .busy(next) }
        return next
    }

    private func isOutdated(at now: Instant) -> Bool { address == nil || since + lifetime.duration <= now }

    private mutating func makeAddress() -> DeviceAddress {
        var generator = Generator(base: random)
        defer { random = generator.base }
        return PrivateAddress.makeResolvable(key: key, using: &generator)
    }

    /// What leads to a list of those who are wanted.
    private var listStep: Step? {
        let friends = wanted.filter { !refused.contains($0.identity) }.prefix(capacity)
        if let former = listed.first(where: { !friends.contains($0) }) { return .remove(former) }
        guard !friends.isEmpty else { return nil }
        if !knowsLifetime { return .lifetime(lifetime) }
        if let new = friends.first(where: { !listed.contains($0) }) { return .add(new) }
        if let strict = listed.first(where: { !admitted.contains($0.identity) }) { return .admit(strict.identity) }
        return isResolving ? nil : .resolve
    }

    /// What the answer to a command means for others.
    enum OnAnswer: Equatable {
        case proceed
        /// This host has another address.
        case addressChanged
        /// The controller may know others by their keys than before.
        case friendsChanged
    }

    /// The command that is under way was answered.
    mutating func answered(_ status: HCI.Status, at now: Instant) -> OnAnswer {
        guard case .busy(let step) = state else { return .proceed }
        state = .idle(notBefore: nil)
        switch step {
        case .address(let address):
            guard status == .success else {
                state = .idle(notBefore: now + Self.retryInterval)
                return .proceed
            }
            self.address = address
            since = now
            return .addressChanged
        case .lifetime: knowsLifetime = true
        case .add(let friend):
            switch status {
            case .success: listed.append(friend)
            case .memoryCapacityExceeded: capacity = listed.count
            default: refused.append(friend.identity)
            }
        case .remove(let friend):
            listed.removeAll { $0 == friend }
            admitted.removeAll { $0 == friend.identity }
        case .admit(let identity):
            if status == .success { admitted.append(identity) } else { refused.append(identity) }
        case .resolve:
            isResolving = status == .success
            if !isResolving { capacity = 0 }
        }
        return .friendsChanged
    }
}

/// A generator of any kind where one of a kind is asked for.
private struct Generator: RandomNumberGenerator {
    var base: any RandomNumberGenerator & Sendable
    mutating func next() -> UInt64 { base.next() }
}
