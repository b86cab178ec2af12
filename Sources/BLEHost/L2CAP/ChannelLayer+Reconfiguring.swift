import BLEWire

// Changes of the MTU and MPS of open channels.
extension ChannelLayer {
    /// Processes the peer's new MTU and MPS, and applies them to all named channels or to none.
    ///
    /// The MTU must not decrease. The MPS may decrease, but only in a request for a single channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.27 and 4.28.
    mutating func reconfigure(
        _ request: Signal.CreditBasedReconfigureRequest,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle) else { return }
        let result = links.values[link].check(request)
        send(.creditBasedReconfigureResponse(.init(result)), identifier, on: handle)
        guard result == .success else { return }
        for channel in request.channels {
            guard let index = links.values[link].index(remote: channel) else { continue }
            links.values[link].channels[index].outgoing.resize(mtu: Int(request.mtu), mps: Int(request.mps))
            guard links.values[link].channels[index].owner == .attributes else { continue }
            let mtu = min(links.values[link].channels[index].incoming.mtu, Int(request.mtu))
            outbox.append(.bearer(.mtuChanged(links.values[link].channels[index].id, mtu), of: handle))
        }
    }

    /// Announces a new MTU and MPS to the peer, for up to five channels.
    ///
    /// The sizes are checked like those that a peer announces: the MTU must not decrease, and the MPS may decrease only
    /// for a single channel. The call fails without sending a request if the sizes are invalid, or if the sizes of one
    /// of the channels are fixed or already being changed.
    mutating func resize(
        _ ids: [ChannelID],
        mtu: Int,
        mps: Int,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let link = links.index(of: handle) else { return }
        let locals = ids.compactMap { id in links.values[link].channels.first { $0.id == id }?.local }
        if let failure = links.values[link].refusal(of: locals, mtu: mtu, mps: mps) {
            return resized(locals, failure, on: handle)
        }
        let identifier = links.values[link].exchange.begin(.resize(locals, mtu: mtu, mps: mps), at: now)
        let request = Signal.CreditBasedReconfigureRequest(
            mtu: UInt16(clamping: mtu),
            mps: UInt16(clamping: mps),
            channels: locals
        )
        send(.creditBasedReconfigureRequest(request), identifier, on: handle)
    }

    /// Processes the response to ``resize(_:mtu:mps:on:at:)``.
    ///
    /// Core 6.0, Vol 3, Part A, 4.28.
    mutating func resized(
        _ response: Signal.CreditBasedReconfigureResponse,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle) else { return }
        let request = links.values[link].exchange.finish(identifier) { if case .resize = $0 { true } else { false } }
        guard case .resize(let locals, let mtu, let mps)? = request else { return ignoreLateResponse(on: handle) }
        guard response.result == .success else { return resized(locals, .invalidParameters, on: handle) }
        for local in locals {
            guard let index = links.values[link].index(local: local) else { continue }
            links.values[link].channels[index].incoming.resize(mtu: mtu, mps: mps)
        }
        resized(locals, nil, on: handle)
    }

    /// Reports the result of a change of sizes to the owners of these channels; `failure` is `nil` for success.
    mutating func resized(_ locals: [ChannelIdentifier], _ failure: Failure?, on handle: ConnectionHandle) {
        guard let link = links.index(of: handle) else { return }
        for local in locals {
            guard let index = links.values[link].index(local: local) else { continue }
            report(
                to: links.values[link].channels[index].owner,
                of: links.values[link].channels[index].id,
                .resized(failure)
            )
        }
    }
}

extension ChannelLink {
    /// Returns the failure if this host may not announce these sizes for these channels; `nil` if it may.
    fileprivate func refusal(of locals: [ChannelIdentifier], mtu: Int, mps: Int) -> Failure? {
        guard let sdus = UInt16(exactly: mtu), let packets = UInt16(exactly: mps), !locals.isEmpty,
            ChannelSizes.enhanced.allow(mtu: sdus, mps: packets)
        else { return .invalidParameters }
        for local in locals {
            guard let index = index(local: local), channels[index].kind == .enhanced else { return .notSupported }
            let isBusy = exchange.isAsking {
                if case .resize(let all, _, _) = $0 { all.contains(local) } else { false }
            }
            if isBusy { return .alreadyInProgress }
            let isSmaller = mps < channels[index].incoming.mps && locals.count > 1
            if isSmaller || mtu < channels[index].incoming.mtu { return .invalidParameters }
        }
        return nil
    }

    fileprivate func check(
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
