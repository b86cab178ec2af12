import BLESimulation
import CoreBluetooth
import Testing

@testable import ChatRoom

@Suite("Chat room") @MainActor
struct ChatRoomTests {
    /// A guest who has found the room and talks in it.
    private func enter(_ name: String, _ stage: Stage) async -> (central: CentralMode, talking: Talking?) {
        let central = stage.start(on: name) { CentralMode() }
        var talking: Talking?
        central.onTalk = { peripheral, characteristic in
            let talk = Talking(peripheral: peripheral, characteristic: characteristic, name: name)
            talk.viewDidLoad()
            talking = talk
        }
        await stage.world.advance(by: .seconds(1))
        central.scanSwitchChanged(isOn: true)
        await stage.wait(until: "\(name) finds the room") {
            central.allDiscovered.values.contains { $0.peripheral.name == kPeripheralName }
        }
        let room = central.allDiscovered.values.first { $0.peripheral.name == kPeripheralName }
        if let room { central.connect(to: room.peripheral.identifier) }
        await stage.wait(until: "\(name) is welcomed") { talking?.received.isEmpty == false }
        return (central, talking)
    }

    @Test("Every guest is welcomed and receives each message once and in order", arguments: seeds)
    func conversation(seed: UInt64) async {
        let stage = Stage(seed: seed, loss: 0.3)
        let room = stage.start(on: kPeripheralName) { PeripheralModeChat() }
        await stage.world.advance(by: .seconds(1))
        room.switchValueChanged(isOn: true)

        let alice = await enter("Alice", stage), bob = await enter("Bob", stage)
        #expect(alice.talking?.received.first?.contains("Total: 1") == true)
        #expect(bob.talking?.received.first?.contains("Total: 2") == true)
        for number in 1...5 {
            alice.talking?.textFieldShouldReturn("\(number)")
            bob.talking?.textFieldShouldReturn("\(number)")
        }
        room.textFieldShouldReturn("Good night")
        await stage.wait(until: "everybody has heard everything") {
            [alice.talking, bob.talking].allSatisfy { $0?.received.count == 12 }
        }
        for listener in [alice.talking, bob.talking] {
            for name in ["Alice", "Bob"] {
                let heard = listener?.received.filter { $0.hasPrefix("[\(name)]") }
                #expect(heard == (1...5).map { "[\(name)] \($0)\n" })
            }
        }
        #expect(room.logText.contains("Max Length: "))
        bob.central.leave()
        await stage.wait(until: "Bob is gone") { bob.central.log.contains("Disconnected: \(kPeripheralName)") }
    }

    @Test("A client that does not join can still discover the room's services and characteristics")
    func inspection() async {
        let stage = Stage()
        let room = stage.start(on: kPeripheralName) { PeripheralModeChat() }
        await stage.world.advance(by: .seconds(1))
        room.switchValueChanged(isOn: true)
        let central = stage.start(on: "central") { CentralMode() }
        await stage.world.advance(by: .seconds(1))
        central.scanSwitchChanged(isOn: true)
        await stage.wait(until: "the room is found") { !central.allDiscovered.isEmpty }
        if let found = central.allDiscovered.keys.first { central.connect(to: found) }
        await stage.wait(until: "the result is there") { central.result?.contains(kCharacteristicUUID) == true }
        #expect(central.result?.contains(kServiceUUID) == true)
    }
}
