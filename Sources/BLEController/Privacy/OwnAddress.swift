import BLEWire

/// The address that a controller uses to advertise, scan or connect.
struct OwnAddress: Equatable, Sendable {
    /// The over-the-air address.
    let onAir: DeviceAddress
    /// The public or random address that the host chose for the activity; `nil` if the host chose the random address
    /// but has not set it.
    let identity: DeviceAddress?

    /// True if the controller generated ``onAir``.
    var isPrivate: Bool { onAir != identity }
}

extension VirtualController {
    /// Returns the public or random address for the HCI own address type `kind`; `nil` if the host has not set the
    /// random address.
    func identityAddress(_ kind: UInt8) -> DeviceAddress? { kind & 1 == 0 ? identity.address : randomAddress }

    /// Returns the public or random address of an advertising set; `nil` if the host has not set the random address.
    ///
    /// The controller's own random address applies only to the set of the legacy commands.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.4 and 7.8.56.
    func identityAddress(of set: AdvertisingSet) -> DeviceAddress? {
        guard generation == .extended, set.ownAddressKind & 1 != 0 else { return identityAddress(set.ownAddressKind) }
        return set.randomAddress
    }

    /// Returns whether the controller has an address of the HCI own address type `kind` to use with `peer`, or with all
    /// devices if `peer` is `nil`.
    func hasOwnAddress(_ kind: UInt8, to peer: DeviceAddress?) -> Bool {
        hasOwnAddress(kind, to: peer, identity: identityAddress(kind))
    }

    /// Returns whether the controller has an address of the HCI own address type `kind` to use with `peer`, or with all
    /// devices if `peer` is `nil`.
    ///
    /// `identity` is the address to use if the controller generates no private address.
    func hasOwnAddress(_ kind: UInt8, to peer: DeviceAddress?, identity: DeviceAddress?) -> Bool {
        if identity != nil { return true }
        guard kind & 2 != 0, let peer else { return false }
        return resolvingList.hasLocalKey(for: peer.onAir)
    }

    /// Returns the address of the HCI own address type `kind` to use with `peer`; `nil` if there is none.
    ///
    /// `identity` is the address to use if the controller generates no private address.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5, 7.8.10 and 7.8.12.
    mutating func ownAddress(
        _ kind: UInt8,
        to peer: DeviceAddress,
        identity: DeviceAddress?,
        at now: Instant
    ) -> OwnAddress? {
        if kind & 2 != 0,
            let made = resolvingList.address(with: .local, for: peer.onAir, at: now, using: &random)
        {
            return OwnAddress(onAir: made, identity: identity)
        }
        return identity.map { OwnAddress(onAir: $0, identity: $0) }
    }

    /// Returns the target address for a directed advertisement to `peer`: a private address if the resolving list has
    /// the peer's key.
    ///
    /// Core 6.0, Vol 6, Part B, 6.2.2.
    mutating func targetAddress(_ peer: DeviceAddress, at now: Instant) -> DeviceAddress {
        resolvingList.address(with: .peer, for: peer.onAir, at: now, using: &random) ?? peer.onAir
    }
}
