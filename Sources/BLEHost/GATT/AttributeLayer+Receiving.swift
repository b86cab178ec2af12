package import BLEWire

extension AttributeLayer {
    /// Takes the payload of a packet on channel 0x0004.
    package mutating func receive(_ pdu: Span<UInt8>, on link: ConnectionHandle, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        let packet: ATTPacket
        do { packet = try ATTPacket(decoding: pdu) } catch {
            return receiveMalformed(pdu, error, at: index, now)
        }
        switch packet.direction {
        case .toClient:
            links[index].client.receive(packet, at: now, into: &outbox)
            settleCache(at: index)
        case .toServer: serve(packet, at: index, now)
        }
    }

    /// Takes a packet that is none, and answers it if it may be a request.
    private mutating func receiveMalformed(_ pdu: Span<UInt8>, _ error: PacketError, at index: Int, _ now: Instant) {
        outbox.append(.note(.dropped(error, .channel(.attribute, links[index].handle))))
        guard !pdu.isEmpty else { return }
        let opcode = ATT.Opcode(wire: pdu[0])
        if opcode.isCommand { return }
        if case .unknown = error { return receive(.unacceptable(opcode, .requestNotSupported), at: index, now) }
        if opcode.response != nil { return receive(.unacceptable(opcode, .invalidPDU), at: index, now) }
        links[index].client.receiveMalformed(opcode, at: now, into: &outbox)
        settleCache(at: index)
    }
}

extension ATTPacket {
    fileprivate enum Direction {
        case toServer, toClient
    }

    /// Which of the two roles at this end the packet is for.
    fileprivate var direction: Direction {
        switch self {
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
            .executeWriteRequest, .readMultipleVariableRequest, .writeCommand, .signedWriteCommand, .confirmation:
            .toServer
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .notification, .indication,
            .readMultipleVariableResponse, .multipleNotification:
            .toClient
        }
    }
}
