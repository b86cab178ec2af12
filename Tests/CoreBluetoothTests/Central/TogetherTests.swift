import BLEHost
import BLERuntime
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Events in one batch")
struct TogetherTests {
    let bench = CentralBench()
    let handle = AttributeHandle(wire: 12)

    private func value(_ number: UInt8, from peer: PeerIdentifier = CentralBench.peer) -> ClientEvent {
        .peer(peer, .valueNotified(handle, [number]))
    }

    /// Finds, connects and discovers two peripherals, and returns them.
    private func connectBoth() async -> [CBPeripheral] {
        let peripherals = [await bench.discover(), await bench.discover(CentralBench.other)]
        for peripheral in peripherals {
            bench.manager.connect(peripheral)
            let range = Fixture.heartRate.range, found = Fixture.characteristic(0x2A37, .notify)
            await bench.session.tell(
                .connected(peripheral.peer, LinkParameters(mtu: 185)),
                .peer(peripheral.peer, .servicesDiscovered(.success([Fixture.heartRate]))),
                .peer(peripheral.peer, .characteristicsDiscovered(in: range, .success([found])))
            )
        }
        _ = (bench.app.take(), bench.session.take())
        return peripherals
    }

    @Test("Events of a batch are delivered in order, each to its peripheral")
    func order() async {
        let peripherals = await connectBoth()
        await bench.session.tell(together: [
            value(1), value(2), value(3, from: CentralBench.other),
            .disconnected(CentralBench.peer, nil, isReconnecting: false), value(4),
            value(5, from: CentralBench.other),
        ])
        #expect(
            bench.app.take() == [
                "value 2A37 [1] ok", "value 2A37 [2] ok", "value 2A37 [3] ok", "disconnected ok 0",
                "value 2A37 [5] ok",
            ]
        )
        #expect(peripherals.map(\.state) == [.disconnected, .connected])
    }

    @Test("Delivery stops when the app releases its manager")
    func managerLetGo() async {
        let app = CentralApp(), link = ScriptedLink(), queue = DispatchQueue(label: "app")
        var manager = bench.lines.collect(link) { CBCentralManager(delegate: app, queue: queue) } as CBCentralManager?
        app.reactions = [("discovered", { manager = nil })]
        await link.sessions[0].tell(.stateChanged(.poweredOn))
        manager?.scanForPeripherals(withServices: nil)
        await link.sessions[0].tell(together: [
            .discovered(.of(CentralBench.peer, name: "A")), .discovered(.of(CentralBench.other, name: "B")),
        ])
        #expect(app.take() == ["state 5", "discovered A -40"])
        #expect(manager == nil)
        #expect(link.sessions[0].isClosed)
    }

    @Test("Delivery for a peripheral stops when the app releases it")
    func peripheralLetGo() async {
        _ = await connectBoth()
        bench.app.reactions = [("value", { [bench] in bench.app.forget() })]
        await bench.session.tell(together: [value(1), value(2)])
        #expect(bench.app.take() == ["value 2A37 [1] ok"])
        #expect(bench.session.take().contains(.cancelConnection(CentralBench.peer)))
    }

    @Test("A value that the app has kept does not change when the next one arrives")
    func keptValues() async {
        let peripherals = await connectBoth(), characteristic = peripherals[0].services?[0].characteristics?[0]
        var kept: [Data?] = []
        bench.app.reactions = [("value", { kept.append(characteristic?.value) })]
        let long = (0..<3).map { [UInt8](repeating: $0, count: 40) }
        await bench.session.tell(together: long.map { .peer(CentralBench.peer, .valueNotified(handle, $0)) })
        #expect(kept == long.map { Data($0) })
    }
}
