import BLEWire

// Packets on the signalling channel.
extension ChannelLayer {
    /// Processes the payload of a packet on the signalling channel.
    ///
    /// An invalid packet is rejected if it may be a request, and dropped otherwise. `trust` determines which channels
    /// the peer may open.
    ///
    /// Core 6.0, Vol 3, Part A, 4 and 4.1.
    mutating func receiveSignal(
        _ bytes: Span<UInt8>,
        on handle: ConnectionHandle,
        _ trust: LinkTrust,
        at now: Instant
    ) {
        guard let link = links.index(of: handle) else { return }
        guard bytes.count <= SignalPacket.minimumMTU else {
            return reject(bytes, .mtuExceeded(mtu: UInt16(SignalPacket.minimumMTU)), on: handle)
        }
        let packet: SignalPacket
        do throws(PacketError) { packet = try SignalPacket(decoding: bytes) } catch {
            outbox.append(.note(.dropped(error, .channel(.leSignaling, handle))))
            return reject(bytes, .notUnderstood, on: handle)
        }
        let identifier = packet.identifier
        switch packet.signal {
        case .connectionParameterUpdateRequest(let request):
            if links.values[link].role == .central {
                outbox.append(.parametersRequested(request, identifier, handle))
            } else {
                send(.commandReject(.notUnderstood), identifier, on: handle)
            }
        case .connectionParameterUpdateResponse(let response): answered(response, identifier, on: handle)
        case .commandReject: rejected(identifier, on: handle)
        case .leCreditBasedConnectionRequest(let request): accept(request, identifier, on: handle, trust)
        case .leCreditBasedConnectionResponse(let response): opened(response, identifier, on: handle, at: now)
        case .creditBasedConnectionRequest(let request): accept(request, identifier, on: handle, trust)
        case .creditBasedConnectionResponse(let response): opened(response, identifier, on: handle, at: now)
        case .creditBasedReconfigureRequest(let request): reconfigure(request, identifier, on: handle)
        case .creditBasedReconfigureResponse(let response): resized(response, identifier, on: handle)
        case .disconnectionRequest(let request): close(request, identifier, on: handle)
        case .disconnectionResponse(let response): closed(response, identifier, on: handle)
        case .flowControlCredit(let credit): receive(credit, on: handle, at: now)
        case .unknown: send(.commandReject(.notUnderstood), identifier, on: handle)
        }
    }

    /// Asks the central for new connection parameters, unless such a request is already pending.
    mutating func request(
        _ parameters: Signal.ConnectionParameterUpdateRequest,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let link = links.index(of: handle), !links.values[link].exchange.isAsking(.parameters) else { return }
        let identifier = links.values[link].exchange.begin(.parameters, at: now)
        send(.connectionParameterUpdateRequest(parameters), identifier, on: handle)
    }

    private mutating func answered(
        _ response: Signal.ConnectionParameterUpdateResponse,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle),
            links.values[link].exchange.finish(identifier, where: { $0 == .parameters }) != nil
        else { return ignoreLateResponse(on: handle) }
        if response.result == .rejected { outbox.append(.note(.signalRefused(handle))) }
    }

    /// Processes a Command Reject: the rejected request fails.
    private mutating func rejected(_ identifier: SignalIdentifier, on handle: ConnectionHandle) {
        guard let link = links.index(of: handle),
            let request = links.values[link].exchange.finish(identifier, where: { _ in true })
        else { return ignoreLateResponse(on: handle) }
        outbox.append(.note(.signalRefused(handle)))
        failRequest(request, .notSupported, on: handle)
    }

    /// Rejects a packet that may be a request.
    private mutating func reject(
        _ bytes: Span<UInt8>,
        _ rejection: Signal.CommandReject,
        on handle: ConnectionHandle
    ) {
        guard bytes.count >= 2, let identifier = SignalIdentifier(wire: bytes[1]) else { return }
        guard !Self.answers.contains(Signal.Code(wire: bytes[0])) else { return ignoreLateResponse(on: handle) }
        send(.commandReject(rejection), identifier, on: handle)
    }

    mutating func ignoreLateResponse(on handle: ConnectionHandle) {
        outbox.append(.note(.unexpectedResponse(.leSignaling, handle)))
    }

    /// The codes of packets that need no response, because they are responses or grant credits.
    private static let answers: [Signal.Code] = [
        .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse, .leCreditBasedConnectionResponse,
        .flowControlCredit, .creditBasedConnectionResponse, .creditBasedReconfigureResponse,
    ]
}
