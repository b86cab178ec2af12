import BLEWire

/// The address under which a board takes part in something.
struct OwnAddress: Equatable, Sendable {
    /// What it says on the air.
    let onAir: DeviceAddress
    /// The public or random address that a private one stands for; `nil` if its host gave it none.
    let identity: DeviceAddress?

    /// Whether the board made the address itself.
    var isPrivate: Bool { onAir != identity }
}

extension VirtualController {
    /// The address that an own address type of HCI means, private ones aside; `nil` if none was set.
    func identityAddress(_ kind: UInt8) -> DeviceAddress? { kind & 1 == 0 ? identity.address : randomAddress }

    /// The address that a set advertises under, private ones aside; `nil` if it has none.
    ///
    /// The random address of the board is for the one set of legacy commands alone.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.4 and 7.8.56.
    func identityAddress(of set: AdvertisingSet) -> DeviceAddress? {
        guard generation == .extended, set.ownAddressKind & 1 != 0 else { return identityAddress(set.ownAddressKind) }
        return set.randomAddress
    }

    /// Whether an own address type of HCI means an address towards `peer`, or towards anyone if that is `nil`.
    func hasOwnAddress(_ kind: UInt8, to peer: DeviceAddress?) -> Bool {
        hasOwnAddress(kind, to: peer, identity: identityAddress(kind))
    }

    /// Whether there is an address towards `peer`, or towards anyone if that is `nil`, for an own address type of HCI
    /// that means `identity` where no private address is made.
    func hasOwnAddress(_ kind: UInt8, to peer: DeviceAddress?, identity: DeviceAddress?) -> Bool {
        if identity != nil { return true }
        guard kind & 2 != 0, let peer else { return false }
        return resolvingList.hasLocalKey(for: peer.onAir)
    }

    /// The address that an own address type of HCI means towards `peer`, which is `identity` where no private one is
    /// made; `nil` if none was set.
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

    /// The address for which a directed advertisement to `peer` is.
    ///
    /// Core 6.0, Vol 6, Part B, 6.2.2.
    mutating func targetAddress(_ peer: DeviceAddress, at now: Instant) -> DeviceAddress {
        resolvingList.address(with: .peer, for: peer.onAir, at: now, using: &random) ?? peer.onAir
    }
}
