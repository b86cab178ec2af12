import BLEWire

/// A request of a client that one packet asks and one packet answers: what most reads and writes are.
///
/// What is written is apart, so that this is no more than numbers.
struct SingleRequest {
    let requester: Requester
    /// Grows with each request of a client that begins.
    let order: UInt64
    let handle: AttributeHandle
    /// Whether a value is written, and not read.
    let isWrite: Bool
    /// How far the link could be trusted when it was begun.
    let security: LinkSecurity
    /// What a response to it can hold, in octets.
    let room: Int

    /// Whether a packet with so many octets behind its opcode is the whole answer.
    @inline(__always)
    func isAnswered(by packet: AttributePacket.Kind, octets count: Int) -> Bool {
        switch packet {
        case .readResponse: !isWrite && count < room && count <= ATT.maximumValueLength
        case .writeResponse: isWrite && count == 0
        case .readRequest, .writeRequest, .writeCommand, .notification, .other: false
        }
    }

    /// The same as any procedure: one that has been begun, and waits for its first answer.
    func procedure(writing value: [UInt8]) -> Procedure {
        isWrite
            ? .write(ValueWriting(begun: value, to: handle), handle)
            : .read(ValueReading(handle, begunWithRoom: room), handle)
    }
}
