import BLEWire

/// A packet that a hostile peer may send, well-formed or not, with the answer that the host must give.
///
/// The answer does not depend on earlier packets.
struct HostilePacket: Sendable, CustomStringConvertible {
    /// The answer that the host must give to a packet.
    enum ExpectedAnswer: Equatable, Sendable {
        /// The response to the request, an ATT error with any code, or an L2CAP Command Reject with any reason.
        case answer
        /// An ATT error with this code, or an L2CAP Command Reject with this reason.
        case refusal(UInt8)
        /// A Handle Value Confirmation.
        case confirmation
        /// No answer.
        case nothing
        /// One answer or none: the specification leaves the choice open, or an oracle predicts the answer.
        case anything
    }

    let octets: [UInt8]
    let expected: ExpectedAnswer
    let channel: ChannelIdentifier

    /// Creates a packet from hexadecimal text with two digits for each octet.
    ///
    /// Spaces are ignored.
    init(_ digits: String, _ expected: ExpectedAnswer, channel: UInt16 = ChannelIdentifier.attribute.wire) {
        let digits = digits.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
        octets = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.expected = expected
        self.channel = ChannelIdentifier(wire: channel)
    }

    /// Creates a packet from octets.
    init(octets: [UInt8], _ expected: ExpectedAnswer, channel: ChannelIdentifier) {
        self.octets = octets
        self.expected = expected
        self.channel = channel
    }

    var description: String { octets.isEmpty ? "(empty)" : octets.hexadecimal }
}
