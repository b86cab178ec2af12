import BLEWire

/// The one-bit sequence numbers of one end of a connection, and the packet that this end has in flight.
///
/// A packet is sent again until the peer acknowledges it. A packet that is received twice is ignored the second time.
///
/// Core 6.0, Vol 6, Part B, 4.5.9.
struct Acknowledgement: Sendable {
    /// The contents of a data channel PDU.
    enum Payload: Equatable, Sendable {
        case empty
        case control(LLControlPacket)
        /// The next `count` octets of the host's first queued fragment.
        case data(count: Int)
    }

    /// The sequence number and the next expected sequence number in a packet's header.
    struct Bits: Equatable, Sendable {
        var sequence = false
        var nextExpected = false
    }

    private(set) var bits = Bits()
    /// The payload that has been sent and not yet acknowledged; `nil` if there is none.
    private(set) var inFlight: Payload?

    /// Records that `payload` is sent with the current ``bits``.
    mutating func send(_ payload: Payload) {
        precondition(inFlight == nil, "only one packet may be in flight")
        inFlight = payload
    }

    /// Processes the header of a received packet.
    ///
    /// - Returns: `isNew` is true if the received payload is not a repetition. `acknowledged` is this end's payload
    ///   that the packet acknowledges; `nil` if there is none.
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
