import BLEWire

extension GATTClient {
    /// Takes a packet that the peer's server sent: an answer, or a value that it sends by itself.
    mutating func receive(
        _ packet: ATTPacket,
        on bearer: BearerID,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch packet {
        case .notification(let notification): deliver(notification.value, of: notification.handle, into: &outbox)
        case .multipleNotification(let notification):
            for entry in notification.entries { deliver(entry.value, of: entry.handle, into: &outbox) }
        case .indication(let indication):
            outbox.send(.confirmation, on: bearer, of: link)
            if indication.handle == serviceChanged {
                servicesChanged(value: indication.value, at: now, into: &outbox)
            } else {
                deliver(indication.value, of: indication.handle, into: &outbox)
            }
            proceed(at: now, into: &outbox)
        default:
            guard let index = bearers.index(of: bearer) else { return }
            take(bearers.all[index].receive(packet), on: index, at: now, into: &outbox)
        }
    }

    /// Takes a packet that is malformed but for its opcode.
    mutating func receiveMalformed(
        _ opcode: ATT.Opcode,
        on bearer: BearerID,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        // An indication that says nothing of use still waits for its confirmation, and would block all others.
        if opcode == .handleValueIndication {
            outbox.send(.confirmation, on: bearer, of: link)
        }
        guard let index = bearers.index(of: bearer) else { return }
        let event = bearers.all[index].receiveMalformed(opcode)
        if event != .ignored { take(event, on: index, at: now, into: &outbox) }
    }

    private func deliver(_ value: [UInt8], of handle: AttributeHandle, into outbox: inout Outbox) {
        var isWanted = false
        subscriptions.forEachReceiver(of: handle) { client in
            isWanted = true
            outbox.tell(client, of: .peer(peer, .valueNotified(handle, value)))
        }
        if !isWanted { outbox.append(.note(.unwantedValue(handle, link))) }
    }

    private mutating func servicesChanged(value: [UInt8], at now: Instant, into outbox: inout Outbox) {
        guard value.count == 4, let range = AttributeHandleRange(value.handle(at: 0), value.handle(at: 2)) else {
            return outbox.append(.note(.dropped(.reserved(field: "Service Changed"), .channel(.attribute, link))))
        }
        catchingUp.told()
        servicesChanged(in: range, at: now, into: &outbox)
    }

    /// Does what is due.
    mutating func wake(at now: Instant, into outbox: inout Outbox) {
        expireBearers(at: now, into: &outbox)
        settle(negotiation.expire(at: now), at: now, into: &outbox)
        proceed(at: now, into: &outbox)
    }
}
