import BLEWire

// Several values in one packet. Values are gathered while the controller still holds earlier packets.
extension AttributeLayer {
    /// Queues a value if the peer accepts several values in one packet and the controller has not accepted all earlier
    /// packets.
    ///
    /// - Returns: `false` if the caller has to send the value in a packet of its own.
    mutating func gatherIfPossible(
        _ value: OutgoingUpdates.Value,
        at position: BearerPosition
    ) -> Bool {
        guard links[position.link].server.features.contains(.multipleNotifications) else { return false }
        switch links[position.link].server.bearers[position.bearer].updates.gather(value, mtu: mtu(at: position)) {
        case .send: return false
        case .wait: break
        case .release(let values): notify(values, at: position)
        case .sendAfter(let values):
            notify(values, at: position)
            return false
        }
        return true
    }

    /// Sends values in order, in as few packets as possible.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.4.
    mutating func notify(_ values: [OutgoingUpdates.Value], at position: BearerPosition) {
        var rest = values[...]
        while let first = rest.first {
            var room = mtu(at: position) - 1
            let group = rest.prefix { value in
                room -= ATT.MultipleHandleValueNotification.Entry.headerSize + value.value.count
                return room >= 0 && value.value.count <= ATT.maximumValueLength
            }
            if group.count > 1 {
                notify(group, at: position)
                rest = rest.dropFirst(group.count)
            } else {
                notify(first.value, of: first.handle, first.number, at: position)
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func notify(_ group: ArraySlice<OutgoingUpdates.Value>, at position: BearerPosition) {
        let receipt = outbox.makeReceipt(for: links[position.link].handle)
        for value in group {
            links[position.link].server.bearers[position.bearer].updates.noteSent(value.number, as: receipt)
        }
        let entries = group.map { ATT.MultipleHandleValueNotification.Entry(handle: $0.handle, value: $0.value) }
        let packet = ATTPacket.multipleNotification(.init(entries: entries))
        outbox.send(
            packet,
            on: links[position.link].server.bearers[position.bearer].id,
            of: links[position.link].handle,
            receipt: receipt
        )
    }
}
