import BLECrypto
import BLEWire
import Testing

@testable import BLEController

/// Core 6.0, Vol 6, Part B, 1.3.2, 4.7 and 6.
@Suite("Resolving list")
struct ResolvingListTests {
    static let peer = DeviceAddress(0xC0DE_0000_0001, .public)
    static let peerKey = Key128(wire: 11), localKey = Key128(wire: 22)

    private static func list(
        peerKey: Key128 = peerKey,
        localKey: Key128 = localKey,
        isEnabled: Bool = true
    ) -> ResolvingList {
        var list = ResolvingList()
        _ = list.add(peer, peerKey: peerKey, localKey: localKey)
        list.enable(isEnabled)
        return list
    }

    private static func privateAddress(_ key: Key128, seed: UInt64 = 1) -> DeviceAddress {
        var random = SeededGenerator(seed: seed)
        return RandomAddress.makeResolvable(key: key, using: &random)
    }

    static let additions: [(identity: DeviceAddress, peerKey: Key128, outcome: ResolvingList.OnAdd)] = [
        (peer, Key128(wire: 1), .duplicate),
        (DeviceAddress(peer.value, .random), Key128(wire: 1), .added),
        (DeviceAddress(0xC0DE_0000_0002, .public), peerKey, .duplicate),
        (DeviceAddress(0xC0DE_0000_0002, .public), Key128(wire: 1), .added),
        (DeviceAddress(0, .public), .zero, .added),
        (DeviceAddress(0x40DE_0000_0002, .random), Key128(wire: 1), .noIdentity),
        (DeviceAddress(0x00DE_0000_0002, .random), Key128(wire: 1), .noIdentity),
        (DeviceAddress(0xC0DE_0000_0002, .publicIdentity), Key128(wire: 1), .noIdentity),
        (DeviceAddress(0xC0DE_0000_0002, .anonymous), Key128(wire: 1), .noIdentity),
    ]

    @Test(
        "The list holds each identity and each IRK once, and only valid identity addresses",
        arguments: additions.indices
    )
    func adding(index: Int) {
        var list = Self.list()
        let (identity, key, outcome) = Self.additions[index]
        let isAdded = list.add(identity, peerKey: key, localKey: .zero)
        #expect(isAdded == outcome)
    }

    @Test("Peers without an IRK do not count, and the list holds sixteen peers")
    func capacity() {
        var list = ResolvingList()
        for index in UInt64(0)..<17 {
            let isAdded = list.add(DeviceAddress(index, .public), peerKey: .zero, localKey: Self.localKey)
            #expect(isAdded == (index < 16 ? .added : .full))
        }
        let isRemoved = list.remove(DeviceAddress(3, .public)), isRemovedAgain = list.remove(DeviceAddress(3, .public))
        #expect(isRemoved && !isRemovedAgain)
        let isAdded = list.add(DeviceAddress(16, .public), peerKey: .zero, localKey: .zero)
        #expect(isAdded == .added)
    }

    /// Whether the peer has a key, whether addresses are resolved, and in which mode; then what becomes of the peer's
    /// private address, of its identity, and of the private address of somebody else.
    static let modes: [(hasKey: Bool, isEnabled: Bool, isDevice: Bool, resolves: Bool, accepts: Bool)] = [
        (true, true, false, true, false), (true, true, true, true, true), (true, false, false, false, true),
        (true, false, true, false, true), (false, true, false, false, true), (false, true, true, false, true),
    ]

    @Test(
        "Recognition of an address depends on the IRK, the privacy mode, and whether resolution is on",
        arguments: modes.indices
    )
    func recognition(index: Int) {
        let (hasKey, isEnabled, isDevice, resolves, accepts) = Self.modes[index]
        var list = Self.list(peerKey: hasKey ? Self.peerKey : .zero, isEnabled: isEnabled)
        let isListed = list.setPrivacy(Self.peer, device: isDevice)
        #expect(isListed)
        let address = Self.privateAddress(Self.peerKey), strange = Self.privateAddress(Key128(wire: 99))
        let resolved = DeviceAddress(Self.peer.value, .publicIdentity)
        for _ in 0..<2 {
            let (first, second, third) = (list.recognize(address), list.recognize(Self.peer), list.recognize(strange))
            #expect(first == (resolves ? resolved : address))
            #expect(second == (accepts ? Self.peer : nil))
            #expect(third == strange)
        }
        #expect(list.peerAddress(of: Self.peer) == (resolves ? address : nil))
    }

