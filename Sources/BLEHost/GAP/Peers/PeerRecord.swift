package import BLEWire

/// The stored data of a peer, with which it can be connected after a restart.
package struct PeerRecord: Equatable, Sendable {
    package var identifier: PeerIdentifier
    /// An address that the peer had on the air: the one that it keeps, or the private one with which it was bonded or
    /// met first.
    package var address: DeviceAddress
    /// The name from its GAP service; `nil` if it was never read.
    package var name: String?
    /// The name from its last advertisements.
    package var advertisedName: String?
    /// The bond with the current adapter.
    package var bond: Bond?
    /// The bonds with other adapters.
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
    /// Beyond it, the bond with another adapter is dropped.
    package static let mostBonds = 16

    /// The bonds with all adapters, one each, sorted by address.
    package var bonds: [Bond] {
        get { ([bond].compactMap(\.self) + otherBonds).sorted { ($0.adapter ?? .none) < ($1.adapter ?? .none) } }
        set {
            bond = newValue.first { $0.adapter == nil }
            otherBonds = newValue.filter { $0.adapter != nil }.suffix(Self.mostBonds - 1)
        }
    }

    /// Returns the record with the bond for `adapter`: its own one, otherwise one whose adapter is unknown.
    package func seen(by adapter: DeviceAddress?) -> Self {
        var record = self, others = bonds
        let index = others.firstIndex { $0.adapter == adapter } ?? others.firstIndex { $0.adapter == nil }
        record.bond = index.map { others.remove(at: $0) }
        record.otherBonds = Array(others.suffix(Self.mostBonds - 1))
        return record
    }

    /// The identity address that the peer has proved, by having it on the air; `nil` if it has only shown private ones.
    package var provedIdentity: DeviceAddress? { address.onAir.isIdentity ? address.onAir : nil }

    /// The best known name: the GAP service has more room for it than an advertisement.
    package var bestName: String? { name ?? advertisedName }
}
