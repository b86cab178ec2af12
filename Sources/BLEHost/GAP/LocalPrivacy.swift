import BLECrypto
import BLEWire

/// The privacy of this host: its changing address, and the controller's resolving list.
///
///        ┌──────┐ address expired, or list changed ┌─────────┐ step ┌──────┐
///        │ idle │ ───────────────────────────────▶ │ pausing │ ───▶ │ busy │
///        └──────┘                                  └─────────┘      └──────┘
///           ▲ ────────────────── completion ──────────────────────────┘
///
/// The address and the list can change only while the host neither advertises, scans nor initiates connections. The
/// caller pauses these activities while ``needsPause(at:)`` returns `true`, and requests steps when they have stopped.
///
/// Devices that are not on the resolving list see the address that this type generates. For a peer on the list, the
/// controller generates the host's address and resolves the peer's addresses. If the list has no room for a peer, the
/// host resolves the peer's addresses.
///
/// Core 6.0, Vol 3, Part C, 10.7; Vol 4, Part E, 7.8.4, 7.8.38 to 7.8.45 and 7.8.77.
struct LocalPrivacy {
    /// The wait before trying again after the controller has rejected an address.
    static let retryInterval = Duration.seconds(1)

    /// A bonded peer with an IRK.
    struct ResolvablePeer: Equatable {
        /// The address that identifies the peer on the resolving list.
        let identity: DeviceAddress
        let key: Key128
    }

    enum Step: Equatable {
        case address(DeviceAddress)
        /// Sets the time for which the controller uses a private address before it generates a new one.
        case lifetime(PrivateAddressTimeout)
        case add(ResolvablePeer)
        case remove(ResolvablePeer)
        /// Makes the controller accept the peer's identity address as well as its private addresses.
        case setDevicePrivacyMode(DeviceAddress)
        case resolve
    }

    private enum State {
        case idle(notBefore: Instant?)
        /// The address or the resolving list must change, and the caller is pausing the radio's activities for that.
        case pausing
        case busy(Step)
    }

    private var state = State.idle(notBefore: nil)
    private var random: any RandomNumberGenerator & Sendable
    private let lifetime: PrivateAddressTimeout
    /// The local IRK.
    private(set) var key = Key128.zero
    /// The current private address; `nil` before the controller has accepted one.
    private(set) var address: DeviceAddress?
    private var since = Instant()
    /// The maximum number of peers on the resolving list; 0 if the controller does not resolve addresses.
    private(set) var capacity = 0
    private var wanted: [ResolvablePeer] = []
    private var listed: [ResolvablePeer] = []
    /// The identity addresses of the listed peers that are in device privacy mode.
    ///
    /// The controller accepts packets from these peers even if the packets contain the identity address.
    private var inDevicePrivacyMode: [DeviceAddress] = []
    /// The peers that the controller refused to add to the list.
    private var refused: [DeviceAddress] = []
    private var knowsLifetime = false
    /// True if the controller resolves addresses.
    private(set) var isResolving = false
    /// The revision of the bonds that was last passed to ``setResolvablePeers(_:revision:)``; `nil` if there was none.
    private(set) var revision: Int?

    /// Creates the state before the first reset.
    ///
    /// - Parameters:
    ///   - lifetime: The time for which a private address is used.
    ///   - random: The generator of random numbers for addresses.
    init(lifetime: PrivateAddressTimeout, random: any RandomNumberGenerator & Sendable) {
        self.lifetime = lifetime
        self.random = random
    }

    /// The time to call ``needsPause(at:)`` next; `nil` if nothing is due.
    var deadline: Instant? {
        guard case .idle(let notBefore) = state else { return nil }
        return notBefore ?? address.map { _ in since + lifetime.duration }
    }

