import BLESimulation
import CoreBluetooth
import Testing

@testable import FirstSteps
@testable import GoodPractice
@testable import TrustedDevices

@Suite("Good practice") @MainActor
struct GoodPracticeTests {
    /// Hears advertisements and keeps what the last one of each peripheral said.
    final class Listener: NSObject, CBCentralManagerDelegate {
        var manager: CBCentralManager!
        var heard: [[String: Any]] = []

        override init() {
            super.init()
            manager = CBCentralManager(delegate: self, queue: nil)
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            guard central.state == .poweredOn else { return }
            central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            heard.append(advertisementData)
        }
    }

    @Test("The peripheral advertises only when its user wants it to, and stops once a central has subscribed")
    func switching() async {
        let stage = Stage()
        let peripheral = stage.start(on: "peripheral") { CarefulPeripheral(localName: "Careful") }
        let listener = stage.start(on: "listener") { Listener() }
        await stage.world.advance(by: .seconds(2))
        #expect(listener.heard.isEmpty)

        peripheral.userWantsToBeSeen(true)
        await stage.wait(until: "it is heard") { !listener.heard.isEmpty }
        let explorer = stage.start(on: "central") { Explorer(services: [CarefulPeripheral.serviceUUID]) }
        await stage.wait(until: "its pulse is notified") {
            explorer.notifications[CarefulPeripheral.pulseUUID]?.contains(Data([72])) == true
        }
        #expect(!peripheral.isAdvertising)
        listener.heard = []
        await stage.world.advance(by: .seconds(2))
        #expect(listener.heard.isEmpty)
    }

    @Test("A subscription resumes after the radio was lost for a while", arguments: seeds)
    func lasting(seed: UInt64) async {
        let stage = Stage(seed: seed)
        let publisher = stage.start(on: "peripheral") { Publisher() }
        let subscriber = stage.start(on: "central") {
            LastingSubscriber(to: Publisher.changingUUID, of: Publisher.secondServiceUUID)
        }
        for count in 1...3 {
            await stage.wait(until: "subscription \(count) begins") { subscriber.subscriptionCount == count }
            stage.world.machine("central").unplugRadio()
            await stage.wait(until: "the radio is lost") { subscriber.states.last != .poweredOn }
            stage.world.machine("central").plugInRadio()
        }
        #expect(subscriber.states.contains(.resetting))
        withExtendedLifetime(publisher) {}
    }

    @Test("A name and a 128-bit service UUID fit into the advertisement and scan response")
    func budget() async {
        let stage = Stage()
        let peripheral = stage.start(on: "peripheral") { CarefulPeripheral(localName: "Careful") }
        let listener = stage.start(on: "listener") { Listener() }
        await stage.world.advance(by: .seconds(1))
        peripheral.userWantsToBeSeen(true)
        await stage.wait(until: "it is heard with its name") {
            listener.heard.contains { $0[CBAdvertisementDataLocalNameKey] as? String == "Careful" }
        }
        let services = listener.heard.last?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
        #expect(services == [CarefulPeripheral.serviceUUID])
    }

    @Test(
        "A central can read the private value if the user allows it, and is refused otherwise",
        arguments: [true, false]
    )
    func privacy(isLetIn: Bool) async {
        let stage = Stage()
        let (peripheral, alert) = stage.start(on: "peripheral") {
            (CarefulPeripheral(localName: "Careful"), PairingAlert(.displayYesNo))
        }
        await stage.world.advance(by: .seconds(1))
        peripheral.userWantsToBeSeen(true)
        let explorer = stage.start(on: "central") { Explorer(services: [CarefulPeripheral.serviceUUID]) }
        await stage.wait(until: "the user is asked") { alert.prompt?.question == .consent(replacesBond: false) }
        #expect(explorer.values[CarefulPeripheral.emailUUID] == nil)
        if isLetIn { alert.accept() } else { alert.cancel() }
        await stage.wait(until: "the email is read or refused") {
            isLetIn
                ? explorer.values[CarefulPeripheral.emailUUID] == Data("me@example.org".utf8)
                : explorer.log.contains { $0.hasPrefix("Error reading characteristic value") }
        }
        #expect((explorer.values[CarefulPeripheral.emailUUID] != nil) == isLetIn)
    }
}
