import BLEWire

// Peers that take more, or less, than they said.
extension ChannelLayer {
    /// Takes note of the sizes that a peer receives from now on: for all the channels it names, or for none.
    ///
    /// Units may never become smaller; packets may, on one channel at a time.
    ///
    /// Core 6.0, Vol 3, Part A, 4.27 and 4.28.
    mutating func reconfigure(
        _ request: Signal.CreditBasedReconfigureRequest,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle) else { return }
        let result = links[at: link].judge(request)
        send(.creditBasedReconfigureResponse(.init(result)), identifier, on: handle)
        guard result == .success else { return }
        for channel in request.channels {
            guard let index = links[at: link].index(remote: channel) else { continue }
            links[at: link][index].outgoing.resize(mtu: Int(request.mtu), mps: Int(request.mps))
        }
    }
}

extension ChannelLink {
    fileprivate func judge(
        _ request: Signal.CreditBasedReconfigureRequest
    ) -> Signal.CreditBasedReconfigureResponse.Result {
        guard ChannelSizes.enhanced.allow(mtu: request.mtu, mps: request.mps) else { return .unacceptableParameters }
        var isSmaller = false
        for (position, channel) in request.channels.enumerated() {
            guard let index = index(remote: channel), channels[index].kind == .enhanced,
                !request.channels[..<position].contains(channel)
            else { return .invalidDestination }
            if Int(request.mtu) < channels[index].outgoing.mtu { return .mtuReduced }
            if Int(request.mps) < channels[index].outgoing.mps { isSmaller = true }
        }
        return isSmaller && request.channels.count > 1 ? .mpsReduced : .success
    }
}
