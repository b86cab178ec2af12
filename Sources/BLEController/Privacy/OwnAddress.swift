import BLEWire

/// The address that a controller uses for an activity.
struct OwnAddress: Equatable, Sendable {
    /// The address on the air.
    let onAir: DeviceAddress
    /// The public or random address behind a private one; `nil` if the host set none.
    let identity: DeviceAddress?

    /// True if the controller generated the address.
    var isPrivate: Bool { onAir != identity }
}

extension VirtualController {
    /// Returns the public or random address for an HCI own address type; `nil` if it was not set.
    func identityAddress(_ kind: UInt8) -> DeviceAddress? { kind & 1 == 0 ? identity.address : randomAddress }

    /// Returns the public or random address of an advertising set; `nil` if it was not set.
    ///
    /// The random address of the controller applies only to the set of legacy commands.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.4 and 7.8.56.
    func identityAddress(of set: AdvertisingSet) -> DeviceAddress? {
        guard generation == .extended, set.ownAddressKind & 1 != 0 else { return identityAddress(set.ownAddressKind) }
        return set.randomAddress
    }

    /// Returns whether there is an address for an HCI own address type with `peer`, or with any device if that is
    /// `nil`.
    func hasOwnAddress(_ kind: UInt8, to peer: DeviceAddress?) -> Bool {
        hasOwnAddress(kind, to: peer, identity: identityAddress(kind))
    }

    /// Returns whether there is an address for an HCI own address type with `peer`, or with any device if that is
    /// `nil`.
    ///
    /// `identity` is the address where no private one is generated.
    func hasOwnAddress(_ kind: UInt8, to peer: DeviceAddress?, identity: DeviceAddress?) -> Bool {
        if identity != nil { return true }
        guard kind & 2 != 0, let peer else { return false }
        return resolvingList.hasLocalKey(for: peer.onAir)
    }

    /// Returns the address for an HCI own address type with `peer`; `nil` if none was set.
    ///
    /// `identity` is the address where no private one is generated.
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

    /// Returns the target address for a directed advertisement to `peer`.
    ///
    /// Core 6.0, Vol 6, Part B, 6.2.2.
    mutating func targetAddress(_ peer: DeviceAddress, at now: Instant) -> DeviceAddress {
        resolvingList.address(with: .peer, for: peer.onAir, at: now, using: &random) ?? peer.onAir
    }
}
