import BLEWire

// Fast path for notifications, which are passed directly to the controller or its queue.
//
// Each function returns `false`, without side effects, if the general path has to be taken instead.
extension AttributeLayer {
    /// Sends a value to all subscribers as notifications, or queues it until the controller has free buffers.
    ///
    /// Returns `false`, without side effects, if ``update(_:_:to:for:at:)`` has to send the value instead.
    mutating func updateFast(
        _ id: LocalAttributeID,
        _ value: [UInt8],
        for client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let configured = database.configuration(of: .init(client: client, id: id)) else { return false }
        let first = subscribers.first(of: configured.handle)
        var number = first, count = 0, last = (index: 0, link: ConnectionHandle?.none)
        while let link = subscribers.link(at: number, of: configured.handle) {
            number += 1
            guard let index = index(of: link) else { continue }
            switch links[index].notifiesFast(configured.about, at: configured.handle) {
            case .no: break
            case .later: return false
            case .yes:
                count += 1
                last = (index, link)
            }
        }
        let length = value.count + 3 + L2CAPHeader.size, isForAll = count == number - first
        guard updates.isEmpty, scheduler.hasRoom(for: count, upTo: length) else {
            if gathers(value.count, of: configured) { return false }
            wait(value, of: configured, for: count, of: client, through: &scheduler, into: &outbox)
            return true
        }
        if count == 1, let link = last.link, scheduler.reserveBuffer(for: length, of: link) {
            let limit = ATT.roomForValue(mtu: links[last.index].client.mtu)
            outbox.send(.handleValueNotification, configured.about.value, value, limit: limit, on: link)
        } else {
            number = first
            while let link = subscribers.link(at: number, of: configured.handle) {
                number += 1
                guard let index = index(of: link),
                    isForAll || links[index].notifiesFast(configured.about, at: configured.handle) == .yes,
                    scheduler.reserveBuffer(for: length, of: link)
                else { continue }
                let limit = ATT.roomForValue(mtu: links[index].client.mtu)
                outbox.send(.handleValueNotification, configured.about.value, value, limit: limit, on: link)
            }
        }
        outbox.report(to: client, taken: .updates)
        return true
    }

    /// Returns whether a value of `octets` octets would be gathered with others for at least one subscriber.
    @inline(never)
    private mutating func gathers(_ octets: Int, of configured: ConfigurationEntry) -> Bool {
        var number = subscribers.first(of: configured.handle)
        while let link = subscribers.link(at: number, of: configured.handle) {
            number += 1
            if let index = index(of: link), links[index].gathers(octets) { return true }
        }
        return false
    }

    /// Queues a value until the controller has free buffers.
    ///
    /// `receivers` is the number of subscribers that get the notification.
    @inline(never)
    private mutating func wait(
        _ value: [UInt8],
        of configured: ConfigurationEntry,
        for receivers: Int,
        of client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) {
        let update = updates.begin(for: client, expecting: receivers)
        var number = subscribers.first(of: configured.handle)
        while let link = subscribers.link(at: number, of: configured.handle) {
            number += 1
            guard let index = index(of: link),
                links[index].notifiesFast(configured.about, at: configured.handle) == .yes
            else { continue }
            let waiting = OutgoingUpdates.Value(handle: configured.about.value, value: value, number: update)
            switch links[index].server.bearers[0].updates.hold(waiting) {
            case .send: break
            case .wait: continue
            case .refuse:
                updates.sent(update)
                outbox.append(.note(.limitReached(.queuedValues(link))))
                continue
            }
            let receipt = self.outbox.makeReceipt(for: link), limit = ATT.roomForValue(mtu: links[index].client.mtu)
            let payload = OutgoingPayload(.handleValueNotification, configured.about.value, value, limit: limit)
            if scheduler.enqueue(payload, of: link, receipt: receipt) {
                links[index].server.bearers[0].updates.noteSent(update, as: receipt)
            } else {
                // The value counts as sent, so that its client does not wait for it indefinitely.
                updates.sent(update)
                outbox.append(.note(.limitReached(.queuedFrames(link))))
            }
        }
        let taken = updates.collect(for: client)
        if taken > 0 { outbox.report(to: client, taken: .updates, taken) }
    }

    private typealias ConfigurationEntry = (handle: AttributeHandle, about: GATTDatabase.ConfiguredCharacteristic)

    /// Records that the controller has accepted the packet with this receipt and all earlier ones.
    ///
    /// Returns `false`, without side effects, if waiting values or write commands have to be sent now.
    mutating func sentFast(_ receipt: SendReceipt, into outbox: inout HostOutbox) -> Bool {
        guard let link = receipt.link, let index = index(of: link),
            !links[index].server.bearers[0].updates.holdsValues, !links[index].client.waiting.beginsWithCommand
        else { return false }
        links[index].client.sentFast(receipt, into: &outbox)
        while let number = links[index].server.bearers[0].updates.nextTaken(upTo: receipt) {
            updates.sent(number)
            let taken = updates.collect(for: number.client)
            if taken > 0 { outbox.report(to: number.client, taken: .updates, taken) }
        }
        return true
    }
}

extension AttributeLink {
    fileprivate enum NotifiesFast {
        case yes, no, later
    }

    /// Returns `.yes` if the peer gets the characteristic's values as notifications on its only bearer, `.no` if it
    /// gets none, and `.later` if ``AttributeLayer/update(_:_:to:for:at:)`` has to send them.
    fileprivate mutating func notifiesFast(
        _ about: GATTDatabase.ConfiguredCharacteristic,
        at configuration: AttributeHandle
    ) -> NotifiesFast {
        let bits = configured(about, at: configuration)
        guard bits != 0 else { return .no }
        return bits & Subscription.notifications.rawValue != 0 && server.bearers.count == 1 ? .yes : .later
    }

    /// Returns whether a value of `octets` octets would be gathered with others.
    fileprivate mutating func gathers(_ octets: Int) -> Bool {
        guard server.features.contains(.multipleNotifications) else { return false }
        return server.bearers[0].updates.gathers(octets, mtu: client.mtu)
    }
}
