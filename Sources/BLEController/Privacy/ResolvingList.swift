import BLECrypto
import BLEWire

/// The devices that a board knows by their keys: it tells who is behind a private address, and makes private addresses
/// to speak to them with.
///
/// An address is made when it is used first. When the timeout is over, those that were used since are replaced, and the
/// others forgotten.
///
/// Core 6.0, Vol 6, Part B, 1.3.2.2, 1.3.2.3, 4.7 and 6; Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77.
struct ResolvingList: Sendable {
    /// Which of its two keys an entry makes an address with.
    enum Key: Sendable {
        /// Ours: the address is one of this board.
        case local
        /// The peer's: the address is one for directed advertisements to it.
        case peer
    }

    private struct Made: Sendable {
        let address: DeviceAddress
        var isUsed: Bool
    }

    private struct Entry: Sendable {
        let identity: DeviceAddress
        let peerKey: Key128
        let localKey: Key128
        var usesDevicePrivacy = false
        var local: Made?
        var target: Made?
        /// The private address under which the peer was heard last.
        var heard: DeviceAddress?
    }

    static let capacity = 16

    private var entries: [Entry] = []
    /// Whether private addresses that are heard are resolved.
    private(set) var isEnabled = false
    private var timeout = PrivateAddressTimeout.standard
    /// When the addresses in use were made; `nil` if there are none.
    private var since: Instant?

    /// When ``expire(at:using:)`` replaces the addresses in use.
    var deadline: Instant? { since.map { $0 + timeout.duration } }

    enum OnAdd: Equatable {
        case added
        case full
        /// The peer, or its key, is on the list already.
        case duplicate
        /// Nobody can have this identity.
        case noIdentity
    }

    /// Adds a peer in network privacy mode; a key of zeros is none.
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

    /// Removes a peer; false if it is not on the list.
    mutating func remove(_ identity: DeviceAddress) -> Bool {
        guard let index = index(of: identity) else { return false }
        entries.remove(at: index)
        return true
    }

    mutating func removeAll() { entries.removeAll() }

    /// Says whether a peer with a key may use its identity address, too; false if it is not on the list.
    mutating func setPrivacy(_ identity: DeviceAddress, device: Bool) -> Bool {
        guard let index = index(of: identity) else { return false }
        entries[index].usesDevicePrivacy = device
        return true
    }

    /// Begins or ends to resolve addresses.
    mutating func enable(_ isEnabled: Bool) { self.isEnabled = isEnabled }

    /// Changes how long an address is used, also of those in use.
    mutating func replaceAddresses(every timeout: PrivateAddressTimeout) { self.timeout = timeout }

    /// Who a peer is that was heard under `address`.
    ///
    /// - Returns: The identity that the address resolves to, of a kind that says so, or the address itself; `nil` if
    ///   the peer has to use private addresses, and did not: it is to be ignored.
    mutating func recognize(_ address: DeviceAddress) -> DeviceAddress? {
        guard isEnabled, !entries.isEmpty else { return address }
        if let index = entries.firstIndex(where: { $0.identity == address }) {
            return entries[index].peerKey == .zero || entries[index].usesDevicePrivacy ? address : nil
        }
        guard address.isResolvable, let index = source(of: address) else { return address }
        entries[index].heard = address
        return entries[index].identity.resolved
    }

    /// Whether `target`, for which an advertisement is, is an address that was made with a key of ours.
    func isOwn(_ target: DeviceAddress) -> Bool {
        guard isEnabled, target.isResolvable else { return false }
        return entries.contains { $0.localKey != .zero && PrivateAddress.isMade(target, with: $0.localKey) }
    }

    /// Whether this board uses private addresses towards a peer, if its host wants that.
    func hasLocalKey(for identity: DeviceAddress) -> Bool {
        entries.contains { $0.identity == identity && $0.localKey != .zero }
    }

    /// The private address in use towards a peer, made if there is none yet; `nil` without a key.
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

    /// The private address that this board uses towards a peer, if it does.
    func localAddress(for identity: DeviceAddress) -> DeviceAddress? {
        index(of: identity).flatMap { entries[$0].local?.address }
    }

    /// The private address that a peer uses: the one under which it was heard last, or else the one it is called with.
    func peerAddress(of identity: DeviceAddress) -> DeviceAddress? {
        index(of: identity).flatMap { entries[$0].heard ?? entries[$0].target?.address }
    }

    enum OnExpire: Equatable { case nothing, replaced }

    /// Replaces the addresses in use if it is time.
    mutating func expire(at now: Instant, using random: inout SeededGenerator) -> OnExpire {
        guard let deadline, deadline <= now else { return .nothing }
        for index in entries.indices {
            Self.replace(&entries[index].local, entries[index].localKey, &random)
            Self.replace(&entries[index].target, entries[index].peerKey, &random)
        }
        since = entries.contains { $0.local != nil || $0.target != nil } ? now : nil
        return .replaced
    }

    private static func use(_ made: inout Made?, _ key: Key128, _ random: inout SeededGenerator) {
        guard key != .zero else { return }
        let address = made?.address ?? PrivateAddress.makeResolvable(key: key, using: &random)
        made = Made(address: address, isUsed: true)
    }

    private static func replace(_ made: inout Made?, _ key: Key128, _ random: inout SeededGenerator) {
        guard let old = made else { return }
        made = nil
        guard old.isUsed else { return }
        made = Made(address: PrivateAddress.makeResolvable(key: key, using: &random), isUsed: false)
    }

    private func index(of identity: DeviceAddress) -> Int? { entries.firstIndex { $0.identity == identity } }

    /// The peer whose key made `address`; the one that was heard under it before takes no computing.
    private func source(of address: DeviceAddress) -> Int? {
        entries.firstIndex { $0.heard == address }
            ?? entries.firstIndex { $0.peerKey != .zero && PrivateAddress.isMade(address, with: $0.peerKey) }
    }
}

extension DeviceAddress {
    /// Whether this is what a private address was resolved to.
    var isResolved: Bool { kind == .publicIdentity || kind == .randomIdentity }

    /// The identity address of which a private one was heard.
    var resolved: Self { Self(value, onAir.kind == .public ? .publicIdentity : .randomIdentity) }
}
