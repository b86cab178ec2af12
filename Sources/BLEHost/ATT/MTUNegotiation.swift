package import BLEWire

/// The negotiation of the ATT MTU on one bearer.
///
/// Each end may send one request as a client; both exchanges result in the smaller of the two values. Until then it is
/// 23.
///
///        ┌───────────┐ answer, refusal, 1 s ┌─────────┐
///        │ unsettled │ ───────────────────▶ │ settled │  what is exchanged later still counts
///        └───────────┘                      └─────────┘
///
/// A central sends its request as soon as the link is up, and clients wait for the response. A peripheral cannot know
/// when its central does so, if at all: it is settled from the start, and sends its own request when it needs one.
///
/// Core 6.0, Vol 3, Part F, 3.4.2; Part G, 4.3.1.
package struct MTUNegotiation: Sendable {
    private enum State: Sendable {
        /// The own exchange is not complete. At the deadline, the current MTU is used.
        case unsettled(deadline: Instant)
        case settled
    }

    /// The maximum time that clients wait for a central's own exchange.
    package static let patience = Duration.seconds(1)

    /// The MTU that this end offers, in octets.
    package let preferred: Int
    /// The current MTU, in octets.
    package private(set) var mtu = ATT.defaultMTU
    private var state: State
    /// True if the peer has sent its request, so that this end need not.
    package private(set) var hasPeerAsked = false

    /// Creates the negotiation of a link that came up at `now` with the given local role.
    package init(preferred: Int, role: LinkRole, at now: Instant) {
        self.preferred = min(max(preferred, ATT.defaultMTU), Int(UInt16.max))
        state = role == .central ? .unsettled(deadline: now + Self.patience) : .settled
    }

    /// The time at which to call ``expire(at:)`` unless something happens first.
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
        /// A central's own exchange is complete.
        case settled
        /// The MTU changed, without or after the end of the own exchange.
        case changed
    }

    /// Processes the response to ``request``: the server's MTU, or `nil` for an error response.
    package mutating func receiveAnswer(serverMTU: UInt16?) -> OnEvent {
        adopt(serverMTU.map { Int($0) } ?? mtu, settles: true)
    }

    /// Processes the peer's request.
    package mutating func receiveRequest(clientMTU: UInt16) -> OnEvent {
        guard !hasPeerAsked else { return .nothing }
        hasPeerAsked = true
        return adopt(Int(clientMTU), settles: false)
    }

    /// Settles for the current MTU if the time is up.
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
