import BLEWire

extension AttributeLayer {
    mutating func prepare(_ request: ATT.PrepareWriteRequest, at position: BearerPosition) -> Reply {
        if let code = database.refusalToWrite(request.handle, links[position.link].peerState) {
            return .refuse(request.handle, code)
        }
        guard request.part.count <= configuration.limits.attributeLength else {
            return .refuse(request.handle, .invalidAttributeValueLength)
        }
        let part = PreparedWrites.Part(handle: request.handle, offset: Int(request.offset), value: request.part)
        guard links[position.link].server.prepared.append(part) else {
            return .refuse(request.handle, .prepareQueueFull)
        }
        return .respond(
            .prepareWriteResponse(.init(handle: request.handle, offset: request.offset, part: request.part))
        )
    }

    /// Executes all prepared writes or none.
    ///
    /// First every attribute is checked. Then all clients that provide values are asked. When all have agreed, the
    /// values that the host stores are changed.
    mutating func execute(_ request: ATT.ExecuteWriteRequest, at position: BearerPosition) -> Reply {
        let parts = links[position.link].server.prepared.removeAll()
        guard request.decision == .write else { return .respond(.executeWriteResponse) }
        if let handle = database.firstWithoutReliableWrites(among: parts.map(\.handle)) {
            return .refuse(handle, .requestNotSupported)
        }
        var storedValues: [GATTDatabase.StoredValue] = []
        var groups: [(client: ClientID, parts: [WritePart])] = []
        for (offset, part) in parts.enumerated() {
            let isFirst = !parts[..<offset].contains { $0.handle == part.handle }
            let all = isFirst ? parts.filter { $0.handle == part.handle } : [part]
            switch database.write(all, links[position.link].peerState, limits: configuration.limits) {
            case .store(let value): if isFirst { storedValues.append(value) }
            case .provided(let owner):
                let written = WritePart(attribute: owner.id, offset: part.offset, value: part.value)
                if let group = groups.firstIndex(where: { $0.client == owner.client }) {
                    groups[group].parts.append(written)
                } else {
                    groups.append((owner.client, [written]))
                }
            case .refused(let code): if isFirst { return .refuse(part.handle, code) }
            }
        }
        guard !groups.isEmpty else { return .respond(.executeWriteResponse, then: .store(storedValues)) }
        let asked = groups.map { askToWrite($0.parts, client: $0.client, at: position) }
        return .wait(
            .init(
                request: .executeWriteRequest,
                handle: parts.first?.handle ?? .none,
                answer: .executing(.init(asked: asked, values: storedValues, others: parts.dropFirst().map(\.handle)))
            )
        )
    }
}
