import BLECrypto
import BLEWire

/// The authentication phase of LE Secure Connections.
///
/// The devices exchange public keys and compute a shared secret. Then the agreed method, unless it is Just Works,
/// makes sure that there is no man in the middle. Finally, each device proves that it has seen the same exchange.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.
struct SecureAuthentication: Sendable {
    private enum State: Sendable {
        /// The peer's public key is outstanding.
        case keys
        /// This host is the initiator, and the responder's commitment is outstanding.
        case commitment(SharedSecret)
        /// The peer's random number is outstanding. `own` is this host's random number; the peer's commitment is `nil`
        /// if there was none.
        case number(SharedSecret, own: Key128, commitment: Key128?)
        /// The user is entering the passkey. `ahead` is the initiator's first confirm value, if it has already arrived.
        case typing(SharedSecret, ahead: Key128?)
        case passkey(SharedSecret, PasskeyRounds, UInt32)
        /// The user is comparing numbers. `isAhead` is true if the initiator's check has arrived and is correct.
        case comparing(DHKeyCheck, isAhead: Bool)
        /// The peer's check is outstanding.
        case check(DHKeyCheck)
        case over
    }

    private let exchange: PairingExchange
    private let pair: P256KeyPair
    private let outOfBand: SecurityManager.OutOfBandData
    private let allowsDebugKeys: Bool
    /// The passkey to display; `nil` to generate one.
    private let passkey: UInt32?
    private var state = State.over

    init(
        _ exchange: PairingExchange,
        _ configuration: SecurityManager.Configuration,
        using random: inout RandomSource
    ) {
        self.exchange = exchange
        outOfBand = configuration.outOfBand
        allowsDebugKeys = configuration.allowsDebugKeys
        passkey = configuration.passkey
        let announced = exchange.agreement.method == .outOfBand ? outOfBand.local?.pair : nil
        pair = announced ?? configuration.keyPair ?? P256KeyPair(using: &random)
    }

    /// Starts the phase, after the Pairing Response.
    mutating func begin() -> [PairingAction] {
        state = .keys
        return exchange.role == .central ? [publicKey] : []
    }

    /// Processes the passkey that the user entered.
    mutating func enter(_ passkey: UInt32, using random: inout RandomSource) -> [PairingAction] {
        guard case .typing(let secret, let ahead) = state else { return [] }
        let actions = beginRounds(secret, passkey, using: &random)
        return ahead.map { actions + receive(.pairingConfirm(.init($0)), using: &random) } ?? actions
    }

    /// Records that the user has confirmed that the numbers are equal.
    mutating func confirm() -> [PairingAction] {
        guard case .comparing(let check, let isAhead) = state else { return [] }
        guard isAhead else { return begin(check) }
        state = .over
        return [.send(.pairingDHKeyCheck(.init(check.own))), .agreed(check.linkKey)]
    }

    /// Processes a packet from the peer.
    mutating func receive(_ packet: SMPPacket, using random: inout RandomSource) -> [PairingAction] {
        switch (state, packet) {
        case (.keys, .pairingPublicKey(let theirs)): return receive(theirs.key, using: &random)
        case (.commitment(let secret), .pairingConfirm(let theirs)):
            let own = Key128.random(using: &random)
            state = .number(secret, own: own, commitment: theirs.value)
            return [.send(.pairingRandom(.init(own)))]
        case (.number(let secret, let own, let commitment), .pairingRandom(let theirs)):
            return receive(theirs.value, secret, own: own, commitment)
        case (.typing(let secret, nil), .pairingConfirm(let theirs)) where exchange.role == .peripheral:
            state = .typing(secret, ahead: theirs.value)
            return []
        case (.passkey(let secret, var rounds, let passkey), _):
            let action = rounds.receive(packet, using: &random)
            state = .passkey(secret, rounds, passkey)
            return proceed(action, secret, passkey)
        case (.comparing(let check, isAhead: false), .pairingDHKeyCheck(let theirs))
        where exchange.role == .peripheral:
            guard theirs.value == check.peer else { return fail(.dhKeyCheckFailed) }
            state = .comparing(check, isAhead: true)
            return []
        case (.check(let check), .pairingDHKeyCheck(let theirs)):
            guard theirs.value == check.peer else { return fail(.dhKeyCheckFailed) }
            state = .over
            let answer: [PairingAction] =
                exchange.role == .peripheral ? [.send(.pairingDHKeyCheck(.init(check.own)))] : []
            return answer + [.agreed(check.linkKey)]
        case (.keys, _), (.commitment, _), (.number, _), (.typing, _), (.comparing, _), (.check, _), (.over, _):
            return fail(.unspecified)
        }
    }

    private var publicKey: PairingAction { .send(.pairingPublicKey(.init(pair.publicKey))) }

    private mutating func fail(_ reason: SMP.Reason) -> [PairingAction] {
        state = .over
        return [.fail(reason)]
    }

