import BLECrypto
import BLEWire

/// The resolving list of a controller: the peers with their IRKs, and the private addresses that the controller
/// generates.
///
/// An address is generated when it is first needed. When the timeout expires, the addresses that were used during that
/// time are replaced, and the others are dropped.
///
/// Core 6.0, Vol 6, Part B, 1.3.2.2, 1.3.2.3, 4.7 and 6; Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77.
struct ResolvingList: Sendable {
    /// The kind of a key: each entry has two keys, and both can generate addresses.
    enum Key: Sendable {
        /// The local IRK, which generates addresses of this controller.
        case local
        /// The peer's IRK, which generates target addresses for directed advertisements.
        case peer
    }

    private struct GeneratedAddress: Sendable {
        let address: DeviceAddress
        var isUsed: Bool
    }

    private struct Entry: Sendable {
        let identity: DeviceAddress
        let peerKey: Key128
        let localKey: Key128
        var usesDevicePrivacy = false
        var local: GeneratedAddress?
        var target: GeneratedAddress?
        /// The private address last received from the peer; `nil` if none was received yet.
        var lastReceived: DeviceAddress?
    }

    static let capacity = 16

    private var entries: [Entry] = []
    /// True if the controller resolves the private addresses that it receives.
    private(set) var isEnabled = false
    private var timeout = PrivateAddressTimeout.standard
    /// The time from which the lifetime of the current addresses counts; `nil` if there are none.
    private var since: Instant?

    /// The time at which the current addresses expire; `nil` if there are none.
    var deadline: Instant? { since.map { $0 + timeout.duration } }

    enum OnAdd: Equatable {
        case added
        case full
        /// The peer or its key is already on the list.
        case duplicate
        /// The address is neither public nor random static, so it cannot be an identity address.
        case noIdentity
    }

    /// Adds a peer, in network privacy mode.
    ///
    /// A key that consists of zeros stands for no key.
    mutating func add(_ identity: DeviceAddress, peerKey: Key128, localKey: Key128) -> OnAdd {
        guard identity.kind == .public || identity.kind == .random && identity.randomKind == .static else {
            return .noIdentity
        }
        let isKnown = entries.contains { entry in
            entry.identity == identity || peerKey != .zero && entry.peerKey == peerKey
        }
        if isKnown { return .duplicate }
        guard entries.count < Self.capacity else { return .full }
        entries.append(Entry(identity: identity, peerKey: peerKey, localKey: localKey))
        return .added
    }

    /// Removes a peer; returns false if the peer is not on the list.
    mutating func remove(_ identity: DeviceAddress) -> Bool {
        guard let index = index(of: identity) else { return false }
        entries.remove(at: index)
        return true
    }

    mutating func removeAll() { entries.removeAll() }

    /// Sets the privacy mode of a peer; returns false if the peer is not on the list.
    ///
    /// `device` is true for device privacy mode, in which the peer may also use its identity address.
    mutating func setPrivacy(_ identity: DeviceAddress, device: Bool) -> Bool {
        guard let index = index(of: identity) else { return false }
        entries[index].usesDevicePrivacy = device
        return true
    }

    /// Enables or disables address resolution.
    mutating func enable(_ isEnabled: Bool) { self.isEnabled = isEnabled }

    /// Sets the lifetime of private addresses, including the current ones.
    mutating func replaceAddresses(every timeout: PrivateAddressTimeout) { self.timeout = timeout }

    /// Resolves a received address.
    ///
    /// - Returns: The identity address that `address` resolves to, with the kind that marks it as resolved; `address`
    ///   itself if it does not resolve; `nil` if the sender must be ignored, because the peer is required to use
    ///   private addresses and has used its identity address.
    mutating func recognize(_ address: DeviceAddress) -> DeviceAddress? {
        guard isEnabled, !entries.isEmpty else { return address }
        if let index = entries.firstIndex(where: { $0.identity == address }) {
            return entries[index].peerKey == .zero || entries[index].usesDevicePrivacy ? address : nil
        }
        guard address.isResolvable, let index = source(of: address) else { return address }
        entries[index].lastReceived = address
        return entries[index].identity.resolved
    }

