import BLECrypto
import BLEWire

/// The out-of-band data of this host and its peers, each belonging to a client, with which they are dropped.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.4 and 2.3.5.4.
struct OutOfBandSecrets {
    typealias DeviceData = SecurityManager.OutOfBandData.DeviceData

    private struct Secret<Value> {
        let client: ClientID
        var owner: ClientOwner
        /// The peer that it is about; `nil` for any that pairs next.
        let peer: PeerIdentifier?
        let value: Value
    }

    /// Whether what a client of this app knows counts for a pairing.
    typealias Counting = (ClientID, ClientOwner) -> Bool

    /// How many of a kind are kept of each app at most.
    static let mostOfApp = 64

    /// How many of a kind are kept of each app; of more, the oldest are forgotten.
    private let limit: Int
    /// What apps have told others of this host, and the keys that this is about, the latest last; one of each app.
    private var own: [Secret<(told: DeviceData, pair: P256KeyPair)>] = []
    /// The out-of-band data of peers.
    private var heard: [Secret<DeviceData>] = []
    /// The temporary keys for legacy pairing.
    private var temporaryKeys: [Secret<Key128>] = []

    init(limit: Int) { self.limit = limit }

    /// Sets the out-of-band data of this host, generated for a client.
    mutating func tell(_ told: DeviceData, for pair: P256KeyPair, by client: ClientID, of owner: ClientOwner = .program)
    {
        own.removeAll { $0.client == client || $0.owner.isSameApp(as: owner) }
        own.append(Secret(client: client, owner: owner, peer: nil, value: (told, pair)))
    }

    /// Sets the out-of-band data of a peer, known to a client; `nil` removes them.
    mutating func learn(
        _ told: DeviceData?,
        from peer: PeerIdentifier,
        by client: ClientID,
        of owner: ClientOwner = .program
    ) {
        Self.replace(Secret(client: client, owner: owner, peer: peer, value: told), in: &heard, limit)
    }

    /// A client knows a key that this host shares with a peer, or with any that pairs next; `nil` forgets it.
    mutating func learn(
        _ temporaryKey: Key128?,
        sharedWith peer: PeerIdentifier?,
        by client: ClientID,
        of owner: ClientOwner = .program
    ) {
        Self.replace(Secret(client: client, owner: owner, peer: peer, value: temporaryKey), in: &temporaryKeys, limit)
    }

    /// Removes the data of a peer after a pairing, because they are valid only once.
    mutating func used(with peer: PeerIdentifier, counting counts: Counting = { _, _ in true }) {
        own.removeAll { counts($0.client, $0.owner) }
        heard.removeAll { $0.peer == peer && counts($0.client, $0.owner) }
        let isShared = temporaryKeys.contains { $0.peer == peer && counts($0.client, $0.owner) }
        temporaryKeys.removeAll { $0.peer == (isShared ? peer : nil) && counts($0.client, $0.owner) }
    }

    /// Removes the data of a client that is gone.
    mutating func leave(_ client: ClientID) {
        own.removeAll { $0.client == client }
        heard.removeAll { $0.client == client }
        temporaryKeys.removeAll { $0.client == client }
    }

    /// Gives a session to another app.
    mutating func give(_ client: ClientID, to owner: ClientOwner) {
        for index in own.indices where own[index].client == client { own[index].owner = owner }
        for index in heard.indices where heard[index].client == client { heard[index].owner = owner }
        for index in temporaryKeys.indices where temporaryKeys[index].client == client {
            temporaryKeys[index].owner = owner
        }
    }

    /// Returns what counts for a pairing with a peer.
    ///
    /// A key for legacy pairing does not count if something better is known.
    func data(
        for peer: PeerIdentifier,
        allowsLegacy: Bool,
        counting counts: Counting = { _, _ in true }
    ) -> SecurityManager.OutOfBandData {
        let remote = heard.last { $0.peer == peer && counts($0.client, $0.owner) }?.value
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
