/// A protocol violation of a peer on a credit-based channel, for which the channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3, 4.24 and 10.1.
package enum ChannelFault: Equatable, Sendable {
    /// A packet without a credit.
    case noCredit
    /// A packet longer than the MPS of this end.
    case frameTooLong
    /// The first K-frame of an SDU without an SDU length.
    case lengthMissing
    /// An SDU longer than the MTU of this end.
    case sduTooLong
    /// More octets than the SDU length.
    case sduExceeded
    /// More credits than allowed.
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
