import BLECrypto
package import BLEWire

extension KnownPeers {
    /// The bonded peer whose resolving key made this private address.
    ///
    /// - Returns: `nil` if no key made it. Several keys that made it prove nothing, so that is `nil` as well.
    ///
    /// Core 6.0, Vol 3, Part C, 10.8.2.3.
    package func owner(of address: DeviceAddress) -> PeerIdentifier? {
        guard address.isResolvable else { return nil }
        return only { bond in bond.resolvingKey.map { PrivateAddress.isMade(address, with: $0) } ?? false }
    }

    /// Returns whether a peer other than `peer` was reached at `address`, or has claimed it as its identity.
    func isTaken(_ address: DeviceAddress, from peer: PeerIdentifier) -> Bool {
        if let other = identifier(at: address), other != peer { return true }
        return first { $0.identifier != peer && $0.bond?.identity.onAir == address.onAir } != nil
    }

    /// Returns whether a peer other than `peer` is bonded with this resolving key.
    func isTaken(_ key: Key128, from peer: PeerIdentifier) -> Bool {
        first { $0.identifier != peer && $0.bond?.resolvingKey == key } != nil
    }

    /// The identity address to show for a bonded peer: one that it claims only as long as no other peer is known there.
    func identity(of record: PeerRecord, _ bond: Bond) -> DeviceAddress {
        isTaken(bond.identity, from: record.identifier) ? record.address : bond.identity
    }

    /// How the controller's resolving list names a bonded peer with a key of its own; `nil` for others.
    ///
    /// The address that a peer sent and has not shown may be that of another device, which the controller must not take
    /// for the peer. So an address made of `secret` stands for such a peer.
    func resolvablePeer(_ record: PeerRecord, secret: UInt128) -> LocalPrivacy.ResolvablePeer? {
        guard let key = record.bond?.resolvingKey, !isTaken(key, from: record.identifier) else { return nil }
        return .init(identity: record.listedAddress(secret: secret), key: key)
    }
}

extension PeerRecord {
    /// The address that stands for the peer on the controller's resolving list.
    func listedAddress(secret: UInt128) -> DeviceAddress {
        provedIdentity ?? HostIdentity.placeholder(for: identifier.rawValue, secret: secret)
    }
}
