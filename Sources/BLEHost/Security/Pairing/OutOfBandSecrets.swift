import BLECrypto
import BLEWire

/// What devices told each other by other means than Bluetooth, each with the client that knows of it: when that is
/// gone, so is what it knew.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.4 and 2.3.5.4.
struct OutOfBandSecrets {
    typealias Told = SecurityManager.OutOfBandData.Told

    private struct Secret<Value> {
        let client: ClientID
        /// Whom it is about; `nil` for whichever device pairs next.
        let peer: PeerIdentifier?
        let value: Value
    }

    /// How many there may be of a kind; of more, the oldest are forgotten.
    private let limit: Int
    /// What this host has told, and the keys that this is about.
    private var own: (client: ClientID, told: Told, pair: P256KeyPair)?
    /// What peers have told.
    private var heard: [Secret<Told>] = []
    /// Keys for legacy pairing that this host and a device know.
    private var temporaryKeys: [Secret<Key128>] = []

    init(limit: Int) { self.limit = limit }

    /// A client tells others this of the host.
    mutating func tell(_ told: Told, for pair: P256KeyPair, by client: ClientID) { own = (client, told, pair) }

    /// A client knows what a peer told; `nil` forgets it.
    mutating func learn(_ told: Told?, from peer: PeerIdentifier, by client: ClientID) {
        Self.replace(Secret(client: client, peer: peer, value: told), in: &heard, limit)
    }

    /// A client knows a key that this host shares with a peer, or with whichever pairs next; `nil` forgets it.
    mutating func learn(_ temporaryKey: Key128?, sharedWith peer: PeerIdentifier?, by client: ClientID) {
        Self.replace(Secret(client: client, peer: peer, value: temporaryKey), in: &temporaryKeys, limit)
    }

    /// A peer was paired with by what is known of it: that counts for no other pairing.
    mutating func used(with peer: PeerIdentifier) {
        own = nil
        heard.removeAll { $0.peer == peer }
        let isShared = temporaryKeys.contains { $0.peer == peer }
        temporaryKeys.removeAll { $0.peer == (isShared ? peer : nil) }
    }

    /// A client is gone.
    mutating func leave(_ client: ClientID) {
        if own?.client == client { own = nil }
        heard.removeAll { $0.client == client }
        temporaryKeys.removeAll { $0.client == client }
    }

    /// What counts for a pairing with a peer; a key for legacy pairing is of no use to who knows something better.
    func data(for peer: PeerIdentifier, allowsLegacy: Bool) -> SecurityManager.OutOfBandData {
        let remote = heard.first { $0.peer == peer }?.value
        let key = temporaryKeys.first { $0.peer == peer } ?? temporaryKeys.first { $0.peer == nil }
        return SecurityManager.OutOfBandData(
            remote: remote,
            local: own.map { ($0.told, $0.pair) },
            temporaryKey: allowsLegacy && remote == nil ? key?.value : nil
        )
    }

    private static func replace<Value>(_ secret: Secret<Value?>, in secrets: inout [Secret<Value>], _ limit: Int) {
        secrets.removeAll { $0.peer == secret.peer }
        guard let value = secret.value else { return }
        if secrets.count == limit { secrets.removeFirst() }
        secrets.append(Secret(client: secret.client, peer: secret.peer, value: value))
    }
}
