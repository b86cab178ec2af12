import BLECrypto
package import BLEWire

extension KnownPeers {
    /// Returns the bonded peer whose IRK resolves this private address.
    ///
    /// - Returns: `nil` if the IRK of no peer resolves the address, or if those of several peers do.
    ///
    /// Core 6.0, Vol 3, Part C, 10.8.2.3.
    package func owner(of address: DeviceAddress) -> PeerIdentifier? {
        guard address.isResolvable else { return nil }
        return only { bond in bond.resolvingKey.map { RandomAddress.isMade(address, with: $0) } ?? false }
    }

    /// Returns whether a peer other than `peer` was reached at `address`, or has sent it as its identity address.
    func isTaken(_ address: DeviceAddress, from peer: PeerIdentifier) -> Bool {
        if let other = identifier(at: address), other != peer { return true }
        return first { $0.identifier != peer && $0.bond?.identity.onAir == address.onAir } != nil
    }

    /// Returns whether a peer other than `peer` is bonded with this IRK.
    func isTaken(_ key: Key128, from peer: PeerIdentifier) -> Bool {
        first { $0.identifier != peer && $0.bond?.resolvingKey == key } != nil
    }

    /// Returns the identity address to report for a bonded peer: the one in `bond`, or, if that may belong to another
    /// peer, the over-the-air address in `record`.
    func identity(of record: PeerRecord, _ bond: Bond) -> DeviceAddress {
        isTaken(bond.identity, from: record.identifier) ? record.address : bond.identity
    }

    /// Returns the entry for a bonded peer on the controller's resolving list; `nil` if the peer has no IRK, or shares
    /// it with another peer.
    ///
    /// A peer can send an identity address that belongs to another device. Until the peer was reached at the address
    /// that it sent, the list contains the peer under an address that is derived from `secret`, so that the controller
    /// does not mistake another device for the peer.
    func resolvablePeer(_ record: PeerRecord, secret: UInt128) -> LocalPrivacy.ResolvablePeer? {
        guard let key = record.bond?.resolvingKey, !isTaken(key, from: record.identifier) else { return nil }
        return .init(identity: record.listedAddress(secret: secret), key: key)
    }
}

extension PeerRecord {
    /// Returns the address that identifies the peer on the controller's resolving list: its proved identity address, or
    /// a placeholder that is derived from `secret`.
    func listedAddress(secret: UInt128) -> DeviceAddress {
        provedIdentity ?? HostIdentity.placeholder(for: identifier.rawValue, secret: secret)
    }
}
