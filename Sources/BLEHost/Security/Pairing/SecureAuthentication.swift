import BLECrypto
import BLEWire

/// How two devices make sure of each other by LE Secure Connections.
///
/// They tell their public keys and come to one secret; then, each in its way, the methods make sure that nobody in
/// between has done so with each of them; and in the end both show that they have seen the same exchange.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.
struct SecureAuthentication: Sendable {
    private enum State: Sendable {
        /// The peer's public key is due.
        case keys
        /// This host is the initiator, and what commits the responder to its number is due.
        case commitment(SharedSecret)
        /// The peer's number is due; `nil` if nothing committed it.
        case number(SharedSecret, own: Key128, commitment: Key128?)
        /// The user types the passkey; the initiator may be ahead with its first confirm value.
        case typing(SharedSecret, ahead: Key128?)
        case passkey(SharedSecret, PasskeyRounds, UInt32)
        /// The user compares numbers; the initiator may be ahead with its check, which was right then.
        case comparing(DHKeyCheck, isAhead: Bool)
        /// The peer's check is due.
        case check(DHKeyCheck)
        case over
    }

    private let exchange: PairingExchange
    private let pair: P256KeyPair
    private let outOfBand: SecurityManager.OutOfBandData
    private let allowsDebugKeys: Bool
    /// What is shown, if it is not to be made up.
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
        let told = exchange.agreement.method == .outOfBand ? outOfBand.local?.pair : nil
        pair = told ?? configuration.keyPair ?? P256KeyPair(using: &random)
    }

    /// Begins, right behind the Pairing Response.
    mutating func begin() -> [PairingAction] {
        state = .keys
        return exchange.role == .central ? [publicKey] : []
    }

    /// Takes the passkey that the user typed.
    mutating func enter(_ passkey: UInt32, using random: inout RandomSource) -> [PairingAction] {
        guard case .typing(let secret, let ahead) = state else { return [] }
        let actions = beginRounds(secret, passkey, using: &random)
        return ahead.map { actions + receive(.pairingConfirm(.init($0)), using: &random) } ?? actions
    }

    /// The user has seen that the numbers are the same.
    mutating func confirm() -> [PairingAction] {
        guard case .comparing(let check, let isAhead) = state else { return [] }
        guard isAhead else { return begin(check) }
        state = .over
        return [.send(.pairingDHKeyCheck(.init(check.own))), .agreed(check.linkKey)]
    }

    /// Takes a packet of the peer.
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
            return follow(action, secret, passkey)
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

    /// The peer's public key has come.
    private mutating func receive(_ key: HCI.PublicKey, using random: inout RandomSource) -> [PairingAction] {
        let isDebug = key.x == P256KeyPair.debug.publicKey.x
        // A key of our own would let the peer repeat whatever this host says.
        guard isDebug ? allowsDebugKeys : key.x != pair.publicKey.x, let dhKey = pair.secret(with: key) else {
            return fail(.invalidParameters)
        }
        let secret = SharedSecret(exchange, ownX: pair.publicKey.x, peerX: key.x, dhKey: dhKey)
        let answer = exchange.role == .peripheral ? [publicKey] : []
        return answer + authenticate(secret, using: &random)
    }

    /// The first stage: the part of it that goes before anything of the peer.
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
            if exchange.isTold {
                guard let told = outOfBand.remote else { return fail(.oobNotAvailable) }
                let confirm = Toolbox.f4(secret.peerX, secret.peerX, told.random, 0)
                guard confirm == told.confirm else { return fail(.confirmValueFailed) }
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

    /// The peer's number has come, where there is one of each.
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
            let told = exchange.isPeerTold ? outOfBand.local?.told.random : .zero
            let heard = exchange.isTold ? outOfBand.remote?.random : .zero
            guard let told, let heard else { return fail(.oobNotAvailable) }
            return answer + begin(DHKeyCheck(secret, own: own, peer: theirs, told: told, heard: heard))
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

    private mutating func follow(
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
                + begin(DHKeyCheck(secret, own: own, peer: peer, told: number, heard: number))
        }
    }

    /// The second stage; the initiator goes first.
    private mutating func begin(_ check: DHKeyCheck) -> [PairingAction] {
        state = .check(check)
        return exchange.role == .central ? [.send(.pairingDHKeyCheck(.init(check.own)))] : []
    }
}
