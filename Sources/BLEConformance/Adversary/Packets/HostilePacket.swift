import BLEWire

/// A packet that a peer may send, well-formed or not, and what it calls for whatever else was sent before.
struct HostilePacket: Sendable, CustomStringConvertible {
    /// What the other end must do.
    enum Call: Equatable, Sendable {
        /// Answer once: with the response, or with any error.
        case answer
        /// Refuse, for this reason.
        case refusal(UInt8)
        /// Confirm.
        case confirmation
        /// Say nothing.
        case nothing
        /// Answer once or say nothing: the specification leaves it open.
        case anything
    }

    let octets: [UInt8]
    let call: Call
    let channel: ChannelIdentifier

    /// Creates a packet from two digits an octet; spaces do not count.
    init(_ digits: String, _ call: Call, channel: UInt16 = ChannelIdentifier.attribute.wire) {
        let digits = digits.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
        octets = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.call = call
        self.channel = ChannelIdentifier(wire: channel)
    }

    /// Creates a packet of these octets.
    init(octets: [UInt8], _ call: Call, channel: ChannelIdentifier) {
        self.octets = octets
        self.call = call
        self.channel = channel
    }

    var description: String { octets.isEmpty ? "(empty)" : octets.hexadecimal }
}
