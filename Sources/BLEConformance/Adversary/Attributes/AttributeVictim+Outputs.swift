import BLEHost
import BLEWire

extension AttributeVictim {
    /// Processes the outputs of the layer, and records the packets and events in them.
    mutating func drain() {
        while let output = layer.next() {
            if case .send(let packet, let link, let receipt) = output {
                if let receipt { layer.sent(receipt, at: now) }
                if link == Self.other { record.sentElsewhere.append(packet.payload) } else { note(packet.payload) }
            } else if case .event(let event, _) = output {
                note(event)
            } else if case .abandon(let link) = output {
                record.abandoned.append(link)
            }
        }
    }

    /// Records a packet that the host sends to the adversary.
    private mutating func note(_ packet: [UInt8]) {
        check(packet.count <= Self.mtu, "sends \(packet.count) octets, more than the MTU")
        guard let decoded = try? ATTPacket(decoding: packet) else {
            return check(false, "sends the invalid packet \(packet.hexadecimal)")
        }
        if decoded == .confirmation {
            record.confirmations += 1
        } else if decoded.opcode == .handleValueIndication {
            record.unconfirmed += 1
        } else if [.handleValueNotification, .multipleHandleValueNotification].contains(decoded.opcode) {
            check(part == .caching, "sends a value that no app has provided")
        } else if decoded.opcode.response != nil {
            record.request = packet
        } else {
            record.answers.append(packet)
        }
    }

    private mutating func note(_ event: ClientEvent) {
        if case .peer(let peer, let event, _) = event, event.endsRequest {
            if peer.rawValue == 1 { record.completed += 1 } else { record.completedElsewhere += 1 }
        } else if case .server(.readRequested(let transaction, _, _, _)) = event {
            record.held.append(transaction)
        } else if case .server(.updatesTaken(let count)) = event {
            record.updatesTaken += count
        } else if case .server(.writeRequested(let transaction?, _, _)) = event {
            record.held.append(transaction)
        }
    }

    mutating func check(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds, record.fault == nil { record.fault = complaint() }
    }

    /// Makes the app respond to all requests that wait for it.
    mutating func release() {
        while !record.held.isEmpty {
            let transaction = record.held.removeFirst()
            layer.perform(.respond(transaction, .success([1, 2, 3])), for: Self.app, at: now)
            drain()
        }
    }

    /// Refuses the requests of the host's client until the client sends no more, as an honest server without attributes
    /// would.
    mutating func refuseRequests() {
        for _ in 0..<Self.requestLimit {
            guard let request = record.request else { return }
            record.request = nil
            refuse(request, on: Self.link)
        }
        check(record.request == nil, "sends requests without end")
    }

    /// Refuses the host's own requests on the other link until the host sends the app's request there, a read of handle
    /// 3.
    mutating func refuseElsewhere() {
        for _ in 0..<Self.requestLimit {
            guard let request = record.sentElsewhere.last, request != [0x0A, 0x03, 0x00] else { return }
            record.sentElsewhere = []
            refuse(request, on: Self.other)
        }
    }

    private mutating func refuse(_ request: [UInt8], on link: ConnectionHandle) {
        let opcode = ATT.Opcode(wire: request.first ?? 0)
        let refusal = ATT.ErrorResponse(request: opcode, handle: .none, code: .attributeNotFound)
        layer.receive(ATTPacket.errorResponse(refusal).encoded.span, on: link, at: now)
        drain()
    }

    /// The number of refused requests after which every procedure must have ended.
    private static let requestLimit = 100
}

extension PeerEvent {
    /// True if this event reports the result of one of the app's requests.
    fileprivate var endsRequest: Bool {
        if case .servicesDiscovered = self { return true }
        if case .valueRead = self { return true }
        if case .valueWritten = self { return true }
        if case .subscriptionChanged = self { return true }
        return false
    }
}
