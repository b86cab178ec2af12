import BLEHost
import BLEWire
import Testing

@testable import BLERuntime

@Suite("Changes to a peer's record")
struct PeerChangeTests {
    private static let address = DeviceAddress(0xC0FF_EE00_0001, .random)

    private static func record(_ name: String? = nil, advertised: String? = nil, _ bond: Bond? = nil) -> PeerRecord {
        let identifier = PeerIdentifier(rawValue: 1)
        return PeerRecord(identifier: identifier, address: address, name: name, advertisedName: advertised, bond: bond)
    }

    /// The bond of a pairing, with what was learnt since.
    private static func bond(
        _ key: UInt128,
        features: ClientFeatures = [],
        next: UInt32? = nil,
        hash: UInt128? = nil
    ) -> Bond {
        var bond = Bond(identity: address, longTermKey: LongTermKey(key: Key128(wire: key)))
        bond.client.features = features
        if let next { bond.remoteSigning = RemoteSigning(key: .zero, nextCounter: next) }
        bond.database = hash.flatMap { hash in
            KnownAttributes(services: [], includes: [], declarations: [], types: [], status: .init())
                .map { CachedDatabase(hash: hash, attributes: $0) }
        }
        return bond
    }

    @Test("A changed name replaces only that name")
    func names() {
        let change = PeerChange(from: Self.record("Tea"), to: Self.record("Coffee"))
        #expect(change.applied(to: nil) == Self.record("Coffee"))
        #expect(change.applied(to: Self.record("Milk", advertised: "M")) == Self.record("Coffee", advertised: "M"))
        let other = PeerChange(from: Self.record("Tea"), to: Self.record("Tea", advertised: "T"))
        #expect(other.applied(to: Self.record("Milk", advertised: "M")) == Self.record("Milk", advertised: "T"))
    }

    @Test("A change from a process that does not know a bond does not remove it")
    func unknownBond() {
        let stored = Self.record("Tea", Self.bond(1))
        #expect(PeerChange(from: nil, to: Self.record()).applied(to: stored) == stored)
        let renamed = PeerChange(from: Self.record("Tea"), to: Self.record("Coffee")).applied(to: stored)
        #expect(renamed == Self.record("Coffee", Self.bond(1)))
    }

    @Test("Of two pairings the one stored last wins, with nothing of the other")
    func pairings() {
        let old = Self.bond(1), new = Self.bond(2, features: .robustCaching)
        let paired = PeerChange(from: Self.record(old), to: Self.record(new))
        #expect(paired.applied(to: Self.record(Self.bond(3, next: 9))).bond == new)
        #expect(paired.applied(to: Self.record()).bond == new)
        let learnt = PeerChange(from: Self.record(old), to: Self.record(Self.bond(1, features: .robustCaching)))
        #expect(learnt.applied(to: Self.record(new)).bond == new)
    }

    @Test("A bond that another process removed stays removed, unless the devices paired again")
    func removed() {
        let learnt = Self.record(Self.bond(1, features: .robustCaching))
        #expect(PeerChange(from: Self.record(Self.bond(1)), to: learnt).applied(to: Self.record()).bond == nil)
        let gone = PeerChange(from: Self.record(Self.bond(1)), to: Self.record())
        #expect(gone.applied(to: learnt).bond == nil)
    }

    @Test("Two processes' changes to one bond are merged, and no counter goes back")
    func memories() {
        let before = Self.record(Self.bond(1, next: 5))
        let configured = PeerChange(from: before, to: Self.record(Self.bond(1, features: .robustCaching, next: 8)))
        let stored = Self.record(Self.bond(1, next: 12, hash: 7))
        #expect(configured.applied(to: stored).bond == Self.bond(1, features: .robustCaching, next: 12, hash: 7))
        #expect(configured.applied(to: before).bond == Self.bond(1, features: .robustCaching, next: 8))
        var spent = Self.bond(1)
        spent.remoteSigning = RemoteSigning(key: .zero, nextCounter: nil)
        #expect(configured.applied(to: Self.record(spent)).bond?.remoteSigning?.nextCounter == nil)
    }

    @Test("Two processes that pair with one peer on two adapters keep both bonds, and each removes only its own")
    func adapters() {
        let adapters = [DeviceAddress(1, .public), DeviceAddress(2, .public)]
        let paired = adapters.map { adapter in
            var bond = Self.bond(UInt128(adapter.value))
            bond.adapter = adapter
            return Self.record(bond)
        }
        let first = PeerChange(from: Self.record(), to: paired[0]).applied(to: nil)
        let both = PeerChange(from: Self.record(), to: paired[1]).applied(to: first)
        #expect(both.bonds == paired.flatMap(\.bonds) && both.bond == nil)
        #expect(adapters.map { both.selectingBond(for: $0).bond } == paired.map(\.bond))
        #expect(PeerChange(from: paired[0], to: Self.record()).applied(to: both).bonds == paired[1].bonds)
    }

    @Test("A bond with an unknown adapter is assigned to the adapter on which its key was used")
    func adopted() {
        let old = Self.record(Self.bond(1))
        var known = Self.bond(1)
        known.adapter = DeviceAddress(1, .public)
        let stored = PeerChange(from: old, to: Self.record(known)).applied(to: old)
        #expect(stored.bonds == [known] && stored.bond == nil)
    }

    @Test("New peers and bonds are urgent, names and use are not")
    func urgency() {
        #expect(PeerChange(from: nil, to: Self.record()).urgency == .soon)
        #expect(PeerChange(from: Self.record(), to: Self.record(Self.bond(1))).urgency == .soon)
        #expect(PeerChange(from: Self.record(), to: Self.record("Tea")).urgency == .later)
        #expect(PeerChange(from: Self.record(), to: Self.record()).urgency == .later)
    }

    private static func record(_ bond: Bond) -> PeerRecord { record(nil, bond) }
    private static func record(_ name: String?, _ bond: Bond) -> PeerRecord { record(name, advertised: nil, bond) }
}
