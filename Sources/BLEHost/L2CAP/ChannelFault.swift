/// A protocol violation by a peer on a credit-based channel.
///
/// The violation closes the channel.
package enum ChannelFault: Equatable, Sendable {
    /// A K-frame for which the peer had no credit.
    case noCredit
    /// A K-frame longer than this host's MPS.
    case frameTooLong
    /// The first K-frame of an SDU does not contain the SDU length.
    case lengthMissing
    /// An SDU longer than this host's MTU.
    case sduTooLong
    /// More octets in an SDU than its SDU length announces.
    case sduExceeded
    /// More than 65535 credits.
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
