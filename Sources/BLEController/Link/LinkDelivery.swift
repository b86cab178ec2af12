import BLEWire

/// What became of an exchange, in the order in which it happened.
enum LinkDelivery: Sendable {
    /// The end heard a fragment of L2CAP.
    case data(Role, ArraySlice<UInt8>, isStart: Bool, at: Instant)
    /// The end heard a control PDU.
    case control(Role, LLControlPacket, at: Instant)
    /// The other end has the control PDU that this end sent.
    case acknowledged(Role, LLControlPacket, at: Instant)
    /// The other end has a whole fragment that the host of this end gave.
    case completed(Role, at: Instant)
    /// The end is gone: it has acknowledged that the other leaves, or what it heard is not authentic.
    case left(Role, reason: UInt8, at: Instant)
}
