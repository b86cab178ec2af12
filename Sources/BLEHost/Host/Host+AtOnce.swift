import BLEWire

// What needs neither the queues of the layers nor a new plan for the controller, as most packets and requests do not.
//
// Whatever is not as it mostly is returns `false`, and has left everything as it was: the long way deals with it.
extension Host {
    /// Takes a packet of the controller.
    @inline(__always)
    mutating func receiveAtOnce(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        guard isReady, packet.count > 1 else { return false }
        guard packet[0] == HCI.PacketType.acl.wire else {
            return packet[1] == 0x3E ? advertisedAtOnce(packet, at: now) : completedAtOnce(packet)
        }
        guard let attribute = AttributePacket(packet) else { return false }
        guard let index = links.index(of: attribute.link), !links.values[index].isCollecting else { return false }
        switch attribute.kind {
        case .notification: return attributes.deliverAtOnce(attribute, in: packet, into: &outbox)
        case .readResponse, .writeResponse:
            return attributes.answerAtOnce(attribute, in: packet, at: now, into: &outbox)
        case .readRequest, .writeRequest: return attributes.serveAtOnce(attribute, in: packet, into: &outbox)
        case .writeCommand: return attributes.obeyAtOnce(attribute, in: packet, into: &outbox)
        case .other: return false
        }
    }

    /// The controller heard what a device has said before.
    @inline(__always)
    private mutating func advertisedAtOnce(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        guard let advertisement = LoneAdvertisement(packet), scanner.hasHeard, !listeners.areThere,
            !attachments.seeksPrivatePeers
        else { return false }
        let data = advertisement.data(in: packet), revision = peers.revision
        return discovery.receiveAtOnce(advertisement, data, at: now, revision: revision, into: &outbox)
    }

    /// The controller has buffers free again, for which nothing waits.
    private mutating func completedAtOnce(_ packet: Span<UInt8>) -> Bool {
        guard let entry = HCI.NumberOfCompletedPackets.onlyOne(in: packet), scheduler.isEmpty,
            pairings.entries.count == 0, !hasParting
        else { return false }
        return scheduler.completedExactly(Int(entry.count), on: entry.handle)
    }

    /// Carries out what a client asks for.
    mutating func performAtOnce(_ request: ClientRequest, for client: ClientID, at now: Instant) -> Bool {
        guard isReady else { return false }
        switch request {
        case .server(.update(let id, let value, to: nil)):
            return attributes.updateAtOnce(id, value, for: client, through: &scheduler, into: &outbox)
        case .server(.respond(let transaction, .success(let value))):
            return attributes.respondAtOnce(transaction, with: value, from: client, through: &scheduler, into: &outbox)
        case .peer(let peer, .writeCommand(let handle, let value)):
            guard let link = attachments.link(of: client, to: peer) else { return false }
            return attributes.commandAtOnce(
                value,
                to: handle,
                on: link,
                for: client,
                through: &scheduler,
                into: &outbox
            )
        case .peer(let peer, .read(let handle)):
            return ask(.readRequest, of: handle, [], on: peer, for: client, at: now)
        case .peer(let peer, .write(let handle, let value)):
            return ask(.writeRequest, of: handle, value, on: peer, for: client, at: now)
        default: return false
        }
    }

    private mutating func ask(
        _ request: ATT.Opcode,
        of handle: AttributeHandle,
        _ value: [UInt8],
        on peer: PeerIdentifier,
        for client: ClientID,
        at now: Instant
    ) -> Bool {
        guard let link = attachments.link(of: client, to: peer) else { return false }
        let isAsked = attributes.askAtOnce(
            request,
            of: handle,
            value,
            on: link,
            for: client,
            at: now,
            through: &scheduler,
            into: &outbox
        )
        if isAsked { alarm.bringForward(to: now.later(byNanoseconds: ATT.transactionNanoseconds)) }
        return isAsked
    }
}
