import BLEWire

// Several values in one packet. Values are gathered while the controller still holds earlier packets.
extension AttributeLayer {
    /// Queues a value if the peer accepts several values in one packet and the controller has not accepted all earlier
    /// packets.
    ///
    /// - Returns: `false` if the caller has to send the value by itself.
    mutating func gatherIfPossible(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ number: UnsentUpdates.Number,
        at place: BearerPosition
    ) -> Bool {
        guard links[place.link].server.features.contains(.multipleNotifications) else { return false }
        let value = OutgoingUpdates.Value(handle: handle, value: value, number: number)
        switch links[place.link].server.bearers[place.bearer].updates.gather(value, mtu: mtu(at: place)) {
        case .send: return false
        case .wait: break
        case .release(let values): notify(values, at: place)
        case .sendAfter(let values):
            notify(values, at: place)
            return false
        }
        return true
    }

    /// Sends values in order, in as few packets as possible.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.4.
    mutating func notify(_ values: [OutgoingUpdates.Value], at place: BearerPosition) {
        var rest = values[...]
        while let first = rest.first {
            var room = mtu(at: place) - 1
            let group = rest.prefix { value in
                room -= ATT.MultipleHandleValueNotification.Entry.headerSize + value.value.count
                return room >= 0 && value.value.count <= ATT.maximumValueLength
            }
            if group.count > 1 {
                notify(group, at: place)
                rest = rest.dropFirst(group.count)
            } else {
                notify(first.value, of: first.handle, first.number, at: place)
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func notify(_ group: ArraySlice<OutgoingUpdates.Value>, at place: BearerPosition) {
        let receipt = outbox.makeReceipt(for: links[place.link].handle)
        for value in group {
            links[place.link].server.bearers[place.bearer].updates.noteSent(value.number, as: receipt)
        }
        let entries = group.map { ATT.MultipleHandleValueNotification.Entry(handle: $0.handle, value: $0.value) }
        let packet = ATTPacket.multipleNotification(.init(entries: entries))
        outbox.send(
            packet,
            on: links[place.link].server.bearers[place.bearer].id,
            of: links[place.link].handle,
            receipt: receipt
        )
    }
}
