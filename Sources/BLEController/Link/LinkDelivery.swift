import BLEWire

/// Something that an exchange of packets brought about at one end of a link.
///
/// Deliveries are kept in order.
enum LinkDelivery: Sendable {
    /// The end with this role has received a part of an L2CAP packet.
    case data(Role, ArraySlice<UInt8>, isStart: Bool, at: Instant)
    /// The end with this role has received a control PDU.
    case control(Role, LLControlPacket, at: Instant)
    /// The peer has acknowledged a control PDU from the end with this role.
    case acknowledged(Role, LLControlPacket, at: Instant)
    /// The peer has acknowledged a whole fragment from the host of the end with this role.
    case completed(Role, at: Instant)
    /// The link is over for the end with this role: it has acknowledged the peer's termination, or received a packet
    /// that is not authentic.
    case left(Role, reason: UInt8, at: Instant)
}
