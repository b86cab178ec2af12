import CoreBluetooth

extension SessionEngine: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch radio.changed(to: central.state) {
        case .lost:
            write(RadioChange.lost.fact)
            for device in devices { connectionEnded(device, because: CommandError.radioLost) }
        case .returned:
            write(RadioChange.returned.fact)
            startScan()
            for device in devices {
                // A manager's objects become invalid when its radio is lost.
                guard let valid = manager.retrievePeripherals(withIdentifiers: [device.identifier]).first else {
                    continue
                }
                device.peripheral = valid
                connectAgain(device)
            }
        case .appeared, .nothing, .missing: break
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let found = ScannedPeripheral(peripheral, advertisement: advertisementData, rssi: RSSI)
        guard let scan else { return }
        if let prefix = scan.namePrefix {
            guard PeerReference(text: prefix).match(name: found.name) != nil else { return }
        }
        write(found.fact(color: false))
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        guard let device = device(of: peripheral) else { return }
        peripheral.delegate = self
        device.connectedSince = age()
        emit("connected", device)
        subscribeAgain(device)
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if let device = device(of: peripheral) { connectAgain(device) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if let device = device(of: peripheral) { connectionEnded(device, because: error) }
    }
}

extension SessionEngine: @MainActor CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let device = device(of: peripheral) else { return }
        if let channel {
            // A channel that the session does not wait for any more is released, which closes it.
            device.channelOpened(.success(channel))
        } else {
            device.channelOpened(.failure(error ?? CBError(.unknown)))
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        guard let device = device(of: peripheral) else { return }
        emit("services_changed", device)
        let ended = device.subscriptions.filter { !peripheral.has($0) }
        device.subscriptions.removeAll { ended.contains($0) }
        for characteristic in ended {
            emit("unsubscribed", device, characteristic, ["reason": "The device removed the characteristic."])
        }
    }
}

extension SessionEngine {
    /// Reports the end of a connection, and starts to connect again if the device is to stay connected.
    func connectionEnded(_ device: SessionDevice, because error: (any Error)?) {
        guard let since = device.connectedSince else { return }
        device.connectedSince = nil
        device.channelOpened(.failure(error ?? CBError(.peripheralDisconnected)))
        device.loseSubscriptions()
        var fields: [String: Any] = ["reconnecting": device.reconnects && !isEnding]
        fields["reason"] = error.map { SessionFailure($0).sentence }
        emit("disconnected", device, nil, fields)
        guard device.reconnects else { return forget(device) }
        if age() - since >= Self.stableTime { device.resetPause() }
        connectAgain(device)
    }

    /// Connects a device again after a pause, if it is to stay connected and the radio is on.
    private func connectAgain(_ device: SessionDevice) {
        guard device.reconnects, !isEnding, manager.state == .poweredOn else { return }
        let pause = device.nextPause()
        Task {
            try await clock.sleep(for: pause)
            guard device.reconnects, !isEnding, manager.state == .poweredOn else { return }
            if device.peripheral.state == .disconnected { manager.connect(device.peripheral, options: nil) }
        }
    }

    /// Subscribes again to the characteristics that were subscribed before the connection was lost.
    private func subscribeAgain(_ device: SessionDevice) {
        let references = device.lostSubscriptions
        guard !references.isEmpty else { return }
        device.lostSubscriptions = []
        run(in: device.alias.lowercased()) { [self] in
            for reference in references {
                do {
                    let found = try await device.subscribe(.reference(reference))
                    emit("resubscribed", device, found)
                } catch {
                    guard device.peripheral.state == .connected else {
                        device.lostSubscriptions.append(reference)
                        continue
                    }
                    var fields = reference.keys
                    fields["reason"] = SessionFailure(error).sentence
                    emit("unsubscribed", device, nil, fields)
                }
            }
        }
    }
}
