import BLEHost

/// The L2CAP channels of a manager. These methods run on the manager's queue, or while the manager is being released.
extension CBManager {
    /// Creates the object for a channel that has just been opened.
    func adopt(_ opened: OpenedChannel, with peer: CBPeer) -> CBL2CAPChannel {
        let channelState = ChannelState(opened, with: peer.peer, session: session, reference: reference)
        channels.withLock { $0[opened.id] = channelState }
        return CBL2CAPChannel(channelState, with: peer)
    }

    /// Passes a host event to its channel, if the app still retains the channel.
    func apply(_ event: ChannelEvent, to id: ChannelID) {
        let channelState = channels.withLock { $0[id] }
        channelState?.changeLater { $0.receive(event) }
    }

    /// Ends the channels to `peer`, or all channels if it is `nil`; their streams report `failure`.
    func endChannels(_ failure: Failure, with peer: PeerIdentifier? = nil) {
        for channelState in channels.withLock({ $0.objects }) where peer == nil || channelState.peer == peer {
            channelState.changeLater { $0.receive(.closed(failure)) }
        }
    }

    /// Closes the channels of a PSM that has been unpublished.
    func withdrawChannels(_ psm: CBL2CAPPSM) {
        for channelState in channels.withLock({ $0.objects }) where channelState.psm == psm {
            channelState.changeLater { $0.withdraw() }
        }
    }
}
