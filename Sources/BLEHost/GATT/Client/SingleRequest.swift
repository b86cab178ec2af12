import BLEWire

/// A request of a client that one packet asks and one packet answers: what most reads and writes are.
struct SingleRequest {
    enum Kind {
        case read
        case write([UInt8])
    }

    let client: ClientID
    /// Grows with each request of a client that begins.
    let order: UInt64
    let handle: AttributeHandle
    let kind: Kind
    /// How far the link could be trusted when it was begun.
    let security: LinkSecurity
    /// What a response to it can hold, in octets.
    let room: Int

    /// Whether a packet with so many octets behind its opcode is the whole answer.
    func isAnswered(by packet: AttributePacket.Kind, octets count: Int) -> Bool {
        switch kind {
        case .read: packet == .readResponse && count < room
        case .write: packet == .writeResponse && count == 0
        }
    }

    /// The same as any procedure: one that has been begun, and waits for its first answer.
    var procedure: Procedure {
        switch kind {
        case .read: .read(ValueReading(handle, begunWithRoom: room), handle)
        case .write(let value): .write(ValueWriting(begun: value, to: handle), handle)
        }
    }
}
