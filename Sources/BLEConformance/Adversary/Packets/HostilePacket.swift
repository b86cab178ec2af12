import BLEWire

/// A packet that a peer may send, well-formed or not, with its required answer, which does not depend on earlier
/// packets.
struct HostilePacket: Sendable, CustomStringConvertible {
    /// The required reaction of the other end.
    enum Call: Equatable, Sendable {
        /// One answer: the response or any error.
        case answer
        /// An error with this code.
        case refusal(UInt8)
        /// A confirmation.
        case confirmation
        /// No answer.
        case nothing
        /// One answer or none: the specification leaves it open.
        case anything
    }

    let octets: [UInt8]
    let call: Call
    let channel: ChannelIdentifier

    /// Creates a packet from two hexadecimal digits an octet; spaces are ignored.
    init(_ digits: String, _ call: Call, channel: UInt16 = ChannelIdentifier.attribute.wire) {
        let digits = digits.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
        octets = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.call = call
        self.channel = ChannelIdentifier(wire: channel)
    }

    /// Creates a packet from octets.
    init(octets: [UInt8], _ call: Call, channel: ChannelIdentifier) {
        self.octets = octets
        self.call = call
        self.channel = channel
    }

    var description: String { octets.isEmpty ? "(empty)" : octets.hexadecimal }
}
