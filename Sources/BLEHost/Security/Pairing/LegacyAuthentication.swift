import BLECrypto
import BLEWire

/// The authentication phase of LE legacy pairing.
///
/// Each device commits to a random number, with the shared temporary key, before it discloses the number.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.5.
struct LegacyAuthentication: Sendable {
    private enum State: Sendable {
        /// The user is entering the passkey. `ahead` is the initiator's confirm value, if it has already arrived.
        case typing(ahead: Key128?)
        /// This host is the responder and waits for the initiator's confirm value. The associated value is the
        /// temporary key.
        case listening(Key128)
        /// This host is the initiator, and the responder's confirm value is outstanding. The first associated value is
        /// the temporary key. `own` and `confirm` are this host's random number and confirm value.
        case committed(Key128, own: Key128, confirm: Key128)
        /// Both devices have committed, and the peer's random number is outstanding. The first associated value is the
        /// temporary key. `own` is this host's random number, and `confirm` is the peer's confirm value.
        case awaitingRandom(Key128, own: Key128, confirm: Key128)
        case over
    }

    private let exchange: PairingExchange
    private var state = State.over

    init(_ exchange: PairingExchange) { self.exchange = exchange }

    /// Starts the phase, after the Pairing Response.
    ///
    /// `temporaryKey` is the key from out-of-band data, `nil` if there are none. `passkey` is the passkey to display,
    /// `nil` to generate one.
    mutating func begin(
        temporaryKey: Key128?,
        passkey: UInt32?,
        using random: inout RandomSource
    ) -> [PairingAction] {
        switch exchange.agreement.method {
        case .justWorks: return start(.zero, using: &random)
        case .numericComparison: preconditionFailure("legacy pairing has no numeric comparison")
        case .outOfBand:
            guard let temporaryKey else { return fail(.oobNotAvailable) }
            return start(temporaryKey, using: &random)
        case .passkeyEntry(let entry):
            guard exchange.displays(entry) else {
                state = .typing(ahead: nil)
                return [.ask(.enterPasskey)]
            }
            let passkey = passkey ?? .random(in: SMP.passkeys, using: &random)
            return [.ask(.display(passkey: passkey))] + start(Key128(wire: UInt128(passkey)), using: &random)
        }
    }

    /// Processes the passkey that the user entered.
    mutating func enter(_ passkey: UInt32, using random: inout RandomSource) -> [PairingAction] {
        guard case .typing(let ahead) = state else { return [] }
        let actions = start(Key128(wire: UInt128(passkey)), using: &random)
        return ahead.map { actions + receive(.pairingConfirm(.init($0)), using: &random) } ?? actions
    }

    /// Processes a packet from the peer.
    mutating func receive(_ packet: SMPPacket, using random: inout RandomSource) -> [PairingAction] {
        switch (state, packet) {
        case (.typing(nil), .pairingConfirm(let confirm)) where exchange.role == .peripheral:
            state = .typing(ahead: confirm.value)
            return []
        case (.listening(let key), .pairingConfirm(let theirs)):
            let own = Key128.random(using: &random), confirm = confirm(key, own)
            guard confirm != theirs.value else { return fail(.confirmValueFailed) }
            state = .awaitingRandom(key, own: own, confirm: theirs.value)
            return [.send(.pairingConfirm(.init(confirm)))]
        case (.committed(let key, let own, let confirm), .pairingConfirm(let theirs)):
            // A peer that repeats this host's own value proves nothing.
            guard confirm != theirs.value else { return fail(.confirmValueFailed) }
            state = .awaitingRandom(key, own: own, confirm: theirs.value)
            return [.send(.pairingRandom(.init(own)))]
        case (.awaitingRandom(let key, let own, let confirm), .pairingRandom(let theirs)):
            guard theirs.value != own, self.confirm(key, theirs.value) == confirm else {
                return fail(.confirmValueFailed)
            }
            state = .over
            guard exchange.role == .peripheral else { return [.agreed(Toolbox.s1(key, theirs.value, own))] }
            return [.send(.pairingRandom(.init(own))), .agreed(Toolbox.s1(key, own, theirs.value))]
        case (.typing, _), (.listening, _), (.committed, _), (.awaitingRandom, _), (.over, _): return fail(.unspecified)
        }
    }

    /// Continues with the temporary key, which is now known.
    private mutating func start(_ key: Key128, using random: inout RandomSource) -> [PairingAction] {
        guard exchange.role == .central else {
            state = .listening(key)
            return []
        }
        let own = Key128.random(using: &random), confirm = confirm(key, own)
        state = .committed(key, own: own, confirm: confirm)
        return [.send(.pairingConfirm(.init(confirm)))]
    }

    private mutating func fail(_ reason: SMP.Reason) -> [PairingAction] {
        state = .over
        return [.fail(reason)]
    }

    private func confirm(_ key: Key128, _ random: Key128) -> Key128 {
        Toolbox.c1(
            key,
            random: random,
            request: exchange.request,
            response: exchange.response,
            initiator: exchange.initiator,
            responder: exchange.responder
        )
    }
}
