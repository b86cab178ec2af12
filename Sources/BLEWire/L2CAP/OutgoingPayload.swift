/// The payload of an L2CAP packet that is to be sent.
///
/// What an app has said stays as the app handed it over, behind the few octets that say what it is, and is written
/// once, where the transport takes it (``OutgoingPackets``).
///
/// Core 6.0, Vol 3, Part A, 3.1 and Part F, 3.3.1.
package struct OutgoingPayload: Equatable, Sendable {
    /// The opcode and the handle of a packet of the Attribute Protocol whose value is ``octets``: the opcode, if there
    /// is one, in the lowest eight bits.
    private let front: UInt32
    /// How many octets ``front`` has: 0, 1 or 3.
    private let frontCount: Int
    /// How many of ``octets`` belong to it, from the first.
    let octetCount: Int
    let octets: [UInt8]

    /// A payload that is written already.
    package init(_ payload: [UInt8]) {
        (front, frontCount, octetCount, octets) = (0, 0, payload.count, payload)
    }

    package init(_ packet: ATTPacket) { self.init(packet.encoded) }

    /// A packet of the Attribute Protocol: an opcode, a handle if it has one, and at most `limit` octets of a value.
    @inline(__always)
    package init(_ opcode: ATT.Opcode, _ attribute: AttributeHandle?, _ value: [UInt8], limit: Int = ATT.maximumMTU) {
        front = UInt32(opcode.wire) | UInt32(attribute?.wire ?? 0) << 8
        frontCount = attribute == nil ? 1 : 3
        octetCount = min(value.count, limit)
        octets = value
    }

    /// The octets without any header.
    package var payload: [UInt8] {
        (0..<frontCount).map { UInt8(truncatingIfNeeded: front >> UInt32(8 * $0)) } + octets.prefix(octetCount)
    }

    /// How many octets there are with the L2CAP header, which is what fragments are made of.
    package var length: Int { headerCount + octetCount }

    /// How many octets come before ``octets``: those of the L2CAP header among them.
    var headerCount: Int { L2CAPHeader.size + frontCount }

    /// What comes before ``octets``, on a channel: ``headerCount`` octets, the first of them the least significant.
    @inline(__always)
    func header(on channel: ChannelIdentifier) -> UInt64 {
        var header = HeaderEncoder()
        header.append(L2CAPHeader(length: UInt16(truncatingIfNeeded: frontCount + octetCount), channel: channel))
        return header.octets | UInt64(front) << UInt64(8 * L2CAPHeader.size)
    }
}
