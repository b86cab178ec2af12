import BLEWire

/// The channels of one link, and the pending requests about them.
struct ChannelLink {
    /// A channel that this host has requested, and that the peer has not yet opened or refused.
    struct Opening {
        let kind: CreditChannel.Kind
        let spsm: SPSM
        let local: ChannelIdentifier
        var owner: CreditChannel.Owner
        /// The number of the owner's request.
        var number = RequestNumber.none
    }

    /// A client's request for a channel that the peer refused because of insufficient security.
    struct Deferred {
        let requester: Requester
        let spsm: SPSM
        let refusal: Signal.ConnectionResult
    }

    let peer: PeerIdentifier
    let role: LinkRole
    var exchange = SignalExchange()
    /// The channels, in ascending order of local identifiers.
    ///
    /// ``insert(_:)`` and ``remove(at:)`` maintain the order.
    var channels: [CreditChannel] = []
    var openings: [Opening] = []
    /// The requests to repeat once the link is more secure.
    var deferred: [Deferred] = []
    private var latest = ChannelIdentifier.dynamic.upperBound

    init(peer: PeerIdentifier, role: LinkRole) {
        self.peer = peer
        self.role = role
    }

    /// The earliest time at which a request or a draining channel times out; `nil` if there is none.
    var deadline: Instant? {
        var least = exchange.deadline
        for channel in channels {
            if let due = channel.deadline, least.map({ due < $0 }) ?? true { least = due }
        }
        return least
    }

    func index(local: ChannelIdentifier) -> Int? {
        let index = position(local)
        return index < channels.count && channels[index].local == local ? index : nil
    }

    func index(remote: ChannelIdentifier) -> Int? { channels.firstIndex { $0.remote == remote } }

    mutating func insert(_ channel: CreditChannel) { channels.insert(channel, at: position(channel.local)) }

    @discardableResult
    mutating func remove(at index: Int) -> CreditChannel { channels.remove(at: index) }

    /// Returns up to `count` free channel identifiers, without reserving them.
    ///
    /// An identifier is reused as late as possible, so that late packets for a closed channel do not reach a new
    /// channel.
    mutating func allocate(_ count: Int) -> [ChannelIdentifier] {
        let range = ChannelIdentifier.dynamic
        var names: [ChannelIdentifier] = [], candidate = latest
        for _ in range.lowerBound.wire...range.upperBound.wire where names.count < count {
            candidate =
                candidate == range.upperBound ? range.lowerBound : ChannelIdentifier(wire: candidate.wire &+ 1)
            let isTaken = index(local: candidate) != nil || openings.contains { $0.local == candidate }
            if !isTaken { names.append(candidate) }
        }
        if let last = names.last { latest = last }
        return names
    }

    /// Returns the index of the channel with this identifier; if there is none, the index at which to insert it.
    private func position(_ local: ChannelIdentifier) -> Int {
        channels.indices.bisected { channels[$0].local < local }
    }
}
