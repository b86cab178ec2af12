import BLEWire

// Fast paths for most packets and requests: those that need neither the queues of the layers nor new commands for the
// controller.
//
// A fast path either does everything or, without side effects, leaves the input to the general path. Each one is a
// separate function that is not inlined, so that a packet pays only for its own path.
extension Host {
    /// Processes an ACL data packet, on a fast path if it contains a complete ATT packet.
    @inline(never)
    mutating func receiveDataFast(_ packet: Span<UInt8>, at now: Instant) {
        guard let attribute = AttributePacket(packet), let index = links.index(of: attribute.link),
            !links.values[index].isCollecting
        else { return receiveInFull(packet, at: now) }
        receive(attribute, in: packet, at: now)
    }

    /// Processes an ATT packet from a peer.
    @inline(__always)
    mutating func receive(_ attribute: AttributePacket, in packet: Span<UInt8>, at now: Instant) {
        if !receivedFast(attribute, in: packet, at: now) { receive(packet, on: attribute.link, at: now) }
    }

    /// Passes a complete packet to the attribute layer.
    @inline(never)
    private mutating func receive(_ packet: Span<UInt8>, on link: ConnectionHandle, at now: Instant) {
        let payload = packet.extracting(droppingFirst: AttributePacket.start)
        withLayers(at: now) { attributes, _ in attributes.receive(payload, on: link, at: now) }
        flush(at: now)
    }

    @inline(__always)
    private mutating func receivedFast(
        _ attribute: AttributePacket,
        in packet: Span<UInt8>,
        at now: Instant
    ) -> Bool {
        switch attribute.kind {
        case .notification: return layers.withAttributes { $0.deliverFast(attribute, in: packet, into: &outbox) }
        case .readResponse, .writeResponse:
            return layers.withAttributes { $0.answerFast(attribute, in: packet, at: now, into: &outbox) }
        case .readRequest, .writeRequest:
            return layers.withAttributes { $0.serveFast(attribute, in: packet, into: &outbox) }
        case .writeCommand: return layers.withAttributes { $0.performCommandFast(attribute, in: packet, into: &outbox) }
        case .other: return searchFast(attribute, in: packet, at: now)
        }
    }

    /// Answers an attribute search.
    ///
    /// The response is queued if the controller has no buffer. Returns `false`, without side effects, if the general
    /// path must handle the request.
    @inline(never)
    private mutating func searchFast(_ packet: AttributePacket, in octets: Span<UInt8>, at now: Instant) -> Bool {
        guard let answer = layers.withAttributes({ $0.searchFast(packet, in: octets) }) else { return false }
        send(answer, on: .attribute, of: packet.link, at: now)
        if !scheduler.isEmpty { flush(at: now) }
        return true
    }

    /// Processes an LE Meta event.
    ///
    /// An event takes the fast path only if it contains a single advertising report, and that report repeats
    /// the device's previous data.
    @inline(never)
    mutating func receiveReportFast(_ packet: Span<UInt8>, at now: Instant) {
        guard let advertisement = LoneAdvertisement(packet), scanner.hasReceived, !listeners.hasSessions,
            !clientConnections.awaitsAdvertisements
        else { return receiveInFull(packet, at: now) }
        let data = advertisement.data(in: packet), revision = peers.revision
        guard discovery.receiveFast(advertisement, data, revision: revision, into: &outbox) else {
            return receiveRepeated(packet, at: now)
        }
    }

    /// Processes an advertising report that may repeat the device's previous data.
    ///
    /// A report with other data takes the general path.
    @inline(never)
    private mutating func receiveRepeated(_ packet: Span<UInt8>, at now: Instant) {
        // Decode it again: passing the decoded report on would make every advertisement slower.
        guard let advertisement = LoneAdvertisement(packet) else { return receiveInFull(packet, at: now) }
        let data = advertisement.data(in: packet), revision = peers.revision
        switch discovery.receiveRepeated(advertisement, data, at: now, revision: revision, into: &outbox) {
        case .displaces: break
        case .waits: nextDeadline.bringForward(to: now + ScanResponseWaits.maximumWait)
        case .incomplete: receiveInFull(packet, at: now)
        }
    }

    /// Processes an event other than LE Meta.
    ///
    /// A Number Of Completed Packets event takes the fast path only if it is for a single link, and no queued packet,
    /// pairing or released link waits for it.
    @inline(never)
    mutating func completedFast(_ packet: Span<UInt8>, at now: Instant) {
        guard let entry = HCI.NumberOfCompletedPackets.onlyOne(in: packet), scheduler.isEmpty,
            pairings.entries.count == 0, !mayHaveReleased,
            scheduler.completedExactly(Int(entry.count), on: entry.handle)
        else { return receiveInFull(packet, at: now) }
    }

    /// Carries out a client's request; returns `false`, without side effects, if the general path must handle it.
    mutating func performFast(_ request: ClientRequest, for client: ClientID, at now: Instant) -> Bool {
        guard isReady else { return false }
        switch request {
        case .service(.update(let id, let value, to: nil)):
            return layers.withAttributes { $0.updateFast(id, value, for: client, through: &scheduler, into: &outbox) }
        case .service(.respond(let transaction, .success(let value))):
            return layers.withAttributes {
                $0.respondFast(transaction, with: value, from: client, through: &scheduler, into: &outbox)
            }
        case .peer(let peer, .attribute(.writeCommand(let handle, let value)), _):
            guard let link = clientConnections.link(of: client, to: peer) else { return false }
            return layers.withAttributes {
                $0.commandFast(value, to: handle, on: link, for: client, through: &scheduler, into: &outbox)
            }
        case .peer(let peer, .attribute(.read(let handle)), let number):
            return ask(.readRequest, of: handle, [], on: peer, for: Requester(client, number), at: now)
        case .peer(let peer, .attribute(.write(let handle, let value)), let number):
            return ask(.writeRequest, of: handle, value, on: peer, for: Requester(client, number), at: now)
        default: return false
        }
    }

    private mutating func ask(
        _ request: ATT.Opcode,
        of handle: AttributeHandle,
        _ value: [UInt8],
        on peer: PeerIdentifier,
        for requester: Requester,
        at now: Instant
    ) -> Bool {
        guard let link = clientConnections.link(of: requester.client, to: peer) else { return false }
        let isAsked = layers.withAttributes {
            $0.askFast(
                request,
                of: handle,
                value,
                on: link,
                for: requester,
                at: now,
                through: &scheduler,
                into: &outbox
            )
        }
        if isAsked { nextDeadline.bringForward(to: now.later(byNanoseconds: ATT.transactionNanoseconds)) }
        return isAsked
    }
}
