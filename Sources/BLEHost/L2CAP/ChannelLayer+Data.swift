import BLEWire

// Data on channels, and the credits for them.
extension ChannelLayer {
    /// Processes the payload of a packet on the channel with this local identifier.
    mutating func receive(
        _ payload: Span<UInt8>,
        on local: ChannelIdentifier,
        of handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let link = links.index(of: handle), let index = links.values[link].index(local: local) else {
            return outbox.append(.note(.unknownChannel(local, handle)))
        }
        switch links.values[link].channels[index].receive(payload) {
        case .nothing: break
        case .deliver(let sdu):
            // Apps use channels as streams, where an empty SDU has no meaning.
            guard !sdu.isEmpty else { break }
            report(
                to: links.values[link].channels[index].owner,
                of: links.values[link].channels[index].id,
                .received(sdu)
            )
        case .close(let fault):
            outbox.append(.note(.channelBroken(fault, local, handle)))
            return abandon(index, .peerMisbehaved, on: handle, at: now)
        }
        replenish(index, at: link)
    }

    /// Grants the peer credits, if enough of them are due to justify a packet.
    mutating func replenish(_ index: Int, at link: Int) {
        guard !links.values[link].channels[index].isClosing,
            let credits = links.values[link].channels[index].incoming.replenish()
        else {
            return
        }
        let credit = Signal.FlowControlCredit(channel: links.values[link].channels[index].local, credits: credits)
        let identifier = links.values[link].exchange.makeIdentifier()
        send(.flowControlCredit(credit), identifier, on: links.handle(at: link))
    }

    /// Processes the credits that the peer has granted.
    ///
    /// Core 6.0, Vol 3, Part A, 4.24.
    mutating func receive(_ credit: Signal.FlowControlCredit, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle), let index = links.values[link].index(remote: credit.channel) else {
            return outbox.append(.note(.unknownChannel(credit.channel, handle)))
        }
        switch links.values[link].channels[index].outgoing.grant(Int(credit.credits)) {
        case .granted: sendQueued(index, at: link)
        case .nothing: outbox.append(.note(.dropped(.reserved(field: "Credits"), .channel(.leSignaling, handle))))
        case .overflow:
            outbox.append(.note(.channelBroken(.creditsExceeded, links.values[link].channels[index].local, handle)))
            abandon(index, .peerMisbehaved, on: handle, at: now)
        }
    }

    /// Passes to the host those packets of a channel that can be sent now.
    mutating func sendQueued(_ index: Int, at link: Int) {
        guard !links.values[link].channels[index].isClosing else { return }
        let handle = links.handle(at: link)
        let remote = links.values[link].channels[index].remote,
            receipt = SendReceipt(links.values[link].channels[index].id)
        while let packet = links.values[link].channels[index].outgoing.next() {
            outbox.append(.send(packet, on: remote, of: handle, receipt: receipt))
        }
    }

    /// Records that the controller has taken this channel's first pending packet.
    mutating func sent(_ id: ChannelID, at now: Instant) {
        guard let (link, index) = find(id) else { return }
        let octets = links.values[link].channels[index].outgoing.sent()
        if octets > 0 { report(to: links.values[link].channels[index].owner, of: id, .sent(octets)) }
        sendQueued(index, at: link)
        if links.values[link].channels[index].drained() == .disconnect {
            askToClose(index, on: links.handle(at: link), at: now)
        }
    }
}
