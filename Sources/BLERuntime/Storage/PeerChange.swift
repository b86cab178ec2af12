import BLEHost
import BLEWire

/// A change that a process makes to a stored peer: the record that the process last knew, and the new one.
///
/// Another process may have stored its own changes in the meantime, so only the parts that differ between the two
/// records are replaced.
struct PeerChange: Equatable {
    let before: PeerRecord?
    private(set) var after: PeerRecord

    init(from before: PeerRecord?, to after: PeerRecord) {
        self.before = before
        self.after = after
    }

    /// The urgency of writing the change: `soon` for a new peer or changed bonds, which could not be recovered if they
    /// were lost; `later` for everything else.
    var urgency: WritePacing.Urgency { before == nil || before?.bonds ?? [] != after.bonds ? .soon : .later }

    /// Returns a single change that has the effect of this one followed by `next`.
    func followed(by next: Self) -> Self { Self(from: before, to: next.after) }

    /// Returns the new record to store; `stored` is the record that is in the file now.
    func applied(to stored: PeerRecord?) -> PeerRecord {
        guard var result = stored else { return after.selectingBond(for: nil) }
        if after.address != before?.address { result.address = after.address }
        if after.name != before?.name { result.name = after.name }
        if after.advertisedName != before?.advertisedName { result.advertisedName = after.advertisedName }
        result.bonds = adapters(with: stored).compactMap { adapter in
            BondChange(before: before?.bond(on: adapter), after: after.bond(on: adapter))
                .applied(to: stored?.bond(on: adapter))
        }
        return result
    }

    /// Returns the adapters of all bonds in `stored` and in both records of this change, each adapter once.
    private func adapters(with stored: PeerRecord?) -> [DeviceAddress?] {
        var adapters: [DeviceAddress?] = []
        for bond in [stored, before, after].compactMap(\.self).flatMap(\.bonds) where !adapters.contains(bond.adapter) {
            adapters.append(bond.adapter)
        }
        return adapters
    }
}

/// The change to one bond.
///
/// The latest pairing determines the key; data that belong to an earlier pairing's key are dropped.
private struct BondChange {
    let before: Bond?
    let after: Bond?

    func applied(to stored: Bond?) -> Bond? {
        guard after != before else { return stored }
        guard let before, let after, after.isSamePairing(as: before) else { return after }
        guard var result = stored, result.isSamePairing(as: after) else { return stored }
        result.wantedBy = max(result.wantedBy, after.wantedBy)
        if after.client != before.client { result.client = after.client }
        if after.database != before.database { result.database = after.database }
        if let signing = after.remoteSigning { result.remoteSigning?.skip(to: signing.nextCounter) }
        return result
    }
}

extension PeerRecord {
    fileprivate func bond(on adapter: DeviceAddress?) -> Bond? { bonds.first { $0.adapter == adapter } }
}

extension Bond {
    /// Returns whether this bond and `other` are from the same pairing, and so differ only in data that were added
    /// later.
    fileprivate func isSamePairing(as other: Self) -> Bool {
        identity == other.identity && security == other.security && keySize == other.keySize
            && longTermKey == other.longTermKey && localLongTermKey == other.localLongTermKey
            && remoteSigning?.key == other.remoteSigning?.key
    }
}
