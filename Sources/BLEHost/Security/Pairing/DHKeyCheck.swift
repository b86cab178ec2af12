import BLECrypto
import BLEWire

/// The values that two devices share after they have exchanged their public keys.
struct SharedSecret: Sendable {
    let exchange: PairingExchange
    /// The X coordinates of the two public keys, 32 octets each, least significant first.
    let ownX: [UInt8]
    let peerX: [UInt8]
    /// The Diffie-Hellman key, 32 octets.
    let dhKey: [UInt8]

    init(_ exchange: PairingExchange, ownX: [UInt8], peerX: [UInt8], dhKey: [UInt8]) {
        self.exchange = exchange
        self.ownX = ownX
        self.peerX = peerX
        self.dhKey = dhKey
    }

    /// Returns the number that both devices display for numeric comparison.
    ///
    /// `own` is the random number of this host, and `peer` is that of the peer.
    func comparison(own: Key128, peer: Key128) -> UInt32 {
        exchange.role == .central ? Toolbox.g2(ownX, peerX, own, peer) : Toolbox.g2(peerX, ownX, peer, own)
    }
}

/// The DHKey checks with which two devices prove that they have seen the same exchange, and the resulting LTK.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.5.
struct DHKeyCheck: Sendable {
    /// The check that this host sends.
    let own: Key128
    /// The check that the peer must send.
    let peer: Key128
    /// The LTK, 16 octets.
    let linkKey: Key128

    /// Computes the checks of both devices, and the LTK.
    ///
    /// - Parameters:
    ///   - secret: The shared secret of the devices.
    ///   - own: The last random number of this host.
    ///   - peer: The last random number of the peer.
    ///   - sent: The out-of-band number that this host gave the peer, the passkey, or 0.
    ///   - received: The out-of-band number that the peer gave this host, the passkey, or 0.
    init(_ secret: SharedSecret, own: Key128, peer: Key128, sent: Key128 = .zero, received: Key128 = .zero) {
        let exchange = secret.exchange, isInitiator = exchange.role == .central
        let initiator = (random: isInitiator ? own : peer, address: exchange.initiator)
        let responder = (random: isInitiator ? peer : own, address: exchange.responder)
        let keys = Toolbox.f5(secret.dhKey, initiator, responder)
        let (initiatorNumber, responderNumber) = isInitiator ? (sent, received) : (received, sent)
        let a = Toolbox.f6(
            keys.check,
            initiator,
            responder,
            r: responderNumber,
            capabilities: exchange.capabilities(of: .central)
        )
        let b = Toolbox.f6(
            keys.check,
            responder,
            initiator,
            r: initiatorNumber,
            capabilities: exchange.capabilities(of: .peripheral)
        )
        (self.own, self.peer) = isInitiator ? (a, b) : (b, a)
        linkKey = keys.link
    }
}
