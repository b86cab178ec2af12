import BLEHost

/// All of this happens on the manager's queue, but for the end of the manager itself.
extension CBManager {
    /// Makes the object that stands for a channel which has just been opened.
    func adopt(_ opened: OpenedChannel, with peer: CBPeer) -> CBL2CAPChannel {
        let conduit = ChannelConduit(opened, with: peer.peer, session: session, reference: reference)
        channels.withLock { $0[opened.id] = conduit }
        return CBL2CAPChannel(conduit, with: peer)
    }

    /// Takes what the host says of a channel, if there is still somebody who wants to hear it.
    func apply(_ event: ChannelEvent, to id: ChannelID) {
        let conduit = channels.withLock { $0[id] }
        conduit?.hear { $0.receive(event) }
    }

    /// Takes note that there are no channels any more, or none with `peer`.
    func endChannels(_ failure: Failure, with peer: PeerIdentifier? = nil) {
        for conduit in channels.withLock({ $0.objects }) where peer == nil || conduit.peer == peer {
            conduit.hear { $0.receive(.closed(failure)) }
        }
    }

    /// Closes the channels to a number that is not offered any more.
    func withdrawChannels(_ psm: CBL2CAPPSM) {
        for conduit in channels.withLock({ $0.objects }) where conduit.psm == psm {
            conduit.hear { $0.withdraw() }
        }
    }
}
