package import BLEWire

/// How the two ends of a bearer agree on the size of its packets.
///
/// Each end may ask once, as a client; both exchanges lead to the lesser of the two sizes. Until then it is 23.
///
///        ┌───────────┐ answer, refusal, 1 s ┌─────────┐
///        │ unsettled │ ───────────────────▶ │ settled │  what is exchanged later still counts
///        └───────────┘                      └─────────┘
///
/// A central asks as soon as there is a link, and others wait for that. A peripheral cannot know when its central does,
/// if ever: it is settled from the beginning, and asks itself when it wants something.
///
/// Core 6.0, Vol 3, Part F, 3.4.2; Part G, 4.3.1.
package struct MTUNegotiation: Sendable {
    private enum State: Sendable {
        /// The own exchange is not over; at the deadline the size known so far will have to do.
        case unsettled(deadline: Instant)
        case settled
    }

    /// How long others wait for the own exchange of a central.
    package static let patience = Duration.seconds(1)

    /// What this end offers, in octets.
    package let preferred: Int
    /// The largest packet, in octets, that both ends take.
    package private(set) var mtu = ATT.defaultMTU
    private var state: State
    /// Whether the peer has asked, so that this end need not.
    package private(set) var hasPeerAsked = false

    /// Creates the negotiation of a link that came up at `now`, on which this host has the given role.
    package init(preferred: Int, role: LinkRole, at now: Instant) {
        self.preferred = min(max(preferred, ATT.defaultMTU), Int(UInt16.max))
        state = role == .central ? .unsettled(deadline: now + Self.patience) : .settled
    }

    /// When to call ``expire(at:)``, if nothing happens before.
    package var deadline: Instant? {
        if case .unsettled(let deadline) = state { deadline } else { nil }
    }

    package var isSettled: Bool {
        if case .settled = state { true } else { false }
    }

    package var request: ATTPacket { .exchangeMTURequest(.init(clientMTU: UInt16(preferred))) }
    package var response: ATTPacket { .exchangeMTUResponse(.init(serverMTU: UInt16(preferred))) }

    package enum OnEvent: Equatable {
        case nothing
        /// The own exchange of a central is over.
        case settled
        /// It is not over, or has been for some time, and the size is another than it was.
        case changed
    }

    /// Takes the answer to ``request``: what the server offers, or `nil` if it refused.
    package mutating func receiveAnswer(serverMTU: UInt16?) -> OnEvent {
        adopt(serverMTU.map { Int($0) } ?? mtu, settles: true)
    }

    /// Takes the peer's request.
    package mutating func receiveRequest(clientMTU: UInt16) -> OnEvent {
        guard !hasPeerAsked else { return .nothing }
        hasPeerAsked = true
        return adopt(Int(clientMTU), settles: false)
    }

    /// Settles for the size known so far if the time is up.
    package mutating func expire(at now: Instant) -> OnEvent {
        guard case .unsettled(let deadline) = state, deadline <= now else { return .nothing }
        state = .settled
        return .settled
    }

    private mutating func adopt(_ offered: Int, settles: Bool) -> OnEvent {
        let agreed = max(ATT.defaultMTU, min(offered, preferred))
        let hasChanged = agreed != mtu
        mtu = agreed
        guard settles, !isSettled else { return hasChanged ? .changed : .nothing }
        state = .settled
        return .settled
    }
}
