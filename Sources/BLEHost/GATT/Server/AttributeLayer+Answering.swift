import BLEWire

extension AttributeLayer {
    /// The reply to a request, which may have to wait for a client.
    enum Reply {
        /// Send this packet, and then carry out the action in `then`.
        case respond(ATTPacket, then: FollowUp = .none)
        case refuse(AttributeHandle, ATT.ErrorCode)
        case wait(ServerLink.Pending)
    }

    /// The action that the layer carries out after it has sent a response.
    enum FollowUp {
        case none
        case negotiated(MTUNegotiation.OnEvent)
        case store([GATTDatabase.StoredValue])
    }

    /// Processes a request, asks the client that provides the attribute if there is one, and returns the reply.
    mutating func reply(to request: ATTPacket, at position: BearerPosition, _ now: Instant) -> Reply {
        switch request {
        case .exchangeMTURequest(let request):
            // An enhanced bearer has the MTU of its channel.
            guard links[position.link].server.bearers[position.bearer].id == .unenhanced else {
                return .refuse(.none, .requestNotSupported)
            }
            return exchangeMTU(request, at: position, now)
        case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest:
            switch database.search(request, links[position.link].peerState, mtu: mtu(at: position)) {
            case .found(let response): return .respond(response)
            case .provided(let handle, let owner):
                return ask(owner, offset: 0, of: handle, for: request.opcode, .list, at: position)
            case .refused(let handle, let code): return .refuse(handle, code)
            }
        case .readRequest(let request): return read(request.handle, at: position)
        case .readBlobRequest(let request): return readBlob(request, at: position)
        case .readMultipleRequest(let request):
            return readSeveral(request.handles, after: [], for: .readMultipleRequest, at: position)
        case .readMultipleVariableRequest(let request):
            return readSeveral(request.handles, after: [], for: .readMultipleVariableRequest, at: position)
        case .writeRequest(let request): return write(request, at: position)
        case .prepareWriteRequest(let request): return prepare(request, at: position)
        case .executeWriteRequest(let request): return execute(request, at: position)
        default: preconditionFailure("a request is expected, not \(request.opcode)")
        }
    }

    private mutating func exchangeMTU(_ request: ATT.ExchangeMTURequest, at position: BearerPosition, _ now: Instant)
        -> Reply
    {
        let (event, response) = links[position.link].client.receiveOffer(request)
        return .respond(response, then: .negotiated(event))
    }

    private mutating func read(_ handle: AttributeHandle, at position: BearerPosition) -> Reply {
        switch database.read(handle, links[position.link].peerState) {
        case .value(let value):
            return .respond(.readResponse(.init(value: [UInt8](value.prefix(mtu(at: position) - 1)))))
        case .provided(let owner): return ask(owner, offset: 0, of: handle, for: .readRequest, .value, at: position)
        case .refused(let code): return .refuse(handle, code)
        }
    }

    private mutating func readBlob(_ request: ATT.ReadBlobRequest, at position: BearerPosition) -> Reply {
        let offset = Int(request.offset)
        switch database.read(request.handle, links[position.link].peerState) {
        case .value(let value):
            guard offset <= value.count else { return .refuse(request.handle, .invalidOffset) }
            let part = [UInt8](value[offset...].prefix(mtu(at: position) - 1))
            return .respond(.readBlobResponse(.init(part: part)))
        case .provided(let owner):
            return ask(owner, offset: offset, of: request.handle, for: .readBlobRequest, .part, at: position)
        case .refused(let code): return .refuse(request.handle, code)
        }
    }

    /// Reads the values at `handles` in order, and returns the reply to a request for several values.
    ///
    /// `values` are the values that the same request has read already. If a client provides one of the values, the
    /// reply waits for that client.
    mutating func readSeveral(
        _ handles: [AttributeHandle],
        after values: [[UInt8]],
        for request: ATT.Opcode,
        at position: BearerPosition
    ) -> Reply {
        var values = values
        for (offset, handle) in handles.enumerated() {
            switch database.read(handle, links[position.link].peerState) {
            case .value(let value): values.append(value)
            case .provided(let owner):
                let rest = [AttributeHandle](handles[(offset + 1)...])
                return ask(
                    owner,
                    offset: 0,
                    of: handle,
                    for: request,
                    .several(values: values, rest: rest),
                    at: position
                )
            case .refused(let code): return .refuse(handle, code)
            }
        }
        let mtu = self.mtu(at: position)
        if request == .readMultipleVariableRequest {
            return .respond(.readMultipleVariableResponse(.init(values: values, mtu: mtu)))
        }
        return .respond(.readMultipleResponse(.init(values: [UInt8](values.joined().prefix(mtu - 1)))))
    }

    private mutating func write(_ request: ATT.WriteRequest, at position: BearerPosition) -> Reply {
        let peerState = links[position.link].peerState
        switch database.write(request.value, to: request.handle, peerState, limits: configuration.limits) {
        case .store(let value): return .respond(.writeResponse, then: .store([value]))
        case .provided(let owner):
            let part = WritePart(attribute: owner.id, value: request.value)
            let asked = askToWrite([part], client: owner.client, at: position)
            return .wait(.init(request: .writeRequest, handle: request.handle, answer: .writing(asked)))
        case .refused(let code): return .refuse(request.handle, code)
        }
    }
}
