/// How a peer can break the rules of a credit-based channel, for which that channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3, 4.24 and 10.1.
package enum ChannelFault: Equatable, Sendable {
    /// A packet for which the peer had no credit.
    case noCredit
    /// A packet longer than this end takes.
    case packetTooLong
    /// A packet that begins a unit and does not say how long that is.
    case lengthMissing
    /// A unit longer than this end takes.
    case unitTooLong
    /// A unit of which more came than was announced.
    case unitExceeded
    /// More credits than an end may have.
    case creditsExceeded
}

extension ChannelFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noCredit: "a packet without a credit"
        case .packetTooLong: "a packet longer than the MPS"
        case .lengthMissing: "a unit without its length"
        case .unitTooLong: "a unit longer than the MTU"
        case .unitExceeded: "a unit longer than announced"
        case .creditsExceeded: "more than 65535 credits"
        }
    }
}
