import CoreBluetooth

extension SurfaceApp: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] where service.uuid == CBUUID(string: "180D") && service.isPrimary {
            peripheral.discoverCharacteristics(nil, for: service)
            peripheral.discoverIncludedServices(nil, for: service)
            _ = service.peripheral?.name
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        service.characteristics?.forEach { item in
            if item.properties.contains(.read) { peripheral.readValue(for: item) }
            if item.properties.contains([.notify]) || item.properties.contains(.indicate) {
                peripheral.setNotifyValue(true, for: item)
            }
            if !item.properties.intersection([.write, .writeWithoutResponse]).isEmpty {
                let type: CBCharacteristicWriteType =
                    item.properties.contains(.write) ? .withResponse : .withoutResponse
                peripheral.writeValue(Data([1]), for: item, type: type)
            }
            peripheral.discoverDescriptors(for: item)
            _ = (item.service?.uuid, item.isNotifying, item.properties.rawValue)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        guard let data = item.value else { return }
        _ = [UInt8](data)
        if let error = error as? CBATTError, error.code == .insufficientAuthentication {}
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        characteristic.descriptors?.forEach {
            peripheral.readValue(for: $0)
            peripheral.writeValue(Data(), for: $0)
            _ = $0.characteristic
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        switch descriptor.uuid.uuidString {
        case CBUUIDCharacteristicUserDescriptionString: _ = descriptor.value as? String
        case CBUUIDClientCharacteristicConfigurationString: _ = descriptor.value as? NSNumber
        default: _ = descriptor.value as? Data
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {}
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {}
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor item: CBCharacteristic, error: (any Error)?) {}
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {}
    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}
    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    ) {}
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {}
    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return }
        channel.inputStream.open()
        channel.outputStream.open()
        let input: InputStream = channel.inputStream
        _ = (channel.psm, channel.peer.identifier, input.hasBytesAvailable)
    }
}

extension SurfaceApp: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"),
            properties: [.read, .notify, .write],
            value: nil,
            permissions: [.readable, .writeable]
        )
        characteristic.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "x")
        ]
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [characteristic]
        service.includedServices = []
        peripheral.add(service)
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "n", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
        ])
        peripheral.startAdvertising(nil)
        _ = peripheral.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil)
        _ = characteristic.subscribedCentrals?.first?.maximumUpdateValueLength
        peripheral.remove(service)
        peripheral.removeAllServices()
        if peripheral.isAdvertising { peripheral.stopAdvertising() }
        peripheral.publishL2CAPChannel(withEncryption: false)
        peripheral.unpublishL2CAPChannel(192)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.offset <= 10 else { return peripheral.respond(to: request, withResult: .invalidOffset) }
        request.value = Data()
        peripheral.respond(to: request, withResult: .success)
        peripheral.respond(to: request, withResult: CBATTError.Code(rawValue: 0x80)!)
        peripheral.respond(to: request, withResult: CBATTError.readNotPermitted)
        if request.characteristic.uuid.isEqual(CBUUID(string: "2A37")) {
            peripheral.setDesiredConnectionLatency(.low, for: request.central)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        requests.forEach { ($0.characteristic as? CBMutableCharacteristic)?.value = $0.value }
        peripheral.respond(to: requests[0], withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        _ = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
        _ = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {}
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}
}
