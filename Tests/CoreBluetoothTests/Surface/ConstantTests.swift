import CoreBluetooth
import Testing

/// The numbers and the texts of Apple's framework, which apps store, send and compare.
@Suite("Constants")
struct ConstantTests {
    static let texts: [(String, String)] = [
        (CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName"),
        (CBAdvertisementDataTxPowerLevelKey, "kCBAdvDataTxPowerLevel"),
        (CBAdvertisementDataServiceUUIDsKey, "kCBAdvDataServiceUUIDs"),
        (CBAdvertisementDataServiceDataKey, "kCBAdvDataServiceData"),
        (CBAdvertisementDataManufacturerDataKey, "kCBAdvDataManufacturerData"),
        (CBAdvertisementDataOverflowServiceUUIDsKey, "kCBAdvDataHashedServiceUUIDs"),
        (CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable"),
        (CBAdvertisementDataSolicitedServiceUUIDsKey, "kCBAdvDataSolicitedServiceUUIDs"),
        (CBCentralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
        (CBCentralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
        (CBCentralManagerOptionDeviceAccessForMedia, "kCBInitOptionDeviceAccessForMedia"),
        (CBCentralManagerScanOptionAllowDuplicatesKey, "kCBScanOptionAllowDuplicates"),
        (CBCentralManagerScanOptionSolicitedServiceUUIDsKey, "kCBScanOptionSolicitedServiceUUIDs"),
        (CBConnectPeripheralOptionNotifyOnConnectionKey, "kCBConnectOptionNotifyOnConnection"),
        (CBConnectPeripheralOptionNotifyOnDisconnectionKey, "kCBConnectOptionNotifyOnDisconnection"),
        (CBConnectPeripheralOptionNotifyOnNotificationKey, "kCBConnectOptionNotifyOnNotification"),
        (CBConnectPeripheralOptionStartDelayKey, "kCBConnectOptionStartDelay"),
        (CBConnectPeripheralOptionEnableTransportBridgingKey, "kCBConnectOptionEnableTransportBridging"),
        (CBConnectPeripheralOptionRequiresANCS, "kCBConnectOptionRequiresANCS"),
        (CBConnectPeripheralOptionEnableAutoReconnect, "kCBConnectOptionEnableAutoReconnect"),
        (CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"),
        (CBCentralManagerRestoredStateScanServicesKey, "kCBRestoredScanServices"),
        (CBCentralManagerRestoredStateScanOptionsKey, "kCBRestoredScanOptions"),
        (CBPeripheralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
        (CBPeripheralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
        (CBPeripheralManagerRestoredStateServicesKey, "kCBRestoredServices"),
        (CBPeripheralManagerRestoredStateAdvertisementDataKey, "kCBRestoredAdvertisement"),
        (CBUUIDCharacteristicExtendedPropertiesString, "2900"),
        (CBUUIDCharacteristicUserDescriptionString, "2901"),
        (CBUUIDClientCharacteristicConfigurationString, "2902"),
        (CBUUIDServerCharacteristicConfigurationString, "2903"),
        (CBUUIDCharacteristicFormatString, "2904"),
        (CBUUIDCharacteristicAggregateFormatString, "2905"),
        (CBUUIDCharacteristicValidRangeString, "2906"),
        (CBUUIDCharacteristicObservationScheduleString, "2910"),
        (CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A"),
        (CBErrorDomain, "CBErrorDomain"),
        (CBATTErrorDomain, "CBATTErrorDomain"),
    ]

    @Test("Keys, domains and UUIDs have the strings of Apple's framework", arguments: texts)
    func text(value: String, expected: String) { #expect(value == expected) }

    @Test("There are 38 string constants")
    func count() { #expect(Self.texts.count == 38) }

    @Test("Values without a name are still valid states, kinds and error codes", .behaviour("1.1.6"))
    func unnamed() {
        #expect(CBManagerState(rawValue: 99)?.rawValue == 99)
        #expect(CBManagerAuthorization(rawValue: 99)?.rawValue == 99)
        #expect(CBPeripheralState(rawValue: -1)?.rawValue == -1)
        #expect(CBConnectionEvent(rawValue: 99)?.rawValue == 99)
        #expect(CBCharacteristicWriteType(rawValue: 99)?.rawValue == 99)
        #expect(CBPeripheralManagerConnectionLatency(rawValue: 99)?.rawValue == 99)
        #expect(CBManagerState(rawValue: 99) != CBManagerState(rawValue: 98))
        #expect(CBATTError.Code(rawValue: 0x80)?.rawValue == 0x80)
        #expect(CBError.Code(rawValue: 99)?.rawValue == 99)
    }

    @Test("States and kinds are printed by name, or by number")
    func printed() {
        #expect("\(CBManagerState.poweredOn) \(CBManagerAuthorization.allowedAlways)" == "poweredOn allowedAlways")
        #expect("\(CBPeripheralState.connected) \(CBConnectionEvent.peerConnected)" == "connected peerConnected")
        #expect(String(describing: CBCharacteristicWriteType.withoutResponse) == "withoutResponse")
        #expect(String(reflecting: CBPeripheralManagerConnectionLatency.high) == "high")
        #expect(CBManagerState(rawValue: 99).map { "\($0)" } == "CBManagerState(rawValue: 99)")
        #expect("\([CBManagerState.poweredOn: 1])" == "[poweredOn: 1]")
    }

    @Test("Apps can add descriptions to states, and switch over them with @unknown default", arguments: [5, 6])
    func described(mode: Int) throws {
        let outcome = try Toolchain.compile(
            """
            import CoreBluetooth
            extension CBManagerState: @retroactive CustomStringConvertible {
                public var description: String {
                    switch self {
                    case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff: "off"
                    case .poweredOn: "on"
                    @unknown default: "?"
                    }
                }
            }
            func kept<State: Hashable & Sendable>(_ state: State) -> Set<State> { [state] }
            let states = kept(CBManagerState.poweredOn), others = kept(CoreBluetooth.CBPeripheralState.connected)
            """,
            mode: mode
        )
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    @Test("Manager state: numbers as on Apple platforms")
    func managerState() {
        let cases: [CBManagerState] = [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn]
        #expect(cases.map(\.rawValue) == Array(0..<6))
        #expect(cases.indices.map { CBManagerState(rawValue: $0) } == cases)
    }

    @Test("Authorization: numbers as on Apple platforms")
    func managerAuthorization() {
        let cases: [CBManagerAuthorization] = [.notDetermined, .restricted, .denied, .allowedAlways]
        #expect(cases.map(\.rawValue) == Array(0..<4))
        #expect(cases.indices.map { CBManagerAuthorization(rawValue: $0) } == cases)
    }

    @Test("Central manager state (deprecated): numbers as on Apple platforms")
    @available(*, deprecated)
    func centralManagerState() {
        let cases: [CBCentralManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        #expect(cases.map(\.rawValue) == Array(0..<6))
        #expect(cases.indices.map { CBCentralManagerState(rawValue: $0) } == cases)
    }

    @Test("Peripheral manager state (deprecated): numbers as on Apple platforms")
    @available(*, deprecated)
    func peripheralManagerState() {
        let cases: [CBPeripheralManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        #expect(cases.map(\.rawValue) == Array(0..<6))
        #expect(cases.indices.map { CBPeripheralManagerState(rawValue: $0) } == cases)
    }

    @Test("Authorization (deprecated): numbers as on Apple platforms")
    @available(*, deprecated)
    func peripheralManagerAuthorizationStatus() {
        let cases: [CBPeripheralManagerAuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized]
        #expect(cases.map(\.rawValue) == Array(0..<4))
        #expect(cases.indices.map { CBPeripheralManagerAuthorizationStatus(rawValue: $0) } == cases)
    }

    @Test("Connection events: numbers as on Apple platforms")
    func connectionEvent() {
        let cases: [CBConnectionEvent] = [.peerDisconnected, .peerConnected]
        #expect(cases.map(\.rawValue) == Array(0..<2))
        #expect(cases.indices.map { CBConnectionEvent(rawValue: $0) } == cases)
    }

    @Test("Peripheral state: numbers as on Apple platforms")
    func peripheralState() {
        let cases: [CBPeripheralState] = [.disconnected, .connecting, .connected, .disconnecting]
        #expect(cases.map(\.rawValue) == Array(0..<4))
        #expect(cases.indices.map { CBPeripheralState(rawValue: $0) } == cases)
    }

    @Test("Write types: numbers as on Apple platforms")
    func characteristicWriteType() {
        let cases: [CBCharacteristicWriteType] = [.withResponse, .withoutResponse]
        #expect(cases.map(\.rawValue) == Array(0..<2))
        #expect(cases.indices.map { CBCharacteristicWriteType(rawValue: $0) } == cases)
    }

    @Test("Latencies: numbers as on Apple platforms")
    func peripheralManagerConnectionLatency() {
        let cases: [CBPeripheralManagerConnectionLatency] = [.low, .medium, .high]
        #expect(cases.map(\.rawValue) == Array(0..<3))
        #expect(cases.indices.map { CBPeripheralManagerConnectionLatency(rawValue: $0) } == cases)
    }

    @Test("Channel sounding roles: numbers as on Apple platforms")
    func channelSoundingSessionConfigurationRole() {
        let cases: [CBChannelSoundingSessionConfiguration.Role] = [.initiator]
        #expect(cases.map(\.rawValue) == Array(0..<1))
        #expect(cases.indices.map { CBChannelSoundingSessionConfiguration.Role(rawValue: $0) } == cases)
    }

    @Test("Error codes: numbers as on Apple platforms")
    func errorCode() {
        let cases: [CBError.Code] = [
            .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
            .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
            .connectionLimitReached, .unknownDevice, .operationNotSupported, .peerRemovedPairingInformation,
            .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
            .leGattNearBackgroundNotificationLimit,
        ]
        #expect(cases.map(\.rawValue) == Array(0..<19))
        #expect(cases.indices.map { CBError.Code(rawValue: $0) } == cases)
    }

    @Test("ATT error codes: numbers as on Apple platforms")
    func aTTErrorCode() {
        let cases: [CBATTError.Code] = [
            .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu, .insufficientAuthentication,
            .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
            .attributeNotLong, .insufficientEncryptionKeySize, .invalidAttributeValueLength, .unlikelyError,
            .insufficientEncryption, .unsupportedGroupType, .insufficientResources,
        ]
        #expect(cases.map(\.rawValue) == Array(0..<18))
        #expect(cases.indices.map { CBATTError.Code(rawValue: $0) } == cases)
    }

    @Test("CBCharacteristicProperties: bits as on Apple platforms")
    func characteristicProperties() {
        let members: [CBCharacteristicProperties] = [
            .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate, .authenticatedSignedWrites,
            .extendedProperties, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ]
        #expect(members.map(\.rawValue) == members.indices.map { 1 << $0 })
        #expect(members.count == 10)
    }

    @Test("CBAttributePermissions: bits as on Apple platforms")
    func attributePermissions() {
        let members: [CBAttributePermissions] = [
            .readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired,
        ]
        #expect(members.map(\.rawValue) == members.indices.map { 1 << $0 })
        #expect(members.count == 4)
    }

    @Test("Features: bits as on Apple platforms")
    func features() {
        #expect(CBCentralManager.Feature.extendedScanAndConnect.rawValue == 1 << 0)
        #expect(CBCentralManager.Feature.channelSounding.rawValue == 1 << 10)
    }

    @Test("Matching options: strings as on Apple platforms")
    func matchingOptions() {
        let prefix = "kCBConnectionEventMatchingOption"
        #expect(CBConnectionEventMatchingOption.serviceUUIDs.rawValue == prefix + "ServiceUUIDs")
        #expect(CBConnectionEventMatchingOption.peripheralUUIDs.rawValue == prefix + "PeripheralUUIDs")
    }
}
