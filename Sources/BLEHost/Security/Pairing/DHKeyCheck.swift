import BLECrypto
import BLEWire

/// What two devices have in common when they have told each other their public keys.
struct SharedSecret: Sendable {
    let exchange: PairingExchange
    /// The X coordinates of the two public keys, 32 octets each, the least significant first.
    let ownX: [UInt8]
    let peerX: [UInt8]
    /// The secret, as long as they.
    let dhKey: [UInt8]

    init(_ exchange: PairingExchange, ownX: [UInt8], peerX: [UInt8], dhKey: [UInt8]) {
        self.exchange = exchange
        self.ownX = ownX
        self.peerX = peerX
        self.dhKey = dhKey
    }

    /// What the two users compare.
    func comparison(own: Key128, peer: Key128) -> UInt32 {
        exchange.role == .central ? Toolbox.g2(ownX, peerX, own, peer) : Toolbox.g2(peerX, ownX, peer, own)
    }
}

/// What two devices show each other to prove that they have seen the same exchange, and the key that comes of it.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.5.
struct DHKeyCheck: Sendable {
    /// What this host sends.
    let own: Key128
    /// What the peer must send.
    let peer: Key128
    /// The key for the link, of 16 octets.
    let linkKey: Key128

    /// - Parameters:
    ///   - secret: What the devices have in common.
    ///   - own: The number that this host told last.
    ///   - peer: The number that the peer told last.
    ///   - told: What this host told the peer out of band, the passkey, or 0.
    ///   - heard: What the peer told this host out of band, the passkey, or 0.
    init(_ secret: SharedSecret, own: Key128, peer: Key128, told: Key128 = .zero, heard: Key128 = .zero) {
        let exchange = secret.exchange, isInitiator = exchange.role == .central
        let initiator = (random: isInitiator ? own : peer, address: exchange.initiator)
        let responder = (random: isInitiator ? peer : own, address: exchange.responder)
        let keys = Toolbox.f5(secret.dhKey, initiator, responder)
        let (initiatorTold, responderTold) = isInitiator ? (told, heard) : (heard, told)
        let a = Toolbox.f6(
            keys.check,
            initiator,
            responder,
            r: responderTold,
            capabilities: exchange.capabilities(of: .central)
        )
        let b = Toolbox.f6(
            keys.check,
            responder,
            initiator,
            r: initiatorTold,
            capabilities: exchange.capabilities(of: .peripheral)
        )
        (self.own, self.peer) = isInitiator ? (a, b) : (b, a)
        linkKey = keys.link
    }
}
