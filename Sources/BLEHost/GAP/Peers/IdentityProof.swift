import BLECrypto
import BLEWire

/// How far the address that a peer had on the air proves the identity address that it sent when it paired.
///
/// A peer can send any address and any key. So an identity address counts only where the peer was reached at it, and
/// what is kept of other devices never depends on what a peer sends.
///
/// Core 6.0, Vol 3, Part C, 10.8.2.3; Part H, 3.6.4 and 3.6.5.
enum IdentityProof: Equatable, CaseIterable {
    /// The peer had that very address on the air.
    case shown
    /// The peer had a private address on the air that the key resolves: the key is its own, and the address may be.
    case resolved
    /// The peer had a private address on the air that the key does not resolve: neither can be its own.
    case contradicted
    /// The peer had another address on the air, which says nothing about the one that it sent.
    case none

    /// Compares what `bond` says of its peer with the address that the peer had on the air.
    init(of bond: Bond, on address: DeviceAddress) {
        let address = address.onAir
        if bond.identity.onAir == address {
            self = .shown
        } else if address.isResolvable, let key = bond.resolvingKey {
            self = PrivateAddress.isMade(address, with: key) ? .resolved : .contradicted
        } else {
            self = .none
        }
    }
}

extension Bond {
    /// The bond with only what the peer proved of its identity by the address that it had on the air.
    ///
    /// - Parameters:
    ///   - address: The address on the air when the devices paired.
    ///   - isTaken: Whether another peer is known at the identity address that this one sent, or claims it.
    ///   - isKeyTaken: Whether another peer is bonded with the same resolving key.
    /// - Returns: The bond, under the address on the air if nothing proves another, and without a key that is not the
    ///   peer's.
    func proved(on address: DeviceAddress, isTaken: Bool, isKeyTaken: Bool) -> Self {
        var bond = self
        switch IdentityProof(of: self, on: address) {
        case .shown: break
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
