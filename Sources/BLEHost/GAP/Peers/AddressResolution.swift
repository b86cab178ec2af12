import BLECrypto
package import BLEWire

extension RememberedPeers {
    /// Which bonded peer has made this resolvable private address.
    ///
    /// Core 6.0, Vol 3, Part C, 10.8.2.3.
    package func owner(of address: DeviceAddress) -> PeerIdentifier? {
        guard address.isResolvable else { return nil }
        return first { bond in bond.resolvingKey.map { PrivateAddress.isMade(address, with: $0) } ?? false }
    }
}
