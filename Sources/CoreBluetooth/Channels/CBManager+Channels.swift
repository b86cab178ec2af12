import BLEHost

/// All of these run on the manager's queue, except when the manager is released.
extension CBManager {
    /// Creates the object for a channel that was just opened.
    func adopt(_ opened: OpenedChannel, with peer: CBPeer) -> CBL2CAPChannel {
        let conduit = ChannelConduit(opened, with: peer.peer, session: session, reference: reference)
        channels.withLock { $0[opened.id] = conduit }
        return CBL2CAPChannel(conduit, with: peer)
    }

    /// Processes an event of a channel, if the app still retains it.
    func apply(_ event: ChannelEvent, to id: ChannelID) {
        let conduit = channels.withLock { $0[id] }
        conduit?.hear { $0.receive(event) }
    }

    /// Ends all channels, or those with `peer`.
    func endChannels(_ failure: Failure, with peer: PeerIdentifier? = nil) {
        for conduit in channels.withLock({ $0.objects }) where peer == nil || conduit.peer == peer {
            conduit.hear { $0.receive(.closed(failure)) }
        }
    }

    /// Closes the channels of a PSM that was unpublished.
    func withdrawChannels(_ psm: CBL2CAPPSM) {
        for conduit in channels.withLock({ $0.objects }) where conduit.psm == psm {
            conduit.hear { $0.withdraw() }
        }
    }
}
