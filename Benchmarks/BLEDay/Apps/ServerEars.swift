import CoreBluetooth

/// The delegate of a day's peripheral manager.
final class ServerEars: NSObject, CBPeripheralManagerDelegate {
    weak var app: DayServer?

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        app?.hear("state") { app?.stateChanged(peripheral.state) }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        app?.hear("advertising") { app?.started(error) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        app?.hear("added") { app?.added(service, error) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) { app?.hear("subscribed") { app?.subscribed(central, characteristic) } }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) { app?.hear("unsubscribed") { app?.unsubscribed(central, characteristic) } }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        app?.hear("read request") { app?.received(request) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        app?.hear("write requests") { app?.received(requests) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        app?.hear("ready for values") { app?.ready() }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) { app?.hear("published") { app?.published(PSM, error) } }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) { app?.hear("unpublished") { app?.unpublished(PSM) } }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        app?.hear("channel") { app?.opened(channel, error) }
    }
}
