import BLEWire

/// A request of a client with a single packet and a single response, like most reads and writes.
///
/// The written value is stored elsewhere, so that this consists of numbers only.
struct SingleRequest {
    let requester: Requester
    /// Increases with each started request of a client.
    let order: UInt64
    let handle: AttributeHandle
    /// True for a write, false for a read.
    let isWrite: Bool
    /// The security of the link when the request was started.
    let security: LinkSecurity
    /// The capacity of a response, in octets.
    let room: Int

    /// Returns whether a packet with that many octets after its opcode is the complete response.
    @inline(__always)
    func isAnswered(by packet: AttributePacket.Kind, octets count: Int) -> Bool {
        switch packet {
        case .readResponse: !isWrite && count < room && count <= ATT.maximumValueLength
        case .writeResponse: isWrite && count == 0
        case .readRequest, .writeRequest, .writeCommand, .notification, .other: false
        }
    }

    /// Converts to a procedure in progress that waits for its first response.
    func procedure(writing value: [UInt8]) -> Procedure {
        isWrite
            ? .write(ValueWriting(begun: value, to: handle), handle)
            : .read(ValueReading(handle, begunWithRoom: room), handle)
    }
}
