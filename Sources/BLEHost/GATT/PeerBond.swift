/// The stored data of a link's peer, if the peer is bonded.
///
/// Every change is reported with ``AttributeLayer/Output/bondChanged(_:_:)``, so that it can be saved.
struct PeerBond {
    /// The stored data; `nil` unless the peer is bonded or has the address of a bonded peer.
    private(set) var stored: Bond?
    /// True if the peer has proven the bond.
    ///
    /// While it is false, the stored data is only used to check signatures.
    private(set) var isProven = false

    /// Creates the state of a new link.
    ///
    /// `claimed` is the bond that is stored for the address of the link's peer. Until the peer has proven the bond,
    /// the peer may be another device that uses the same address.
    init(claimed: Bond? = nil) { stored = claimed }

    /// Records that the peer has proven the bond.
    mutating func prove(_ bond: Bond) {
        stored = bond
        isProven = true
    }

    /// Records that the bond with the peer no longer exists.
    mutating func forget() { self = PeerBond() }

    /// Changes the stored data of `peer`, and reports the new data if it differs from the old data.
    ///
    /// Has no effect if ``stored`` is `nil`.
    mutating func change(of peer: PeerIdentifier, into outbox: inout Outbox, _ body: (inout Bond) -> Void) {
        guard let old = stored else { return }
        var bond = old
        body(&bond)
        guard bond != old else { return }
        stored = bond
        outbox.append(.bondChanged(peer, bond))
    }
}
