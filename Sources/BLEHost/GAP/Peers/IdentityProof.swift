import BLECrypto
import BLEWire

/// The degree to which the over-the-air address of a peer proves the identity address that the peer sent during
/// pairing.
///
/// A peer can send any address and any key. So its identity address counts only if the peer was reached at it. What
/// this host stores about other devices never depends on what the peer sends.
///
/// Core 6.0, Vol 3, Part C, 10.8.2.3; Part H, 3.6.4 and 3.6.5.
enum IdentityProof: Equatable, CaseIterable {
    /// The peer used its identity address as its over-the-air address.
    case usedAsAddress
    /// The peer used a private address that its IRK resolves: the IRK belongs to the peer, and the identity address
    /// may, too.
    case resolved
    /// The peer used a private address that its IRK does not resolve: neither the IRK nor the identity address can
    /// belong to the peer.
    case contradicted
    /// The peer used another address, which says nothing about the identity address.
    case none

    /// Compares the identity in `bond` with the over-the-air address of the peer.
    init(of bond: Bond, on address: DeviceAddress) {
        let address = address.onAir
        if bond.identity.onAir == address {
            self = .usedAsAddress
        } else if address.isResolvable, let key = bond.resolvingKey {
            self = RandomAddress.isMade(address, with: key) ? .resolved : .contradicted
        } else {
            self = .none
        }
    }
}

extension Bond {
    /// Returns the bond, with only as much of the peer's identity as its over-the-air address proves.
    ///
    /// - Parameters:
    ///   - address: The over-the-air address of the peer during pairing.
    ///   - isTaken: True if another peer was reached at the identity address in this bond, or has sent the same
    ///     address.
    ///   - isKeyTaken: True if another peer is bonded with the same IRK.
    /// - Returns: The bond. Its identity address is the over-the-air address, unless the identity address that the peer
    ///   sent is proved. It has no IRK if the IRK that the peer sent may belong to another peer.
    func proved(on address: DeviceAddress, isTaken: Bool, isKeyTaken: Bool) -> Self {
        var bond = self
        switch IdentityProof(of: self, on: address) {
        case .usedAsAddress: break
        case .resolved: if isTaken { bond.identity = address.onAir }
        case .none: bond.identity = address.onAir
        case .contradicted:
            bond.identity = address.onAir
            bond.resolvingKey = nil
        }
        if isKeyTaken { bond.resolvingKey = nil }
        return bond
    }
}
