import CoreBluetooth

/// An app that uses all that there is, spelt as on Apple's systems: that it compiles is the test.
final class SurfaceApp: NSObject {
    var central: CBCentralManager!
    var server: CBPeripheralManager!
    var found = Set<CBPeripheral>()
    var isReady = false

    func start() {
        central = CBCentralManager(delegate: self, queue: nil)
        central = CBCentralManager(
            delegate: self,
            queue: .main,
            options: [
                CBCentralManagerOptionShowPowerAlertKey: true, CBCentralManagerOptionRestoreIdentifierKey: "central",
                CBCentralManagerOptionDeviceAccessForMedia: NSNumber(value: false),
            ]
        )
        central = CBCentralManager()
        central.delegate = self
        server = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "server"))
        server = CBPeripheralManager(
            delegate: self,
            queue: nil,
            options: [
                CBPeripheralManagerOptionRestoreIdentifierKey: "server",
                CBPeripheralManagerOptionShowPowerAlertKey: false,
            ]
        )
        server = CBPeripheralManager()
    }

    func describe(_ error: any Error) -> String {
        switch error {
        case CBError.peripheralDisconnected, CBError.connectionTimeout: return "gone"
        case CBATTError.insufficientAuthentication: return "locked"
        default: break
        }
        if let error = error as? CBError {
            switch error.code {
            case .unknownDevice: return "unknown"
            default: break
            }
        }
        let bridged = error as NSError
        let isCancelled = bridged.domain == CBErrorDomain && bridged.code == CBError.Code.operationCancelled.rawValue
        return isCancelled ? "cancelled" : error.localizedDescription
    }
}

extension SurfaceApp: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff: isReady = false
        case .poweredOn:
            isReady = true
            central.scanForPeripherals(
                withServices: [CBUUID(string: "180D")],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: false]
            )
            central.scanForPeripherals(withServices: nil)
            central.scanForPeripherals(withServices: nil, options: nil)
        @unknown default: isReady = false
        }
        if CBManager.authorization == .allowedAlways || CBCentralManager.authorization == .denied {}
        if CBCentralManager.supports([.extendedScanAndConnect]) || CBCentralManager.supports(.channelSounding) {}
        found.formUnion(central.retrievePeripherals(withIdentifiers: [UUID()]))
        found.formUnion(central.retrieveConnectedPeripherals(withServices: []))
        central.registerForConnectionEvents(options: [
            .serviceUUIDs: [CBUUID(string: "180D")], .peripheralUUIDs: [UUID()],
        ])
        central.registerForConnectionEvents()
        if central.isScanning { central.stopScan() }
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        found.formUnion(dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? [])
        _ = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        _ = dict[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        found.insert(peripheral)
        _ = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        _ = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
        _ = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        _ = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
        _ = advertisementData[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID]
        _ = advertisementData[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID]
        _ = (advertisementData[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue
        guard advertisementData[CBAdvertisementDataIsConnectable] as? Bool == true, RSSI.intValue > -90 else { return }
        central.connect(peripheral)
        central.connect(
            peripheral,
            options: [
                CBConnectPeripheralOptionNotifyOnDisconnectionKey: NSNumber(value: true),
                CBConnectPeripheralOptionNotifyOnNotificationKey: true,
                CBConnectPeripheralOptionEnableTransportBridgingKey: false,
                CBConnectPeripheralOptionRequiresANCS: false,
            ]
        )
        central.cancelPeripheralConnection(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices(nil)
        peripheral.discoverServices([CBUUID(string: CBUUIDCharacteristicUserDescriptionString)])
        if peripheral.state == .connected, peripheral.canSendWriteWithoutResponse {}
        _ = peripheral.maximumWriteValueLength(for: .withoutResponse)
        peripheral.readRSSI()
        peripheral.openL2CAPChannel(192)
        _ = (peripheral.ancsAuthorized, peripheral.identifier.uuidString)
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) { if (error as? CBError)?.code == .connectionFailed { central.connect(peripheral) } }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) { if let error { _ = describe(error) } }

    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) { if event == .peerConnected { central.connect(peripheral) } }

    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}
