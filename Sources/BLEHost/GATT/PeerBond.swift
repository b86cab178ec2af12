/// The stored data of a link's peer.
///
/// Every change is reported to be saved.
struct PeerBond {
    /// `nil` unless the peer is bonded, or has the address of a bonded one.
    private(set) var kept: Bond?
    /// True if the peer has proven the bond.
    ///
    /// Until then, the bond is only used to check signatures.
    private(set) var isProven = false

    /// Creates the state of a new link, with the bond of the peer that has this address, which any device can use.
    init(claimed: Bond? = nil) { kept = claimed }

    /// Records that the peer has proven the bond.
    mutating func prove(_ bond: Bond) {
        kept = bond
        isProven = true
    }

    /// Records that there is no bond with the peer any more.
    mutating func forget() { self = PeerBond() }

    /// Changes the stored data of `peer`, and reports them if they differ.
    ///
    /// Does nothing if the peer is not bonded.
    mutating func change(of peer: PeerIdentifier, into outbox: inout Outbox, _ body: (inout Bond) -> Void) {
        guard let old = kept else { return }
        var bond = old
        body(&bond)
        guard bond != old else { return }
        kept = bond
        outbox.append(.bondChanged(peer, bond))
    }
}
