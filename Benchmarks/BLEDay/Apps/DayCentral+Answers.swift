import CoreBluetooth

// The delegate calls about peripherals.
extension DayCentral {
    /// Returns the app's record of the peripheral of a delegate call; `nil` if the peripheral is unknown.
    ///
    /// Complains if the peripheral is unknown, or if its connection is in a state that does not allow the call. `what`
    /// names the call.
    private func speaker(_ peripheral: CBPeripheral, _ what: String) -> Subject? {
        guard let subject = subject(peripheral) else {
            complain("\(what) of an unknown peripheral")
            return nil
        }
        if !subject.link.isOpen { complain("\(what) while \(subject.link.state)") }
        return subject
    }

    func renamed(_ peripheral: CBPeripheral) {
        guard let subject = subject(peripheral) else { return complain("a name update of an unknown peripheral") }
        // Without a connection, a name can only come from an advertisement, which requires a scan.
        if !subject.link.isOpen, !isOn || !manager.isScanning { complain("a name update while \(subject.link.state)") }
    }

    func modified(_ peripheral: CBPeripheral, _ services: [CBService]) {
        guard let subject = speaker(peripheral, "modified services") else { return }
        // The host may learn of a change from before its subscription only when it makes a request, so older changes
        // count.
        if !chronicle.hasRebuilt(subject.server, since: min(chronicle.now - .seconds(10), linked(subject))) {
            complain("didModifyServices without a change")
        }
        var gone: Set<ObjectIdentifier> = []
        for service in services {
            gone.insert(ObjectIdentifier(service))
            for characteristic in service.characteristics ?? [] {
                gone.insert(ObjectIdentifier(characteristic))
                subject.values[ObjectIdentifier(characteristic)] = nil
                for descriptor in characteristic.descriptors ?? [] { gone.insert(ObjectIdentifier(descriptor)) }
            }
        }
        if peripheral.services?.contains(where: { gone.contains(ObjectIdentifier($0)) }) ?? false {
            complain("services that were reported as removed still exist")
        }
        subject.requests.invalidate(gone)
        // After an app has cancelled the connection, earlier events may still be reported, but it must make no more
        // requests.
        if subject.link.isConnected, dice.chance(60) { discoverServices(subject) }
    }

    /// Processes a value, which was read, notified or indicated.
    func told(_ characteristic: CBCharacteristic, _ peripheral: CBPeripheral, _ error: (any Error)?) {
        guard error == nil, [Layout.notified, Layout.indicated].contains(characteristic.uuid) else {
            return answered(.read, characteristic, peripheral, error)
        }
        guard let subject = speaker(peripheral, "a value") else { return }
        complain(
            subject.values[ObjectIdentifier(characteristic), default: ValueModel()]
                .received(
                    characteristic.value,
                    isNotifying: characteristic.isNotifying,
                    at: chronicle.now,
                    isExcused: { chronicle.hasRebuilt(subject.server, since: $0) }
                )
        )
        if dice.chance(1) { cancel(subject) }
    }

    /// Processes the answer to a request.
    func answered(
        _ kind: RequestModel.Kind,
        _ object: CBAttribute?,
        _ peripheral: CBPeripheral,
        _ error: (any Error)?
    ) {
        guard let subject = speaker(peripheral, kind.rawValue) else { return }
        let what = "\(kind) of \(object?.uuid.uuidString ?? "the peripheral")"
        switch subject.requests.answer(kind, object.map { ObjectIdentifier($0) }) {
        case .unasked:
            complain("\(what) got a callback without a request: \(told(error))")
        case .void: break
        case .early(let request, let earlier):
            // Requests about removed services are answered when the app learns of the removal, and so out of order.
            let mayKnowLater = isStale(error) || request.isCertain
            let isRebuilt = chronicle.hasRebuilt(subject.server, since: mayKnowLater ? linked(subject) : request.made)
            if !isRebuilt || error == nil && !request.isCertain {
                complain("\(what) got its callback before the earlier \(earlier.kind): \(told(error))")
            }
            judge(request, object, subject, error)
        case .due(let request): judge(request, object, subject, error)
        }
    }

    /// Returns the earliest time at which services may have changed without this app's knowledge.
    private func linked(_ subject: Subject) -> Duration { subject.linked ?? subject.link.since }

    /// Returns whether a request failed because the app does not know yet that the services have changed.
    private func isStale(_ error: (any Error)?) -> Bool {
        (error as? CBATTError)?.code == .invalidHandle || (error as? CBError)?.code == .invalidHandle
    }

    private func judge(
        _ request: RequestModel.Request,
        _ object: CBAttribute?,
        _ subject: Subject,
        _ error: (any Error)?
    ) {
        let isExcused = excuses(subject, since: isStale(error) ? linked(subject) : request.made)
        complain(RequestModel.complaint(request, error, isExcused: isExcused))
        switch request.kind {
        case .read:
            guard error == nil, let characteristic = object as? CBCharacteristic else { return }
            guard let length = Layout.lengths[characteristic.uuid] else { return }
            if !Layout.isPattern(characteristic.value, length) { complain("read a value that was never written") }
        case .write:
            guard let number = request.number else { return }
            let wasTaken = chronicle.wasTaken(number)
            if error == nil, !wasTaken { complain("a write succeeded, but the server has not received it") }
            let isLost = chronicle.hasLostApp(subject.server, since: request.made)
            if error is CBATTError, wasTaken, !isLost { complain("a write failed, but the server accepted it") }
        case .notify:
            if let object { subject.values[ObjectIdentifier(object), default: ValueModel()].changed() }
        case .services where error == nil && subject.link.isConnected:
            for service in subject.services where dice.chance(70) { discoverCharacteristics(subject, service) }
        case .characteristics where error == nil && subject.link.isConnected:
            for item in (object as? CBService)?.characteristics ?? [] where dice.chance(50) {
                if !item.properties.isDisjoint(with: [.notify, .indicate]) { setNotify(subject, item, true) }
            }
        case .services, .included, .characteristics, .descriptors, .readDescriptor, .writeDescriptor, .rssi, .channel:
            break
        }
    }

    func ready(_ peripheral: CBPeripheral) {
        guard let subject = speaker(peripheral, "peripheralIsReady") else { return }
        if subject.closedSince == nil { complain("peripheralIsReady although writing was already possible") }
        if !peripheral.canSendWriteWithoutResponse {
            complain("peripheralIsReady, but canSendWriteWithoutResponse is false")
        }
        subject.closedSince = nil
    }

    func opened(_ channel: CBL2CAPChannel?, _ peripheral: CBPeripheral, _ error: (any Error)?) {
        if (channel == nil) == (error == nil) { complain("didOpen with both a channel and an error, or with neither") }
        answered(.channel, nil, peripheral, error)
        guard let channel, let subject = subject(peripheral) else { return }
        if channel.peer.identifier != peripheral.identifier { complain("a channel to another peripheral") }
        let talk = ChannelTalk(channel)
        talk.send(dice.within(1...600))
        subject.talks.append(talk)
    }
}
