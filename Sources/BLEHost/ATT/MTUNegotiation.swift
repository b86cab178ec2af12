package import BLEWire

/// The negotiation of the ATT MTU on the unenhanced bearer of a link.
///
/// Each end can send one request as a client. Each exchange results in the smaller of the two ends' values. Until the
/// first exchange has ended, the MTU is 23.
///
///        ┌───────────┐ response, error, 1 s ┌─────────┐
///        │ unsettled │ ───────────────────▶ │ settled │  a later exchange still counts
///        └───────────┘                      └─────────┘
///
/// A central sends its request as soon as the link is established, and clients wait for the response. A peripheral
/// cannot know whether or when the central will send a request. So its negotiation is settled from the start, and it
/// sends its own request when it needs a larger MTU.
///
/// Core 6.0, Vol 3, Part F, 3.4.2; Part G, 4.3.1.
package struct MTUNegotiation: Sendable {
    private enum State: Sendable {
        /// This host's exchange is not complete. At the deadline, the current MTU is used.
        case unsettled(deadline: Instant)
        case settled
    }

    /// The maximum time that clients wait for the exchange that this host starts as a central.
    package static let timeout = Duration.seconds(1)

    /// The MTU that this host offers, in octets.
    package let preferred: Int
    /// The current MTU, in octets.
    package private(set) var mtu = ATT.defaultMTU
    private var state: State
    /// True if the peer has sent its request; this host then does not need to send one.
    package private(set) var hasPeerAsked = false

    /// Creates the negotiation of a link that was established at `now` with the given local role.
    package init(preferred: Int, role: LinkRole, at now: Instant) {
        self.preferred = min(max(preferred, ATT.defaultMTU), Int(UInt16.max))
        state = role == .central ? .unsettled(deadline: now + Self.timeout) : .settled
    }

    /// The time at which to call ``expire(at:)``; `nil` if nothing is due.
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
        /// The exchange that this host started as a central has ended, or has taken too long. Clients can use the link
        /// now.
        case settled
        /// The MTU has changed, but ``MTUNegotiation/isSettled`` has not.
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

    /// Settles the negotiation with the current MTU if the peer has not responded in time.
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
