/// What is kept of the peer of a link.
///
/// Whoever stores it is told of every change with the change itself.
struct PeerBond {
    /// `nil` unless the peer is bonded, or claims to be.
    private(set) var kept: Bond?
    /// Whether the peer has shown that it is the one that the bond is with; until then, the bond is good for nothing
    /// but to check signatures.
    private(set) var isProven = false

    /// Creates what a link begins with: the bond with the peer whose address this one has, which anybody can have.
    init(claimed: Bond? = nil) { kept = claimed }

    /// The peer has shown that the bond is with it.
    mutating func prove(_ bond: Bond) {
        kept = bond
        isProven = true
    }

    /// There is no bond with the peer any more: nothing is kept.
    mutating func forget() { self = PeerBond() }

    /// Changes what is kept of `peer`, and has it stored if it is another then.
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
