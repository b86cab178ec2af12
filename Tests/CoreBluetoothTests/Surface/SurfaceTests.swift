import BLEHost
import CoreBluetooth
import Testing

@Suite("The surface of the framework")
struct SurfaceTests {
    @Test("An app that uses all of it runs through both roles")
    func everything() async {
        let link = ScriptedLink(), lines = Lines(), app = SurfaceApp()
        lines.collect(link) { app.start() }
        for session in link.sessions { await session.tell(.stateChanged(.poweredOn)) }
        #expect(app.isReady)
        #expect(link.sessions.map(\.role) == [.central, .central, .central, .peripheral, .peripheral, .peripheral])
        #expect(link.sessions.map(\.isClosed) == [true, true, false, true, true, false])
        #expect(app.describe(CBError(.connectionTimeout)) == "gone")
        #expect(app.describe(CBATTError(.insufficientAuthentication)) == "locked")
        #expect(app.describe(CBError(.operationCancelled) as NSError) == "cancelled")
    }

    @Test(
        "Constants have the values of Apple's framework",
        arguments: [
            (CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName"),
            (CBAdvertisementDataOverflowServiceUUIDsKey, "kCBAdvDataHashedServiceUUIDs"),
            (CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable"),
            (CBCentralManagerScanOptionAllowDuplicatesKey, "kCBScanOptionAllowDuplicates"),
            (CBConnectPeripheralOptionEnableAutoReconnect, "kCBConnectOptionEnableAutoReconnect"),
            (CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"),
            (CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A"),
            (CBErrorDomain, "CBErrorDomain"), (CBATTErrorDomain, "CBATTErrorDomain"),
        ]
    )
    func constants(value: String, expected: String) { #expect(value == expected) }

    @Test("Values of enumerations are those of Apple's framework")
    func rawValues() {
        #expect(CBManagerState.poweredOn.rawValue == 5)
        #expect(CBPeripheralState.disconnecting.rawValue == 3)
        #expect(CBManagerAuthorization.allowedAlways.rawValue == 3)
        #expect(CBCharacteristicProperties([.read, .write]).rawValue == 0x0A)
        #expect(CBCharacteristicProperties.indicateEncryptionRequired.rawValue == 0x200)
        #expect(CBAttributePermissions.writeEncryptionRequired.rawValue == 0x08)
        #expect(CBCentralManager.Feature.channelSounding.rawValue == 1 << 10)
    }
}
