import BLECrypto
import BLEWire

/// The out-of-band data of this host and its peers.
///
/// Each entry belongs to a client, and is removed when the client's session closes.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.4 and 2.3.5.4.
struct OutOfBandSecrets {
    typealias DeviceData = SecurityManager.OutOfBandData.DeviceData

    private struct Secret<Value> {
        let client: ClientID
        var owner: ClientOwner
        /// The peer that the data are for; `nil` for the next peer that pairs.
        let peer: PeerIdentifier?
        let value: Value
    }

    /// A function that returns whether a pairing may use a client's data, given the client and its owner.
    typealias OwnerFilter = (ClientID, ClientOwner) -> Bool

    /// The maximum number of entries of each kind per app; ``limit`` is lower if ``Limits/knownPeers`` is lower.
    static let mostPerApp = 64

    /// The maximum number of entries of each kind that are stored for one app.
    ///
    /// At the limit, the oldest entry is removed.
    private let limit: Int
    /// This host's out-of-band data, each with the matching key pair.
    ///
    /// Apps transfer the data, but not the key pairs, to other devices. There is one entry per app; the latest is last.
    private var own: [Secret<(data: DeviceData, pair: P256KeyPair)>] = []
    /// The out-of-band data of peers.
    private var peerData: [Secret<DeviceData>] = []
    /// The temporary keys for legacy pairing.
    private var temporaryKeys: [Secret<Key128>] = []

    init(limit: Int) { self.limit = limit }

    /// Sets this host's out-of-band data, which were generated for a client.
    mutating func setLocalData(
        _ data: DeviceData,
        for pair: P256KeyPair,
        by client: ClientID,
        of owner: ClientOwner = .program
    ) {
        own.removeAll { $0.client == client || $0.owner.isSameApp(as: owner) }
        own.append(Secret(client: client, owner: owner, peer: nil, value: (data, pair)))
    }

    /// Sets a peer's out-of-band data, which a client provides; `nil` removes them.
    mutating func setPeerData(
        _ data: DeviceData?,
        from peer: PeerIdentifier,
        by client: ClientID,
        of owner: ClientOwner = .program
    ) {
        Self.replace(Secret(client: client, owner: owner, peer: peer, value: data), in: &peerData, limit)
    }

    /// Sets the temporary key that a client provides for legacy pairing; `nil` removes the key.
    ///
    /// The key is for `peer` or, if that is `nil`, for the next peer that pairs.
    mutating func setTemporaryKey(
        _ temporaryKey: Key128?,
        sharedWith peer: PeerIdentifier?,
        by client: ClientID,
        of owner: ClientOwner = .program
    ) {
        Self.replace(Secret(client: client, owner: owner, peer: peer, value: temporaryKey), in: &temporaryKeys, limit)
    }

    /// Removes the data that a pairing with a peer may have used, because they are valid only once.
    mutating func removeUsed(with peer: PeerIdentifier, counting counts: OwnerFilter = { _, _ in true }) {
        own.removeAll { counts($0.client, $0.owner) }
        peerData.removeAll { $0.peer == peer && counts($0.client, $0.owner) }
        let isShared = temporaryKeys.contains { $0.peer == peer && counts($0.client, $0.owner) }
        temporaryKeys.removeAll { $0.peer == (isShared ? peer : nil) && counts($0.client, $0.owner) }
    }

    /// Removes the data of a client whose session is closed.
    mutating func removeData(of client: ClientID) {
        own.removeAll { $0.client == client }
        peerData.removeAll { $0.client == client }
        temporaryKeys.removeAll { $0.client == client }
    }

    /// Changes the owner of a client's data.
    ///
    /// `owner` is the client's app, which was launched again or now has other rights.
    mutating func transfer(_ client: ClientID, to owner: ClientOwner) {
        for index in own.indices where own[index].client == client { own[index].owner = owner }
        for index in peerData.indices where peerData[index].client == client { peerData[index].owner = owner }
        for index in temporaryKeys.indices where temporaryKeys[index].client == client {
            temporaryKeys[index].owner = owner
        }
    }

    /// Returns the data for a pairing with a peer.
    ///
    /// A temporary key for legacy pairing is left out if `allowsLegacy` is false, or if the peer's data for LE Secure
    /// Connections are known.
    func data(
        for peer: PeerIdentifier,
        allowsLegacy: Bool,
        counting counts: OwnerFilter = { _, _ in true }
    ) -> SecurityManager.OutOfBandData {
        let remote = peerData.last { $0.peer == peer && counts($0.client, $0.owner) }?.value
        let keys = temporaryKeys.filter { counts($0.client, $0.owner) }
        let key = keys.last { $0.peer == peer } ?? keys.last { $0.peer == nil }
        return SecurityManager.OutOfBandData(
            remote: remote,
            local: own.last { counts($0.client, $0.owner) }?.value,
            temporaryKey: allowsLegacy && remote == nil ? key?.value : nil
        )
    }

    private static func replace<Value>(_ secret: Secret<Value?>, in secrets: inout [Secret<Value>], _ limit: Int) {
        func isOfSameApp(_ other: Secret<Value>) -> Bool {
            other.client == secret.client || other.owner.isSameApp(as: secret.owner)
        }
        secrets.removeAll { $0.peer == secret.peer && isOfSameApp($0) }
        guard let value = secret.value else { return }
        if secrets.count(where: isOfSameApp) >= limit, let oldest = secrets.firstIndex(where: isOfSameApp) {
            secrets.remove(at: oldest)
        }
        secrets.append(Secret(client: secret.client, owner: secret.owner, peer: secret.peer, value: value))
    }
}
