import BLEWire

/// A result of an exchange, in order.
enum LinkDelivery: Sendable {
    /// The end received an L2CAP fragment.
    case data(Role, ArraySlice<UInt8>, isStart: Bool, at: Instant)
    /// The end received a control PDU.
    case control(Role, LLControlPacket, at: Instant)
    /// The peer acknowledged the control PDU of this end.
    case acknowledged(Role, LLControlPacket, at: Instant)
    /// The peer has received a complete fragment from this end's host.
    case completed(Role, at: Instant)
    /// This end is closed: it acknowledged the peer's termination, or received a packet that is not authentic.
    case left(Role, reason: UInt8, at: Instant)
}
