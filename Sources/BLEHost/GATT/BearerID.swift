/// The identifier of a bearer of a link.
///
/// Both ends of the link can send requests, responses and values on each bearer.
///
/// Core 6.0, Vol 3, Part F, 3.2.11; Part G, 5.3.
package enum BearerID: Hashable, Sendable {
    /// The bearer on channel 0x0004, which every link has.
    case unenhanced
    /// A bearer on a credit-based channel of an encrypted link.
    case enhanced(ChannelID)
}

/// A request that the attribute layer makes to L2CAP about a link's bearers.
package enum BearerRequest: Equatable, Sendable {
    /// Ask the peer to open this number of bearers (1 to 5).
    case open(Int)
    case channel(ChannelID, ChannelRequest)
}
