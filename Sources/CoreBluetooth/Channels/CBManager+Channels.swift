import BLEHost

/// The L2CAP channels of a manager. These methods run on the manager's queue, or while the manager is being released.
extension CBManager {
    /// Creates the object for a channel that has just been opened.
    func adopt(_ opened: OpenedChannel, with peer: CBPeer) -> CBL2CAPChannel {
        let conduit = ChannelConduit(opened, with: peer.peer, session: session, reference: reference)
        channels.withLock { $0[opened.id] = conduit }
        return CBL2CAPChannel(conduit, with: peer)
    }

    /// Passes a host event to its channel, if the app still retains the channel.
    func apply(_ event: ChannelEvent, to id: ChannelID) {
        let conduit = channels.withLock { $0[id] }
        conduit?.changeLater { $0.receive(event) }
    }

    /// Ends all channels, or only those to `peer` if it is not `nil`.
    func endChannels(_ failure: Failure, with peer: PeerIdentifier? = nil) {
        for conduit in channels.withLock({ $0.objects }) where peer == nil || conduit.peer == peer {
            conduit.changeLater { $0.receive(.closed(failure)) }
        }
    }

    /// Closes the channels of a PSM that has been unpublished.
    func withdrawChannels(_ psm: CBL2CAPPSM) {
        for conduit in channels.withLock({ $0.objects }) where conduit.psm == psm {
            conduit.changeLater { $0.withdraw() }
        }
    }
}
