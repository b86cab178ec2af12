/// How a peer can break the rules of a credit-based channel, for which that channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3, 4.24 and 10.1.
package enum ChannelFault: Equatable, Sendable {
    /// A packet for which the peer had no credit.
    case noCredit
    /// A packet longer than this end takes.
    case frameTooLong
    /// A K-frame that begins an SDU and does not say how long that is.
    case lengthMissing
    /// An SDU longer than this end takes.
    case sduTooLong
    /// An SDU of which more came than was announced.
    case sduExceeded
    /// More credits than an end may have.
    case creditsExceeded
}

extension ChannelFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noCredit: "a K-frame without a credit"
        case .frameTooLong: "a K-frame longer than the MPS"
        case .lengthMissing: "an SDU without its length"
        case .sduTooLong: "an SDU longer than the MTU"
        case .sduExceeded: "an SDU longer than announced"
        case .creditsExceeded: "more than 65535 credits"
        }
    }
}
