import BLEWire

/// The one-bit sequence numbers of one end of a connection.
///
/// A packet is retransmitted until it is acknowledged, and a duplicate is ignored.
///
/// Core 6.0, Vol 6, Part B, 4.5.9.
struct Acknowledgement: Sendable {
    /// The contents of a data channel PDU.
    enum Payload: Equatable, Sendable {
        case empty
        case control(LLControlPacket)
        /// The next `count` octets of the first queued packet.
        case data(count: Int)
    }

    /// The two bits in a header.
    struct Bits: Equatable, Sendable {
        var sequence = false
        var nextExpected = false
    }

    private(set) var bits = Bits()
    /// The payload that was sent but not acknowledged.
    private(set) var inFlight: Payload?

    /// Records that `payload` is sent with the current ``bits``.
    mutating func send(_ payload: Payload) {
        precondition(inFlight == nil, "only one packet may be in flight")
        inFlight = payload
    }

    /// Processes the header of a received packet.
    ///
    /// - Returns: Whether its payload is new, and what it acknowledges.
    @inline(__always)
    mutating func receive(_ header: Bits) -> (isNew: Bool, acknowledged: Payload?) {
        var acknowledged: Payload?
        if header.nextExpected != bits.sequence, inFlight != nil {
            acknowledged = inFlight
            inFlight = nil
            bits.sequence.toggle()
        }
        guard header.sequence == bits.nextExpected else { return (false, acknowledged) }
        bits.nextExpected.toggle()
        return (true, acknowledged)
    }
}
