import BLEWire

extension AttributeLayer {
    /// What a request comes to.
    enum Reply {
        /// Send this, and then do what has been promised by it.
        case respond(ATTPacket, then: Effect = .none)
        case refuse(AttributeHandle, ATT.ErrorCode)
        case wait(ServerLink.Pending)
    }

    /// What an answer promises.
    enum Effect {
        case none
        case negotiated(MTUNegotiation.OnEvent)
        case keep([GATTDatabase.Keeping])
    }

    /// Works out what to answer to a request.
    mutating func reply(to request: ATTPacket, at place: Place, _ now: Instant) -> Reply {
        switch request {
        case .exchangeMTURequest(let request):
            // The size of packets on an enhanced bearer is that of its channel.
            guard links[place.link].server.bearers[place.bearer].id == .unenhanced else {
                return .refuse(.none, .requestNotSupported)
            }
            return exchangeMTU(request, at: place, now)
        case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest:
            switch database.search(request, links[place.link].view, mtu: mtu(at: place)) {
            case .found(let response): return .respond(response)
            case .held(let handle, let owner):
                return ask(owner, offset: 0, of: handle, for: request.opcode, .list, at: place)
            case .refused(let handle, let code): return .refuse(handle, code)
            }
        case .readRequest(let request): return read(request.handle, at: place)
        case .readBlobRequest(let request): return readBlob(request, at: place)
        case .readMultipleRequest(let request):
            return readSeveral(request.handles, after: [], for: .readMultipleRequest, at: place)
        case .readMultipleVariableRequest(let request):
            return readSeveral(request.handles, after: [], for: .readMultipleVariableRequest, at: place)
        case .writeRequest(let request): return write(request, at: place)
        case .prepareWriteRequest(let request): return prepare(request, at: place)
        case .executeWriteRequest(let request): return execute(request, at: place)
        default: preconditionFailure("\(request.opcode) is no request")
        }
    }

    private mutating func exchangeMTU(_ request: ATT.ExchangeMTURequest, at place: Place, _ now: Instant) -> Reply {
        let (event, response) = links[place.link].client.receiveOffer(request)
        return .respond(response, then: .negotiated(event))
    }

    private mutating func read(_ handle: AttributeHandle, at place: Place) -> Reply {
        switch database.read(handle, links[place.link].view) {
        case .value(let value):
            return .respond(.readResponse(.init(value: [UInt8](value.prefix(mtu(at: place) - 1)))))
        case .held(let owner): return ask(owner, offset: 0, of: handle, for: .readRequest, .value, at: place)
        case .refused(let code): return .refuse(handle, code)
        }
    }

    private mutating func readBlob(_ request: ATT.ReadBlobRequest, at place: Place) -> Reply {
        let offset = Int(request.offset)
        switch database.read(request.handle, links[place.link].view) {
        case .value(let value):
            guard offset <= value.count else { return .refuse(request.handle, .invalidOffset) }
            let part = [UInt8](value[offset...].prefix(mtu(at: place) - 1))
            return .respond(.readBlobResponse(.init(part: part)))
        case .held(let owner):
            return ask(owner, offset: offset, of: request.handle, for: .readBlobRequest, .part, at: place)
        case .refused(let code): return .refuse(request.handle, code)
        }
    }

    /// Reads one value after the other; clients that have some of them are asked in turn.
    mutating func readSeveral(
        _ handles: [AttributeHandle],
        after values: [[UInt8]],
        for request: ATT.Opcode,
        at place: Place
    ) -> Reply {
        var values = values
        for (position, handle) in handles.enumerated() {
            switch database.read(handle, links[place.link].view) {
            case .value(let value): values.append(value)
            case .held(let owner):
                let rest = [AttributeHandle](handles[(position + 1)...])
                return ask(owner, offset: 0, of: handle, for: request, .several(values: values, rest: rest), at: place)
            case .refused(let code): return .refuse(handle, code)
            }
        }
        let mtu = self.mtu(at: place)
        if request == .readMultipleVariableRequest {
            return .respond(.readMultipleVariableResponse(.init(values: values, mtu: mtu)))
        }
        return .respond(.readMultipleResponse(.init(values: [UInt8](values.joined().prefix(mtu - 1)))))
    }

    private mutating func write(_ request: ATT.WriteRequest, at place: Place) -> Reply {
        let view = links[place.link].view
        switch database.write(request.value, to: request.handle, view, limits: configuration.limits) {
        case .keep(let keeping): return .respond(.writeResponse, then: .keep([keeping]))
        case .held(let owner):
            let part = WritePart(attribute: owner.id, value: request.value)
            let asked = askToWrite([part], client: owner.client, at: place)
            return .wait(.init(request: .writeRequest, handle: request.handle, answer: .writing(asked)))
        case .refused(let code): return .refuse(request.handle, code)
        }
    }

    private mutating func prepare(_ request: ATT.PrepareWriteRequest, at place: Place) -> Reply {
        if let code = database.refusalToWrite(request.handle, links[place.link].view) {
            return .refuse(request.handle, code)
        }
        let part = PreparedWrites.Part(handle: request.handle, offset: Int(request.offset), value: request.part)
        guard links[place.link].server.prepared.append(part) else { return .refuse(request.handle, .prepareQueueFull) }
        return .respond(
            .prepareWriteResponse(.init(handle: request.handle, offset: request.offset, part: request.part))
        )
    }

    /// Writes all that was prepared, or nothing: every attribute is checked first, then every client is asked, and what
    /// the host keeps itself is kept when all have agreed.
    private mutating func execute(_ request: ATT.ExecuteWriteRequest, at place: Place) -> Reply {
        let parts = links[place.link].server.prepared.removeAll()
        guard request.decision == .write else { return .respond(.executeWriteResponse) }
        if let handle = database.unreliable(among: parts.map(\.handle)) { return .refuse(handle, .requestNotSupported) }
        var keepings: [GATTDatabase.Keeping] = []
        var groups: [(client: ClientID, parts: [WritePart])] = []
        for (position, part) in parts.enumerated() {
            let isFirst = !parts[..<position].contains { $0.handle == part.handle }
            let all = isFirst ? parts.filter { $0.handle == part.handle } : [part]
            switch database.write(all, links[place.link].view, limits: configuration.limits) {
            case .keep(let keeping): if isFirst { keepings.append(keeping) }
            case .held(let owner):
                let written = WritePart(attribute: owner.id, offset: part.offset, value: part.value)
                if let group = groups.firstIndex(where: { $0.client == owner.client }) {
                    groups[group].parts.append(written)
                } else {
                    groups.append((owner.client, [written]))
                }
            case .refused(let code): if isFirst { return .refuse(part.handle, code) }
            }
        }
        guard !groups.isEmpty else { return .respond(.executeWriteResponse, then: .keep(keepings)) }
        let asked = groups.map { askToWrite($0.parts, client: $0.client, at: place) }
        return .wait(
            .init(
                request: .executeWriteRequest,
                handle: parts.first?.handle ?? .none,
                answer: .executing(.init(asked: asked, values: keepings, others: parts.dropFirst().map(\.handle)))
            )
        )
    }
}
