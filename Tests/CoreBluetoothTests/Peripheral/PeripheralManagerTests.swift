import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Peripheral manager")
struct PeripheralManagerTests {
    let bench = PeripheralBench()

    @Test("Commands before power on are ignored with a log line")
    func misuse() async {
        let manager = bench.manager, characteristic = CBMutableCharacteristic.dynamic()
        manager.startAdvertising(nil)
        manager.stopAdvertising()
        manager.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
        manager.removeAllServices()
        #expect(!manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        manager.publishL2CAPChannel(withEncryption: false)
        let line = "API MISUSE: <CBPeripheralManager: \(manager.address)> can only accept this command while in the "
        #expect(bench.lines.take() == Array(repeating: line + "powered on state", count: 6))
        #expect(bench.session.take().isEmpty)
        await bench.session.tell(.stateChanged(.unauthorized))
        #expect(bench.app.take() == ["state 3"])
        #expect(bench.session.role == .peripheral)
    }

    @Test("Only a name and services are advertised, whatever their Foundation types")
    func advertising() async {
        await bench.powerOn()
        bench.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Chat" as NSString,
            CBAdvertisementDataServiceUUIDsKey: NSArray(array: [CBUUID(string: "180D")]),
            CBAdvertisementDataServiceDataKey: [CBUUID(string: "180D")],
        ])
        #expect(
            bench.take() == [
                .server(.startAdvertising(AdvertisingRequest(localName: "Chat", services: [.short(0x180D)])))
            ]
        )
        #expect(bench.lines.take().count == 1)
        #expect(!bench.manager.isAdvertising)
        await bench.tell(.advertisingStarted(nil))
        #expect(bench.app.take() == ["advertising ok true"])
        bench.manager.startAdvertising(nil)
        await bench.session.settle()
        #expect(bench.app.take() == ["advertising CBError 9 true"])
        bench.manager.stopAdvertising()
        #expect(!bench.manager.isAdvertising)
        bench.manager.startAdvertising(nil)
        #expect(bench.take() == [.server(.stopAdvertising), .server(.startAdvertising(AdvertisingRequest()))])
        await bench.tell(.advertisingStarted(.limitReached))
        #expect(bench.app.take() == ["advertising CBError 4 false"])
    }

    @Test("Values of the wrong type fail through the delegate")
    func wrongTypes() async {
        await bench.powerOn()
        bench.manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: CBUUID(string: "180D")])
        bench.manager.startAdvertising([CBAdvertisementDataLocalNameKey: 7])
        await bench.session.settle()
        #expect(bench.app.take() == ["advertising CBError 1 false", "advertising CBError 1 false"])
        #expect(bench.take().isEmpty)
    }

    @Test("Switching the radio off and on preserves services and the advertisement")
    func powerOff() async throws {
        let characteristic = CBMutableCharacteristic.dynamic(), service = await bench.publish(characteristic)
        let id = try #require(service.published?.id)
        bench.manager.startAdvertising(nil)
        await bench.tell(.advertisingStarted(nil))
        await bench.tell(.subscribed(PeripheralBench.central, to: LocalAttributeID(rawValue: 2)))
        _ = (bench.app.take(), bench.take())
        await bench.session.tell(.stateChanged(.poweredOff))
        #expect(!bench.manager.isAdvertising)
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        await bench.session.tell(.stateChanged(.poweredOn))
        let requests = bench.take()
        guard requests.count == 4, case .service(.addService(let definition)) = requests[1] else {
            Issue.record("\(requests)")
            return
        }
        #expect(definition.id == id)
        #expect(requests[0] == .service(.removeAllServices))
        #expect(requests[2...] == [.server(.stopAdvertising), .server(.startAdvertising(AdvertisingRequest()))])
        await bench.tell(.serviceAdded(id, nil))
        await bench.tell(.advertisingStarted(nil))
        #expect(bench.manager.isAdvertising)
        #expect(bench.app.take() == ["state 4", "state 5"])
        #expect(bench.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
    }

    @Test("Adding a service that the host did not accept before its reset still calls the delegate")
    func addDuringReset() async throws {
        await bench.powerOn()
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        bench.manager.add(service)
        let id = try #require(service.published?.id)
        await bench.session.tell(.stateChanged(.resetting), .server(.serviceAdded(id, .poweredOff)))
        #expect(bench.app.take() == ["state 1", "added 180D CBError 3"])
    }

    @Test("A state below powered off removes services and the advertisement")
    func reset() async {
        let characteristic = CBMutableCharacteristic.dynamic()
        let service = await bench.publish(characteristic)
        bench.manager.startAdvertising(nil)
        await bench.tell(.advertisingStarted(nil))
        _ = bench.take()
        await bench.session.tell(.stateChanged(.resetting), .stateChanged(.poweredOn))
        #expect(bench.take() == [.server(.stopAdvertising), .service(.removeAllServices)])
        #expect(!bench.manager.isAdvertising)
        #expect(!bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        bench.manager.add(service)
        #expect(bench.take().count == 1)
    }

    @Test(
        "A start request that a lost host never answers does not affect the next one",
        arguments: [[.poweredOn], [.poweredOff, .poweredOn]] as [[HostState]]
    )
    func lostHost(states: [HostState]) async {
        await bench.powerOn()
        bench.manager.startAdvertising(nil)
        await bench.session.tell(.stateChanged(.resetting))
        for state in states { await bench.session.tell(.stateChanged(state)) }
        _ = bench.app.take()
        bench.manager.startAdvertising(nil)
        await bench.tell(.advertisingStarted(nil))
        #expect(bench.app.take() == ["advertising ok true"])
        #expect(bench.manager.isAdvertising)
    }

    @Test("A central is the same object while the app retains it, and has its maximum update length")
    func centrals() async {
        let characteristic = CBMutableCharacteristic.dynamic()
        _ = await bench.publish(characteristic)
        let id = LocalAttributeID(rawValue: 2)
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        await bench.tell(.subscribed(PeripheralBench.other, to: id))
        #expect(bench.app.take() == ["subscribed 2A37 1 182", "subscribed 2A37 1 182", "subscribed 2A37 2 20"])
        let central = bench.app.centrals[0]
        #expect(central === bench.app.centrals[1])
        #expect(central.identifier == UUID(PeripheralBench.central.peer))
        #expect(characteristic.subscribedCentrals?[0] === central)
        await bench.tell(.centralChanged(RemoteCentral(peer: PeripheralBench.central.peer, mtu: 517)))
        #expect(central.maximumUpdateValueLength == 495)
        await bench.tell(.unsubscribed(PeripheralBench.central, from: id))
        #expect(bench.app.take() == ["unsubscribed 2A37 1"])
    }

    @Test("Values go to the requested centrals that are subscribed")
    func receivers() async {
        let characteristic = CBMutableCharacteristic.dynamic(), id = LocalAttributeID(rawValue: 2)
        _ = await bench.publish(characteristic)
        let manager = bench.manager
        #expect(manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        #expect(bench.take().isEmpty)
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        await bench.tell(.subscribed(PeripheralBench.other, to: id))
        await bench.tell(.unsubscribed(PeripheralBench.other, from: id))
        let first = bench.app.centrals[0], second = bench.app.centrals[1]
        #expect(manager.updateValue(Data([2]), for: characteristic, onSubscribedCentrals: nil))
        #expect(manager.updateValue(Data([3]), for: characteristic, onSubscribedCentrals: [first, second]))
        #expect(manager.updateValue(Data([4]), for: characteristic, onSubscribedCentrals: [second]))
        #expect(manager.updateValue(Data([5]), for: characteristic, onSubscribedCentrals: []))
        #expect(
            bench.take() == [
                .service(.update(id, [2], to: nil)), .service(.update(id, [3], to: [PeripheralBench.central.peer])),
            ]
        )
        manager.setDesiredConnectionLatency(.low, for: first)
        #expect(bench.take() == [.server(.setLatency(PeripheralBench.central.peer, .low))])
        #expect(!manager.updateValue(Data(), for: .dynamic(), onSubscribedCentrals: nil))
        #expect(bench.lines.take().count == 1)
    }

    @Test("Values wait for free space, and the app is told once")
    func window() async {
        let characteristic = CBMutableCharacteristic.dynamic(), id = LocalAttributeID(rawValue: 2)
        _ = await bench.publish(characteristic)
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        _ = bench.app.take()
        var sent = 0
        while bench.manager.updateValue(Data([UInt8(sent)]), for: characteristic, onSubscribedCentrals: nil) {
            sent += 1
        }
        #expect(sent == SendWindow.size)
        #expect(bench.take() == (0..<UInt8(sent)).map { .service(.update(id, [$0], to: nil)) })
        await bench.tell(.updatesTaken(1))
        #expect(!bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        await bench.tell(.updatesTaken(sent - 1))
        #expect(bench.app.take() == ["ready"])
        #expect(bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        await bench.tell(.updatesTaken(1))
        #expect(bench.app.take().isEmpty)
    }

    @Test("Free space is not reported without the radio, and new subscribers have space", .behaviour("2.3.16"))
    func windowWithoutRadio() async {
        let characteristic = CBMutableCharacteristic.dynamic(), id = LocalAttributeID(rawValue: 2)
        _ = await bench.publish(characteristic)
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        while bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil) {}
        _ = bench.app.take()
        await bench.session.tell(.stateChanged(.poweredOff))
        await bench.tell(.updatesTaken(SendWindow.size))
        await bench.session.tell(.stateChanged(.poweredOn))
        #expect(bench.app.take() == ["state 4", "state 5"])
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        #expect(bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
    }

    @Test("An app that was never refused is not told of free space")
    func roomThatNobodyLacked() async {
        let characteristic = CBMutableCharacteristic.dynamic(), id = LocalAttributeID(rawValue: 2)
        _ = await bench.publish(characteristic)
        await bench.tell(.subscribed(PeripheralBench.central, to: id))
        _ = bench.app.take()
        for _ in 0..<SendWindow.size {
            #expect(bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        }
        await bench.tell(.updatesTaken(SendWindow.size))
        #expect(bench.app.take().isEmpty)
        #expect(bench.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
    }

    @Test("The authorization is always allowed")
    func authorization() { #expect(CBPeripheralManager.authorization == .allowedAlways) }

    @Test("Releasing a manager closes its session, and its services can be changed again")
    func deallocation() {
        let link = ScriptedLink(), lines = Lines()
        var manager: CBPeripheralManager? = lines.collect(link) { CBPeripheralManager() }
        #expect(manager?.delegate == nil)
        manager = nil
        #expect(link.sessions[0].isClosed)
    }
}
