package import BLEWire

/// The stored data of a peer, with which apps can connect to the peer after a restart.
package struct PeerRecord: Equatable, Sendable {
    package var identifier: PeerIdentifier
    /// An over-the-air address of the peer: its permanent address, or the private address that the peer used when it
    /// was bonded or first received.
    package var address: DeviceAddress
    /// The name in the peer's GAP service; `nil` if it was never read.
    package var name: String?
    /// The name in the peer's last advertisements; `nil` if there was none.
    package var advertisedName: String?
    /// The bond with the current adapter; `nil` if there is none.
    package var bond: Bond?
    /// The bonds of this peer with other adapters.
    package internal(set) var otherBonds: [Bond] = []

    package init(
        identifier: PeerIdentifier,
        address: DeviceAddress,
        name: String? = nil,
        advertisedName: String? = nil,
        bond: Bond? = nil
    ) {
        self.identifier = identifier
        self.address = address
        self.name = name
        self.advertisedName = advertisedName
        self.bond = bond
    }

    /// The maximum number of bonds per peer.
    ///
    /// If there are more, bonds with other adapters are dropped.
    package static let mostBonds = 16

    /// The bonds with all adapters, at most one with each, sorted by the adapter's address.
    ///
    /// When this property is set, the bond with an unknown adapter becomes the current one; see
    /// ``selectingBond(for:)``.
    package var bonds: [Bond] {
        get { ([bond].compactMap(\.self) + otherBonds).sorted { ($0.adapter ?? .none) < ($1.adapter ?? .none) } }
        set {
            bond = newValue.first { $0.adapter == nil }
            otherBonds = newValue.filter { $0.adapter != nil }.suffix(Self.mostBonds - 1)
        }
    }

    /// Returns the record with the bond for `adapter` as the current one.
    ///
    /// If there is no such bond, a bond with an unknown adapter is used.
    package func selectingBond(for adapter: DeviceAddress?) -> Self {
        var record = self, others = bonds
        let index = others.firstIndex { $0.adapter == adapter } ?? others.firstIndex { $0.adapter == nil }
        record.bond = index.map { others.remove(at: $0) }
        record.otherBonds = Array(others.suffix(Self.mostBonds - 1))
        return record
    }

    /// The identity address that the peer has proved by using it over the air; `nil` if it has only used private
    /// addresses.
    package var provedIdentity: DeviceAddress? { address.onAir.isIdentity ? address.onAir : nil }

    /// The name in the GAP service or, if that is not known, the advertised name.
    ///
    /// The name in the GAP service can be longer than an advertised name.
    package var bestName: String? { name ?? advertisedName }
}
