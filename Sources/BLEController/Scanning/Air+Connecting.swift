import BLEWire

extension Air {
    /// Sends a connection request from an initiator to a legacy advertiser.
    ///
    /// - Returns: True if the advertiser has received the request and is now a peripheral.
    mutating func connect(
        _ candidate: Candidate,
        _ announcement: LegacyAnnouncement,
        channel: Int,
        at start: Instant
    ) -> Bool {
        guard let initiator = controllers[candidate.listener].initiator,
            let timing = initiator.timing(on: .oneMegabit),
            let own = ownAddress(candidate.listener, initiator.ownAddressKind, to: candidate.peer)
        else { return false }
        let agreement = newConnectionParameters(
            initiator: candidate.listener,
            advertiser: announcement.controller,
            addresses: (own, announcement.own),
            timing: timing,
            phy: .oneMegabit
        )
        let end = start + AirPHY.oneMegabit.airTime(34)
        let isReceived = sendConnectionRequest(
            candidate,
            announcement.controller,
            agreement,
            channel: channel,
            at: start
        )
        let isAccepted =
            isReceived && controllers[announcement.controller].allowsConnection(to: announcement.set, from: own.onAir)
        finishInitiating(candidate.listener)
        if isAccepted, let set = controllers[announcement.controller].setIndex(announcement.set.handle) {
            controllers[announcement.controller].sets[set].disable()
        }
        let handle = establish(agreement, receivedBy: (initiator: true, advertiser: isAccepted), at: end)
        if isAccepted, controllers[announcement.controller].generation == .extended {
            sendSetTerminated(announcement.controller, announcement.set, nil, connection: handle, at: end)
        }
        return isAccepted
    }

    /// Sends a connection request and returns whether the advertiser receives it.
    mutating func sendConnectionRequest(
        _ candidate: Candidate,
        _ advertiser: Int,
        _ agreement: NewConnectionParameters,
        channel: Int,
        at start: Instant
    ) -> Bool {
        let indication = agreement.indication(channelMap: controllers[candidate.listener].channelMap)
        var leg = RadioPath(
            from: candidate.listener,
            to: advertiser,
            strength: candidate.answer,
            channel: channel,
            at: start
        )
        leg.phy = agreement.phy
        if controllers[advertiser].faults.lostConnectIndications > 0 {
            controllers[advertiser].faults.lostConnectIndications -= 1
            leg.isDropped = true
        }
        return carry(.connect(indication, channelSelection: agreement.usesAlgorithm2), leg) != nil
    }

    /// Stops initiating, because the initiator has created a connection or the host has cancelled the creation.
    mutating func finishInitiating(_ controller: Int) {
        controllers[controller].initiator = nil
        refreshListening(controller)
    }
}
