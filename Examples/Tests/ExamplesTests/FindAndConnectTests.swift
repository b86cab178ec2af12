import BLESimulation
import CoreBluetooth
import Testing

@testable import FindAndConnect
@testable import PeripheralMode

@Suite("Find and connect") @MainActor
struct FindAndConnectTests {
    @Test("A peripheral is found by name and discovered down to its descriptors", arguments: seeds)
    func explore(seed: UInt64) async throws {
        let stage = Stage(seed: seed, loss: 0.2)
        let peripheral = stage.start(on: LocalNameKey) { PeripheralViewController(ticker: ManualTicker()) }
        stage.world.machine(LocalNameKey).inhabit { peripheral.viewDidLoad() }
        await stage.wait(until: "it advertises") { peripheral.log.contains("Advertising") }

        let controller = stage.start(on: "central", distance: 5) { ViewController(prefix: "xmg") }
        stage.world.machine("central").inhabit { controller.viewDidLoad() }
        let readwrite = CBUUID(string: readwriteCharacteristicStrUUID)
        await stage.wait(until: "values and descriptions are read") {
            controller.values[readwrite] != nil && controller.descriptions[readwrite] == "xmgDes1"
                && controller.values[CBUUID(string: readCharacteristicStrUUID)] != nil
        }
        #expect(controller.log.contains("The radio is on"))
        #expect(controller.log.contains("xmgDevice connected"))

        let found = try #require(controller.peripheral)
        let all = (found.services ?? []).flatMap { $0.characteristics ?? [] }
        for characteristic in all {
            controller.peripheral(found, didWriteData: Data("new".utf8), forCharacteristic: characteristic)
        }
        await stage.wait(until: "what can be written is written") { controller.written == [readwrite] }
        controller.dismissConnected(with: found)
        await stage.wait(until: "it disconnects") { controller.log.contains("xmgDevice disconnected") }
    }

    @Test("Notifications come while the app is subscribed, and end when it unsubscribes")
    func subscription() async throws {
        let stage = Stage()
        let ticker = ManualTicker()
        let peripheral = stage.start(on: LocalNameKey) { PeripheralViewController(ticker: ticker) }
        stage.world.machine(LocalNameKey).inhabit { peripheral.viewDidLoad() }
        let controller = stage.start(on: "central", distance: 5) { ViewController(prefix: "xmg") }
        stage.world.machine("central").inhabit { controller.viewDidLoad() }
        let notify = CBUUID(string: notifyCharacteristicStrUUID)
        var characteristic: CBCharacteristic?
        await stage.wait(until: "the characteristic is discovered") {
            characteristic = controller.peripheral?.services?.flatMap { $0.characteristics ?? [] }.first {
                $0.uuid == notify
            }
            return characteristic != nil
        }
        let found = try #require(controller.peripheral), subscribed = try #require(characteristic)
        controller.peripheral(found, regNotifyWithCharacteristic: subscribed)
        await stage.wait(until: "it is subscribed") { ticker.isRunning }
        ticker.ring()
        await stage.wait(until: "the time arrives") { controller.values[notify] != nil }
        controller.peripheral(found, cancelRegNotifyWithCharacteristic: subscribed)
        await stage.wait(until: "it is not subscribed any more") { !ticker.isRunning && !subscribed.isNotifying }
    }

    @Test("A peripheral with another name is ignored")
    func otherName() async {
        let stage = Stage()
        let peripheral = stage.start(on: LocalNameKey) { PeripheralViewController(ticker: ManualTicker()) }
        stage.world.machine(LocalNameKey).inhabit { peripheral.viewDidLoad() }
        let controller = stage.start(on: "central", distance: 5) { ViewController(prefix: "other") }
        stage.world.machine("central").inhabit { controller.viewDidLoad() }
        await stage.world.advance(by: .seconds(10))
        #expect(peripheral.log.contains("Advertising"))
        #expect(controller.peripheral == nil)
    }
}
