import BLEWire

// Values that wait for the controller, and go to the peer in one packet.
extension AttributeLayer {
    /// Has a value wait if the peer takes several in one packet, and the controller has not yet taken those before.
    ///
    /// - Returns: `false` if it has to be sent by itself.
    mutating func waits(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ number: UpdateLedger.Number,
        at index: Int
    ) -> Bool {
        guard links[index].server.features.contains(.multipleNotifications),
            !links[index].server.updates.isEmpty
        else { return false }
        if links[index].server.ready.count >= configuration.limits.gatheredValues { notifyReady(at: index) }
        links[index].server.ready.append(.init(handle: handle, value: value, number: number))
        return true
    }

    /// Sends the values that wait, in their order and in as few packets as that takes.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.4.
    mutating func notifyReady(at index: Int) {
        let ready = links[index].server.ready
        links[index].server.ready = []
        var rest = ready[...]
        while let first = rest.first {
            var room = links[index].mtu - 1
            let group = rest.prefix { value in
                room -= 4 + value.value.count
                return room >= 0 && value.value.count <= ATT.maximumValueLength
            }
            if group.count > 1 {
                notify(group, at: index)
                rest = rest.dropFirst(group.count)
            } else {
                notify(first.value, of: first.handle, first.number, at: index)
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func notify(_ group: ArraySlice<ServerLink.Ready>, at index: Int) {
        let receipt = outbox.makeReceipt(for: links[index].handle)
        for value in group { links[index].server.updates.append(.init(receipt: receipt, number: value.number)) }
        let entries = group.map { ATT.MultipleHandleValueNotification.Entry(handle: $0.handle, value: $0.value) }
        let packet = ATTPacket.multipleNotification(.init(entries: entries))
        outbox.append(.send(packet.encoded, on: links[index].handle, receipt: receipt))
    }

    /// Counts the values of one attribute that wait as sent: the peer does not want them any more.
    mutating func dropReady(of handle: AttributeHandle, at index: Int) {
        guard !links[index].server.ready.isEmpty else { return }
        let dropped = links[index].server.ready.filter { $0.handle == handle }
        links[index].server.ready.removeAll { $0.handle == handle }
        for value in dropped { settle(value.number) }
    }
}
