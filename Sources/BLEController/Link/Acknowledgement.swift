import BLEWire

/// The one-bit sequence numbers of one end of a connection: what was sent is sent again until the other end says
/// that it has it, and what comes twice counts once.
///
/// Core 6.0, Vol 6, Part B, 4.5.9.
struct Acknowledgement: Sendable {
    /// What a data channel PDU carries.
    enum Payload: Equatable, Sendable {
        case empty
        case control(LLControlPacket)
        /// The next `count` octets of the first packet that waits.
        case data(count: Int)
    }

    /// The two bits of a header.
    struct Bits: Equatable, Sendable {
        var sequence = false
        var nextExpected = false
    }

    private(set) var bits = Bits()
    /// What was sent and is not acknowledged yet.
    private(set) var inFlight: Payload?

    /// Notes that `payload` goes out now, with the present ``bits``.
    mutating func send(_ payload: Payload) {
        precondition(inFlight == nil, "only one packet is in flight")
        inFlight = payload
    }

    /// Takes the header of a packet that arrived.
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
