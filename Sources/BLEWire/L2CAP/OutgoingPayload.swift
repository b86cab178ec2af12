/// The payload of an outgoing L2CAP packet.
///
/// The value of an ATT packet stays in the array that the app supplied, and the few octets in front of it are stored
/// separately. The value is copied only once, into the ``OutgoingPackets`` of the transport.
///
/// Core 6.0, Vol 3, Part A, 3.1 and Part F, 3.3.1.
package struct OutgoingPayload: Equatable, Sendable {
    /// The opcode and the handle of an ATT packet, if the payload is an ATT packet whose value is ``octets``.
    ///
    /// The opcode is in the lowest eight bits.
    private let front: UInt32
    /// The number of octets in ``front``: 0, 1 or 3.
    private let frontCount: Int
    /// The number of ``octets`` to send, counted from the first.
    let octetCount: Int
    let octets: [UInt8]

    /// Creates a payload that is already encoded.
    package init(_ payload: [UInt8]) {
        (front, frontCount, octetCount, octets) = (0, 0, payload.count, payload)
    }

    package init(_ packet: ATTPacket) { self.init(packet.encoded) }

    /// Creates an ATT packet from an opcode, an optional handle, and at most `limit` octets of a value.
    @inline(__always)
    package init(_ opcode: ATT.Opcode, _ attribute: AttributeHandle?, _ value: [UInt8], limit: Int = ATT.maximumMTU) {
        front = UInt32(opcode.wire) | UInt32(attribute?.wire ?? 0) << 8
        frontCount = attribute == nil ? 1 : 3
        octetCount = min(value.count, limit)
        octets = value
    }

    /// The payload without the L2CAP header.
    package var payload: [UInt8] {
        (0..<frontCount).map { UInt8(truncatingIfNeeded: front >> UInt32(8 * $0)) } + octets.prefix(octetCount)
    }

    /// The length of the payload with its L2CAP header, in octets.
    ///
    /// All these octets are divided into fragments.
    package var length: Int { headerCount + octetCount }

    /// The total length of the L2CAP header and, if present, the opcode and the handle, in octets.
    var headerCount: Int { L2CAPHeader.size + frontCount }

    /// Returns the L2CAP header for `channel`, followed by the opcode and the handle if there are any.
    ///
    /// The result has ``headerCount`` octets in one integer, with the first octet in the lowest eight bits.
    @inline(__always)
    func header(on channel: ChannelIdentifier) -> UInt64 {
        var header = HeaderEncoder()
        header.append(L2CAPHeader(length: UInt16(truncatingIfNeeded: frontCount + octetCount), channel: channel))
        return header.octets | UInt64(front) << UInt64(8 * L2CAPHeader.size)
    }
}