    /// Returns whether the target of an advertisement is a private address that was generated with a local key.
    func isOwn(_ target: DeviceAddress) -> Bool {
        guard isEnabled, target.isResolvable else { return false }
        return entries.contains { $0.localKey != .zero && RandomAddress.isMade(target, with: $0.localKey) }
    }

    /// Returns whether the list has a local key for a peer; the controller can then use private addresses with the
    /// peer.
    func hasLocalKey(for identity: DeviceAddress) -> Bool {
        entries.contains { $0.identity == identity && $0.localKey != .zero }
    }

    /// Returns the current private address for a peer; `nil` if the peer is not on the list or its key of kind `key` is
    /// zero.
    ///
    /// If there is no address yet, generates it with that key.
    mutating func address(
        with key: Key,
        for identity: DeviceAddress,
        at now: Instant,
        using random: inout SeededGenerator
    ) -> DeviceAddress? {
        guard let index = index(of: identity) else { return nil }
        switch key {
        case .local: Self.use(&entries[index].local, entries[index].localKey, &random)
        case .peer: Self.use(&entries[index].target, entries[index].peerKey, &random)
        }
        guard let made = key == .local ? entries[index].local : entries[index].target else { return nil }
        if since == nil { since = now }
        return made.address
    }

    /// Returns the private address that the controller currently uses with a peer; `nil` if there is none.
    func localAddress(for identity: DeviceAddress) -> DeviceAddress? {
        index(of: identity).flatMap { entries[$0].local?.address }
    }

    /// Returns the private address that was last received from a peer.
    ///
    /// If none was received, returns the private address that the controller has generated as a target address for the
    /// peer; `nil` if there is none.
    func peerAddress(of identity: DeviceAddress) -> DeviceAddress? {
        index(of: identity).flatMap { entries[$0].lastReceived ?? entries[$0].target?.address }
    }

    enum OnExpire: Equatable { case nothing, replaced }

    /// Replaces the current addresses if they have expired.
    mutating func expire(at now: Instant, using random: inout SeededGenerator) -> OnExpire {
        guard let deadline, deadline <= now else { return .nothing }
        for index in entries.indices {
            Self.replace(&entries[index].local, entries[index].localKey, &random)
            Self.replace(&entries[index].target, entries[index].peerKey, &random)
        }
        since = entries.contains { $0.local != nil || $0.target != nil } ? now : nil
        return .replaced
    }

    private static func use(_ made: inout GeneratedAddress?, _ key: Key128, _ random: inout SeededGenerator) {
        guard key != .zero else { return }
        let address = made?.address ?? RandomAddress.makeResolvable(key: key, using: &random)
        made = GeneratedAddress(address: address, isUsed: true)
    }

    private static func replace(_ made: inout GeneratedAddress?, _ key: Key128, _ random: inout SeededGenerator) {
        guard let old = made else { return }
        made = nil
        guard old.isUsed else { return }
        made = GeneratedAddress(address: RandomAddress.makeResolvable(key: key, using: &random), isUsed: false)
    }

    private func index(of identity: DeviceAddress) -> Int? { entries.firstIndex { $0.identity == identity } }

    /// Returns the index of the peer whose key resolves `address`; `nil` if there is none.
    ///
    /// The address last received from each peer is compared first, because that needs no computation.
    private func source(of address: DeviceAddress) -> Int? {
        entries.firstIndex { $0.lastReceived == address }
            ?? entries.firstIndex { $0.peerKey != .zero && RandomAddress.isMade(address, with: $0.peerKey) }
    }
}

extension DeviceAddress {
    /// True for an identity address that the controller has resolved from a private address.
    var isResolved: Bool { kind == .publicIdentity || kind == .randomIdentity }

    /// This address with the kind of an identity address that was resolved from a private address.
    var resolved: Self { Self(value, onAir.kind == .public ? .publicIdentity : .randomIdentity) }
}