    @Test("An address resolves only if it is of the resolvable kind and the IRK is not zero")
    func resolvable() {
        var list = Self.list(peerKey: .zero, localKey: .zero)
        let zero = Self.privateAddress(.zero), ours = Self.privateAddress(Self.localKey)
        let isKept = list.recognize(zero) == zero
        #expect(isKept && !list.isOwn(zero))
        var other = Self.list()
        let address = Self.privateAddress(Self.peerKey), asPublic = DeviceAddress(address.value, .public)
        let isPublic = other.recognize(asPublic) == asPublic
        #expect(isPublic && other.isOwn(ours) && !other.isOwn(address))
        #expect(!other.isOwn(DeviceAddress(ours.value, .public)))
        other.enable(false)
        #expect(!other.isOwn(ours))
    }

    @Test(
        "An address is generated once with the requested IRK, and lasts until the timeout",
        arguments: UInt64(0)..<16
    )
    func rotation(seed: UInt64) throws {
        var list = Self.list(), random = SeededGenerator(seed: seed)
        #expect(list.deadline == nil && list.localAddress(for: Self.peer) == nil)
        let start = Instant() + .seconds(5)
        let local = list.address(with: .local, for: Self.peer, at: start, using: &random)
        let target = list.address(with: .peer, for: Self.peer, at: start + .seconds(9), using: &random)
        let again = list.address(with: .local, for: Self.peer, at: start + .seconds(9), using: &random)
        let (first, second) = try (#require(local), #require(target))
        #expect(again == first && list.localAddress(for: Self.peer) == first)
        #expect(RandomAddress.isMade(first, with: Self.localKey) && RandomAddress.isMade(second, with: Self.peerKey))
        let deadline = start + .seconds(900)
        #expect(list.deadline == deadline)
        let early = list.expire(at: deadline + -1, using: &random)
        #expect(early == .nothing && list.localAddress(for: Self.peer) == first)
        let due = list.expire(at: deadline, using: &random)
        let next = try #require(list.localAddress(for: Self.peer))
        #expect(due == .replaced && next != first && RandomAddress.isMade(next, with: Self.localKey))
        #expect(list.peerAddress(of: Self.peer) != second && list.deadline == deadline + .seconds(900))
    }

    @Test("An address that is no longer used is forgotten, and the deadline is cleared")
    func disuse() {
        var list = Self.list(), random = SeededGenerator(seed: 1)
        _ = list.address(with: .local, for: Self.peer, at: Instant(), using: &random)
        _ = list.expire(at: Instant() + .seconds(900), using: &random)
        #expect(list.localAddress(for: Self.peer) != nil)
        _ = list.expire(at: Instant() + .seconds(1_800), using: &random)
        #expect(list.localAddress(for: Self.peer) == nil && list.deadline == nil)
    }

    @Test("A new timeout applies to the addresses in use")
    func timeout() throws {
        var list = Self.list(), random = SeededGenerator(seed: 1)
        _ = list.address(with: .local, for: Self.peer, at: Instant(), using: &random)
        list.replaceAddresses(every: try #require(PrivateAddressTimeout(wire: 1)))
        #expect(list.deadline == Instant() + .seconds(1))
    }

    @Test("Without an IRK no address is generated", arguments: [ResolvingList.Key.local, .peer])
    func keyless(key: ResolvingList.Key) {
        var list = Self.list(peerKey: .zero, localKey: .zero), random = SeededGenerator(seed: 1)
        let none = list.address(with: key, for: Self.peer, at: Instant(), using: &random)
        let stranger = DeviceAddress(0xC0DE_0000_0009, .public)
        let nobody = list.address(with: key, for: stranger, at: Instant(), using: &random)
        #expect(none == nil && nobody == nil && list.deadline == nil && !list.hasLocalKey(for: Self.peer))
    }
}