    /// Processes the peer's public key.
    private mutating func receive(_ key: HCI.PublicKey, using random: inout RandomSource) -> [PairingAction] {
        let isDebug = key.x == P256KeyPair.debug.publicKey.x
        // A peer with this host's own public key could repeat everything that this host sends.
        guard isDebug ? allowsDebugKeys : key.x != pair.publicKey.x, let dhKey = pair.secret(with: key) else {
            return fail(.invalidParameters)
        }
        let secret = SharedSecret(exchange, ownX: pair.publicKey.x, peerX: key.x, dhKey: dhKey)
        let answer = exchange.role == .peripheral ? [publicKey] : []
        return answer + authenticate(secret, using: &random)
    }

    /// Starts authentication stage 1, with the agreed method.
    private mutating func authenticate(
        _ secret: SharedSecret,
        using random: inout RandomSource
    ) -> [PairingAction] {
        switch (exchange.agreement.method, exchange.role) {
        case (.justWorks, .central), (.numericComparison, .central):
            state = .commitment(secret)
            return []
        case (.justWorks, .peripheral), (.numericComparison, .peripheral):
            let own = Key128.random(using: &random)
            state = .number(secret, own: own, commitment: nil)
            return [.send(.pairingConfirm(.init(Toolbox.f4(secret.ownX, secret.peerX, own, 0))))]
        case (.outOfBand, let role):
            if exchange.hasPeerData {
                guard let received = outOfBand.remote else { return fail(.oobNotAvailable) }
                let confirm = Toolbox.f4(secret.peerX, secret.peerX, received.random, 0)
                guard confirm == received.confirm else { return fail(.confirmValueFailed) }
            }
            let own = Key128.random(using: &random)
            state = .number(secret, own: own, commitment: nil)
            return role == .central ? [.send(.pairingRandom(.init(own)))] : []
        case (.passkeyEntry(let entry), _):
            guard exchange.displays(entry) else {
                state = .typing(secret, ahead: nil)
                return [.ask(.enterPasskey)]
            }
            let passkey = passkey ?? .random(in: SMP.passkeys, using: &random)
            return [.ask(.display(passkey: passkey))] + beginRounds(secret, passkey, using: &random)
        }
    }

    /// Processes the peer's random number in all methods except passkey entry.
    ///
    /// `theirs` is this number, and `own` is the random number of this host. `commitment` is the peer's commitment;
    /// `nil` if there was none.
    private mutating func receive(
        _ theirs: Key128,
        _ secret: SharedSecret,
        own: Key128,
        _ commitment: Key128?
    ) -> [PairingAction] {
        guard theirs != own else { return fail(.confirmValueFailed) }
        if let commitment, Toolbox.f4(secret.peerX, secret.ownX, theirs, 0) != commitment {
            return fail(.confirmValueFailed)
        }
        let answer: [PairingAction] = exchange.role == .peripheral ? [.send(.pairingRandom(.init(own)))] : []
        switch exchange.agreement.method {
        case .numericComparison:
            state = .comparing(DHKeyCheck(secret, own: own, peer: theirs), isAhead: false)
            return answer + [.ask(.compare(secret.comparison(own: own, peer: theirs)))]
        case .outOfBand:
            let sent = exchange.peerHasData ? outOfBand.local?.data.random : .zero
            let received = exchange.hasPeerData ? outOfBand.remote?.random : .zero
            guard let sent, let received else { return fail(.oobNotAvailable) }
            return answer + begin(DHKeyCheck(secret, own: own, peer: theirs, sent: sent, received: received))
        case .justWorks, .passkeyEntry: return answer + begin(DHKeyCheck(secret, own: own, peer: theirs))
        }
    }

    private mutating func beginRounds(
        _ secret: SharedSecret,
        _ passkey: UInt32,
        using random: inout RandomSource
    ) -> [PairingAction] {
        var rounds = PasskeyRounds(exchange.role, ownX: secret.ownX, peerX: secret.peerX, passkey: passkey)
        let packets = rounds.begin(using: &random)
        state = .passkey(secret, rounds, passkey)
        return packets.map { .send($0) }
    }

    private mutating func proceed(
        _ action: PasskeyRounds.OnReceive,
        _ secret: SharedSecret,
        _ passkey: UInt32
    ) -> [PairingAction] {
        switch action {
        case .send(let packets): return packets.map { .send($0) }
        case .fail(let reason): return fail(reason)
        case .finished(let packets, let own, let peer):
            let number = Key128(wire: UInt128(passkey))
            return packets.map { .send($0) }
                + begin(DHKeyCheck(secret, own: own, peer: peer, sent: number, received: number))
        }
    }

    /// Starts authentication stage 2, the DHKey checks.
    ///
    /// The initiator sends its check first.
    private mutating func begin(_ check: DHKeyCheck) -> [PairingAction] {
        state = .check(check)
        return exchange.role == .central ? [.send(.pairingDHKeyCheck(.init(check.own)))] : []
    }
}
