import BLEWire

// Changes of the local database: how they are announced, and which requests are rejected until a peer is aware of them.
extension AttributeLayer {
    /// Records that services in these ranges were added or removed, and announces the change to all peers.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2 and 7.1.
    mutating func databaseChanged(in ranges: [AttributeHandleRange], at now: Instant) {
        guard !ranges.isEmpty, !links.isEmpty else { return }
        database.refreshHash()
        for index in links.indices {
            links[index].server.awareness.databaseChanged()
            if links[index].server.isBlockedUntilAware {
                for position in positions(at: index) { dropWaiting(at: position) }
            }
            for range in ranges { announceChange(of: range, at: index, now) }
            rememberClient(at: index)
        }
    }

    /// Indicates to a peer that services in `range` changed, if the peer has subscribed to Service Changed.
    mutating func announceChange(of range: AttributeHandleRange, at index: Int, _ now: Instant) {
        guard let value = database.serviceChanged, let (configuration, _) = database.configuration(of: value),
            links[index].server.configurations[configuration] != 0
        else { return }
        links[index].server.noteAnnouncement(ofChangeIn: range)
        submit(.serviceChanged(value, range), at: BearerPosition(link: index), now)
    }

    /// Records that the peer confirmed a Service Changed indication.
    ///
    /// The peer becomes change-aware, unless another change is still unconfirmed.
    mutating func confirmedChange(at index: Int) {
        guard !links[index].server.bearers[0].indications.announcesChange else { return }
        links[index].server.confirmedChange()
        rememberClient(at: index)
    }

    /// Returns the error response for a request from a change-unaware peer; `nil` if the request may be carried out.
    mutating func refusal(of request: ATTPacket, at index: Int) -> Reply? {
        guard !links[index].server.awareness.isAware else { return nil }
        let isRobust = links[index].server.features.contains(.robustCaching)
        let usesHandles = request.usesHandles || request == .executePrepared && !links[index].server.prepared.isEmpty
        switch links[index].server.awareness.receiveRequest(
            usesHandles: usesHandles,
            isRobust: isRobust,
            onOnlyBearer: links[index].server.bearers.count == 1
        ) {
        case .proceed:
            rememberClient(at: index)
            return nil
        case .refuse:
            if case .executeWriteRequest = request { _ = links[index].server.prepared.removeAll() }
            return .refuse(request.firstHandle, .databaseOutOfSync)
        }
    }

    /// Records that the peer is reading the Database Hash, if the reply contains it.
    mutating func noteHash(in reply: Reply, to request: ATTPacket, at index: Int) {
        guard !links[index].server.awareness.isAware, case .respond = reply else { return }
        if database.isHashRead(by: request) { links[index].server.awareness.readHash() }
    }

    /// Fails the peers' requests that wait for a client and concern attributes in `ranges`, which were removed.
    mutating func refuseRequests(for ranges: [AttributeHandleRange], at now: Instant) {
        for position in positions {
            guard let pending = links[position.link].server.bearers[position.bearer].exchange.pending,
                let lost = pending.handles.first(where: { handle in ranges.contains { $0.contains(handle) } })
            else { continue }
            resume(with: .refuse(lost, .invalidHandle), at: position, now)
        }
    }
}

extension GATTDatabase {
    /// Returns whether the response to this request contains the Database Hash.
    fileprivate func isHashRead(by request: ATTPacket) -> Bool {
        switch request {
        case .readByTypeRequest(let request): request.type == GATT.databaseHash
        case .readRequest(let request): isHash(request.handle)
        case .readBlobRequest(let request): isHash(request.handle)
        case .readMultipleRequest(let request): request.handles.contains { isHash($0) }
        case .readMultipleVariableRequest(let request): request.handles.contains { isHash($0) }
        default: false
        }
    }

    private func isHash(_ handle: AttributeHandle) -> Bool { attribute(at: handle)?.content == .databaseHash }
}

extension ATTPacket {
    fileprivate static let executePrepared = ATTPacket.executeWriteRequest(.init(.write))

    /// True if the request contains handles that the peer must have discovered before.
    ///
    /// Discovery requests do not, and neither do reads by type in the whole handle range, such as a read of the
    /// Database Hash.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1.
    fileprivate var usesHandles: Bool {
        switch self {
        case .readRequest, .readBlobRequest, .readMultipleRequest, .readMultipleVariableRequest, .writeRequest,
            .prepareWriteRequest:
            true
        case .readByTypeRequest(let request):
            request.type != GATT.include && request.type != GATT.characteristic && request.range != .all
        default: false
        }
    }

    /// The handle in an error response to this request.
    fileprivate var firstHandle: AttributeHandle {
        switch self {
        case .readRequest(let request): request.handle
        case .readBlobRequest(let request): request.handle
        case .readMultipleRequest(let request): request.handles.first ?? .none
        case .readMultipleVariableRequest(let request): request.handles.first ?? .none
        case .writeRequest(let request): request.handle
        case .prepareWriteRequest(let request): request.handle
        case .readByTypeRequest(let request): request.start
        default: .none
        }
    }
}
