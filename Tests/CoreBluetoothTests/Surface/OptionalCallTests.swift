import BLEHost
import CoreBluetooth
import Testing

@Suite("Optional methods called with a question mark")
struct OptionalCallTests {
    @Test("A central manager delegate's optional methods can be called")
    func central() async {
        let bench = CentralBench(), manager = bench.manager
        let peripheral = await bench.discover(name: "Lamp")
        _ = bench.app.take()
        let delegate = manager.delegate
        delegate?.centralManager?(manager, didDiscover: peripheral, advertisementData: [:], rssi: -40)
        delegate?.centralManager?(manager, didConnect: peripheral)
        delegate?.centralManager!(manager, didFailToConnect: peripheral, error: CBError(.connectionFailed))
        delegate?.centralManager?(
            manager,
            didDisconnectPeripheral: peripheral,
            timestamp: 0,
            isReconnecting: true,
            error: nil
        )
        delegate?.centralManager?(manager, connectionEventDidOccur: .peerConnected, for: peripheral)
        #expect(
            bench.app.take() == [
                "discovered Lamp -40", "connected 0", "failed CBError 10", "disconnected ok 0 reconnecting", "event 1",
            ]
        )
    }

    @Test("Optional methods of peripheral delegates, characteristics and descriptors can be called")
    func peripheral() async {
        let bench = CentralBench()
        let peripheral = await bench.discover()
        peripheral.delegate = bench.app
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        let value = CBMutableCharacteristic.dynamic()
        let text = CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "text")
        _ = bench.app.take()
        let delegate = peripheral.delegate
        delegate?.peripheralDidUpdateName?(peripheral)
        delegate?.peripheral?(peripheral, didModifyServices: [service])
        delegate?.peripheral?(peripheral, didReadRSSI: -60, error: nil)
        delegate?.peripheral?(peripheral, didDiscoverServices: CBError(.unknown))
        delegate?.peripheral?(peripheral, didDiscoverIncludedServicesFor: service, error: nil)
        delegate?.peripheral?(peripheral, didDiscoverCharacteristicsFor: service, error: nil)
        delegate?.peripheral?(peripheral, didDiscoverDescriptorsFor: value, error: nil)
        delegate?.peripheral?(peripheral, didUpdateValueFor: value, error: nil)
        delegate?.peripheral?(peripheral, didUpdateValueFor: text, error: nil)
        delegate?.peripheral?(peripheral, didWriteValueFor: value, error: nil)
        delegate?.peripheral?(peripheral, didWriteValueFor: text, error: nil)
        delegate?.peripheral?(peripheral, didUpdateNotificationStateFor: value, error: nil)
        delegate?.peripheralIsReady?(toSendWriteWithoutResponse: peripheral)
        delegate?.peripheral?(peripheral, didOpen: nil, error: CBError(.peerRemovedPairingInformation))
        delegate?.peripheral?(peripheral, didCompleteChannelSoundingSession: nil)
        #expect(
            bench.app.take() == [
                "name -", "modified [\"180D\"]", "rssi -60 ok", "services CBError 0", "included 180D ok",
                "characteristics 180D ok", "descriptors 2A37 ok", "value 2A37 [] ok", "descriptor 2901 ok",
                "written 2A37 ok", "written 2901 ok", "notifying false ok", "ready", "channel 0 CBError 14",
                "sounding ok",
            ]
        )
    }

    @Test("A peripheral manager delegate's optional methods can be called")
    func server() async {
        let bench = PeripheralBench(), manager = bench.manager
        let service = await bench.publish(.dynamic())
        let delegate = manager.delegate
        delegate?.peripheralManagerDidStartAdvertising?(manager, error: CBError(.alreadyAdvertising))
        delegate?.peripheralManager?(manager, didAdd: service, error: nil)
        delegate?.peripheralManager?(manager, didPublishL2CAPChannel: 0x81, error: nil)
        delegate?.peripheralManager?(manager, didReceiveWrite: [])
        delegate?.peripheralManagerIsReady?(toUpdateSubscribers: manager)
        #expect(
            bench.app.take() == [
                "advertising CBError 9 false", "added 180D ok", "published 129 ok", "write ", "ready",
            ]
        )
    }

    @Test("Calling a method that the delegate lacks does what an absent method does")
    func absent() async {
        final class Silent: NSObject, CBPeripheralDelegate {}
        let bench = CentralBench(), silent = Silent()
        let peripheral = await bench.discover()
        _ = (bench.app.take(), bench.session.take())
        peripheral.delegate = silent
        peripheral.delegate?.peripheral?(peripheral, didReadRSSI: -60, error: nil)
        peripheral.delegate = nil
        #expect(peripheral.delegate?.peripheral?(peripheral, didReadRSSI: -60, error: nil) == nil)
        #expect(bench.app.take() == [])
        #expect(bench.session.take() == [])
    }
}
