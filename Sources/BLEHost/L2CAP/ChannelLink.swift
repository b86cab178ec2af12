import BLEWire

/// The channels of one link, and what its two ends are asking each other about them.
struct ChannelLink {
    /// A channel that the peer was asked for.
    struct Opening {
        let kind: CreditChannel.Kind
        let spsm: SPSM
        let local: ChannelIdentifier
        var owner: CreditChannel.Owner
        /// Which request of its owner it answers.
        var number = RequestNumber.none
    }

    /// A channel of a client that the peer does not open on a link that it trusts no further.
    struct Deferred {
        let requester: Requester
        let spsm: SPSM
        let refusal: Signal.ConnectionResult
    }

    let peer: PeerIdentifier
    let role: LinkRole
    var exchange = SignalExchange()
    /// In ascending order of what this end names them; ``insert(_:)`` and ``remove(at:)`` keep it so.
    var channels: [CreditChannel] = []
    var openings: [Opening] = []
    /// What the peer refused, and is asked again when the link can be trusted further.
    var deferred: [Deferred] = []
    private var latest = ChannelIdentifier.dynamic.upperBound

    init(peer: PeerIdentifier, role: LinkRole) {
        self.peer = peer
        self.role = role
    }

    /// When something is due, if nothing happens before.
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

    /// Names up to `count` new channels; none of them is taken before it is used.
    ///
    /// A name is given again as late as can be, so that what is on its way to a channel that is gone meets nobody.
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

    /// Where the channel with this name is or belongs.
    private func position(_ local: ChannelIdentifier) -> Int {
        channels.indices.bisected { channels[$0].local < local }
    }
}
