import BLEWire

/// A client's read or write that takes a single request and a single response, like most reads and writes.
///
/// The value to write is stored elsewhere, so that this struct contains only numbers.
struct SingleRequest {
    let requester: Requester
    /// The sequence number among the procedures that were started for clients.
    let order: UInt64
    let handle: AttributeHandle
    /// True for a write, false for a read.
    let isWrite: Bool
    /// The security of the link when the request was started.
    let security: LinkSecurity
    /// The maximum length of the value in the response, in octets.
    let room: Int

    /// Returns whether a packet with `count` octets after its opcode is the complete response.
    @inline(__always)
    func isAnswered(by packet: AttributePacket.Kind, octets count: Int) -> Bool {
        switch packet {
        case .readResponse: !isWrite && count < room && count <= ATT.maximumValueLength
        case .writeResponse: isWrite && count == 0
        case .readRequest, .writeRequest, .writeCommand, .notification, .other: false
        }
    }

    /// Converts the request to a procedure that waits for its first response.
    func procedure(writing value: [UInt8]) -> Procedure {
        isWrite
            ? .write(ValueWriting(begun: value, to: handle), handle)
            : .read(ValueReading(handle, begunWithRoom: room), handle)
    }
}
