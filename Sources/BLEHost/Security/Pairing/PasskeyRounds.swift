import BLECrypto
import BLEWire

/// The rounds of passkey entry, in which two devices prove that they know the passkey, one bit after another.
///
/// In each of 20 rounds, each device commits to a new random number and one bit before it discloses the number. A wrong
/// guess reveals at most one bit.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.3.
struct PasskeyRounds: Sendable {
    private enum State: Sendable {
        /// This host is the responder and waits for the initiator's confirm value.
        case listening
        /// This host is the initiator, and the responder's confirm value is outstanding. `own` and `confirm` are this
        /// host's random number and confirm value.
        case committed(own: Key128, confirm: Key128)
        /// Both devices have committed, and the peer's random number is outstanding. `own` is this host's random
        /// number, and `confirm` is the peer's confirm value.
        case awaitingRandom(own: Key128, confirm: Key128)
        case over
    }

    enum OnReceive: Equatable {
        /// Send these packets.
        case send([SMPPacket])
        /// Send these packets, if any. The rounds are complete; `own` and `peer` are the random numbers from the last
        /// round.
        case finished([SMPPacket], own: Key128, peer: Key128)
        case fail(SMP.Reason)
    }

    /// The number of bits in a passkey.
    static let count = 20

    private let role: LinkRole
    private let ownX: [UInt8]
    private let peerX: [UInt8]
    private let passkey: UInt32
    private var round = 0
    private var state = State.listening

    init(_ role: LinkRole, ownX: [UInt8], peerX: [UInt8], passkey: UInt32) {
        self.role = role
        self.ownX = ownX
        self.peerX = peerX
        self.passkey = passkey
    }

    /// Starts a round.
    ///
    /// The initiator goes first.
    mutating func begin(using random: inout RandomSource) -> [SMPPacket] {
        guard role == .central else {
            state = .listening
            return []
        }
        let own = Key128.random(using: &random), confirm = ownConfirm(own)
        state = .committed(own: own, confirm: confirm)
        return [.pairingConfirm(.init(confirm))]
    }

    /// Processes a packet from the peer.
    mutating func receive(_ packet: SMPPacket, using random: inout RandomSource) -> OnReceive {
        switch (state, packet) {
        case (.listening, .pairingConfirm(let theirs)):
            let own = Key128.random(using: &random), confirm = ownConfirm(own)
            guard confirm != theirs.value else { return fail(.confirmValueFailed) }
            state = .awaitingRandom(own: own, confirm: theirs.value)
            return .send([.pairingConfirm(.init(confirm))])
        case (.committed(let own, let confirm), .pairingConfirm(let theirs)):
            // A peer that repeats this host's own value proves nothing.
            guard confirm != theirs.value else { return fail(.confirmValueFailed) }
            state = .awaitingRandom(own: own, confirm: theirs.value)
            return .send([.pairingRandom(.init(own))])
        case (.awaitingRandom(let own, let confirm), .pairingRandom(let theirs)):
            guard theirs.value != own, Toolbox.f4(peerX, ownX, theirs.value, bit) == confirm else {
                return fail(.confirmValueFailed)
            }
            let answer: [SMPPacket] = role == .peripheral ? [.pairingRandom(.init(own))] : []
            round += 1
            guard round < Self.count else {
                state = .over
                return .finished(answer, own: own, peer: theirs.value)
            }
            return .send(answer + begin(using: &random))
        case (.listening, _), (.committed, _), (.awaitingRandom, _), (.over, _): return fail(.unspecified)
        }
    }

    private mutating func fail(_ reason: SMP.Reason) -> OnReceive {
        state = .over
        return .fail(reason)
    }

    /// The current bit of the passkey, as an input for the confirm value.
    private var bit: UInt8 { 0x80 | UInt8(truncatingIfNeeded: passkey >> UInt32(round) & 1) }

    private func ownConfirm(_ own: Key128) -> Key128 { Toolbox.f4(ownX, peerX, own, bit) }
}
