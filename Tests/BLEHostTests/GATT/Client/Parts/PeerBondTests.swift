import BLEWire
import Testing

@testable import BLEHost

@Suite("Stored data of a link's peer")
struct PeerBondTests {
    static let peer = PeerIdentifier(rawValue: 7)
    static let known = Bond(identity: DeviceAddress(1, .public))
    static let cache = CachedDatabase(hash: 5, attributes: KnownAttributes())

    /// What the owner is told when this is changed so.
    private func told(_ bond: inout PeerBond, _ body: (inout Bond) -> Void) -> [AttributeLayer.Output] {
        var outbox = Outbox(), outputs: [AttributeLayer.Output] = []
        bond.change(of: Self.peer, into: &outbox, body)
        while let output = outbox.next() { outputs.append(output) }
        return outputs
    }

    @Test("Each change is reported for storage, and nothing else")
    func changing() {
        var bond = PeerBond(), changed = Self.known
        changed.database = Self.cache
        bond.prove(Self.known)
        #expect(told(&bond) { $0.database = Self.cache } == [.bondChanged(Self.peer, changed)])
        #expect(told(&bond) { $0.database = Self.cache }.isEmpty)
        #expect(told(&bond) { $0.database = nil } == [.bondChanged(Self.peer, Self.known)])
    }

    @Test("Nothing is stored for a peer without a bond")
    func strangers() {
        var bond = PeerBond()
        #expect(told(&bond) { $0.database = Self.cache }.isEmpty && bond.stored == nil)
    }

    @Test("A claimed bond is not proved until the peer has shown its key")
    func claiming() {
        var bond = PeerBond(claimed: Self.known)
        #expect(bond.stored == Self.known && !bond.isProven)
        bond.prove(Self.known)
        #expect(bond.isProven)
    }
}