    /// Records that the controller was reset.
    ///
    /// - Parameters:
    ///   - key: The local IRK.
    ///   - capacity: The maximum number of peers on the controller's resolving list.
    mutating func reset(key: Key128, capacity: Int) {
        self = Self(lifetime: lifetime, random: random)
        self.key = key
        self.capacity = capacity
    }

    /// Sets the bonded peers that have an IRK, the most important ones first.
    ///
    /// `revision` identifies this state of the bonds.
    mutating func setResolvablePeers(_ resolvablePeers: [ResolvablePeer], revision: Int) {
        wanted = resolvablePeers
        self.revision = revision
    }

    /// Returns whether the controller resolves the private addresses of the peer whose identity address on the
    /// resolving list is `identity`.
    func resolvesAddresses(of identity: DeviceAddress) -> Bool {
        isResolving && inDevicePrivacyMode.contains(identity.onAir)
    }

    /// Returns whether the caller has to pause advertising, scanning and initiating, because the address or the
    /// resolving list must change, or because there is no address yet.
    mutating func needsPause(at now: Instant) -> Bool {
        switch state {
        case .busy: return true
        case .idle(let notBefore?) where now < notBefore: return address == nil
        case .idle, .pausing:
            let isNeeded = isOutdated(at: now) || listStep != nil
            state = isNeeded ? .pausing : .idle(notBefore: nil)
            return isNeeded
        }
    }

    /// Returns the next command; `nil` if one is pending or none is needed.
    ///
    /// Call it only while advertising, scanning and initiating are paused.
    mutating func step(at now: Instant) -> Step? {
        switch state {
        case .busy: return nil
        case .idle(let notBefore?) where now < notBefore: return nil
        case .idle, .pausing: break
        }
        let next = isOutdated(at: now) ? Step.address(makeAddress()) : listStep
        if let next { state = .busy(next) }
        return next
    }

    private func isOutdated(at now: Instant) -> Bool { address == nil || since + lifetime.duration <= now }

    private mutating func makeAddress() -> DeviceAddress {
        var generator = Generator(base: random)
        defer { random = generator.base }
        return RandomAddress.makeResolvable(key: key, using: &generator)
    }

    /// The next command that brings the list up to date; `nil` if the list is up to date.
    private var listStep: Step? {
        let resolvablePeers = wanted.filter { !refused.contains($0.identity) }.prefix(capacity)
        if let former = listed.first(where: { !resolvablePeers.contains($0) }) { return .remove(former) }
        guard !resolvablePeers.isEmpty else { return nil }
        if !knowsLifetime { return .lifetime(lifetime) }
        if let new = resolvablePeers.first(where: { !listed.contains($0) }) { return .add(new) }
        if let strict = listed.first(where: { !inDevicePrivacyMode.contains($0.identity) }) {
            return .setDevicePrivacyMode(strict.identity)
        }
        return isResolving ? nil : .resolve
    }

    /// The change that a completed command has made.
    enum OnAnswer: Equatable {
        case proceed
        /// The host's private address has changed.
        case addressChanged
        /// The resolving list may have changed.
        case resolvablePeersChanged
    }

    /// Processes the completion of the pending command.
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
        case .add(let resolvablePeer):
            switch status {
            case .success: listed.append(resolvablePeer)
            case .memoryCapacityExceeded: capacity = listed.count
            default: refused.append(resolvablePeer.identity)
            }
        case .remove(let resolvablePeer):
            listed.removeAll { $0 == resolvablePeer }
            inDevicePrivacyMode.removeAll { $0 == resolvablePeer.identity }
        case .setDevicePrivacyMode(let identity):
            if status == .success { inDevicePrivacyMode.append(identity) } else { refused.append(identity) }
        case .resolve:
            isResolving = status == .success
            if !isResolving { capacity = 0 }
        }
        return .resolvablePeersChanged
    }
}

/// A type-erased random number generator.
private struct Generator: RandomNumberGenerator {
    var base: any RandomNumberGenerator & Sendable
    mutating func next() -> UInt64 { base.next() }
}
