import BLEHost
import BLERuntime
import Testing

@testable import CoreBluetooth

/// Key-value observing by key path, of what changes by itself.
@Suite("Key-value observation")
struct ObservationTests {
    /// What was seen, in the order in which it was seen.
    final class Seen: Sendable {
        private let lines = Locked<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    let bench = CentralBench()
    let seen = Seen()

    @Test("The state of a manager can be observed, with old and new values", .behaviour("1.1.3"))
    func managerState() async {
        let observation = bench.manager.observe(\.state, options: [.new, .old]) { [seen] manager, change in
            seen.add("\(change.oldValue!.rawValue) \(change.newValue!.rawValue) \(manager.state.rawValue)")
        }
        await bench.session.tell(.stateChanged(.poweredOff), .stateChanged(.poweredOn), .stateChanged(.poweredOn))
        #expect(seen.take() == ["0 4 4", "4 5 5"])
        observation.invalidate()
        await bench.session.tell(.stateChanged(.poweredOff))
        #expect(seen.take() == [])
    }

    @Test("A change contains only the requested values, and the initial value if requested")
    func options() async {
        // A change that is made during a comparison on the manager's queue is reported by that comparison, so the test
        // waits for the queue.
        let plain = bench.manager.observe(\.isScanning) { [seen] _, change in
            seen.add("plain \(change.newValue == nil) \(change.oldValue == nil) \(change.kind) \(change.isPrior)")
        }
        let initial = bench.manager.observe(\.isScanning, options: [.initial, .new]) { [seen] _, change in
            seen.add("initial \(change.newValue!)")
        }
        #expect(seen.take() == ["initial false"])
        await bench.powerOn()
        bench.manager.scanForPeripherals(withServices: nil)
        await bench.session.settle()
        #expect(seen.take() == ["plain true true setting false", "initial true"])
        bench.manager.scanForPeripherals(withServices: nil)
        await bench.session.settle()
        #expect(seen.take() == [])
        bench.manager.stopScan()
        await bench.session.settle()
        #expect(seen.take() == ["plain true true setting false", "initial false"])
        withExtendedLifetime((plain, initial)) {}
    }

    @Test("An observation that is not retained ends")
    func lifetime() async {
        await bench.powerOn()
        do {
            let observation = bench.manager.observe(\.isScanning) { [seen] _, _ in seen.add("called") }
            withExtendedLifetime(observation) {}
        }
        bench.manager.scanForPeripherals(withServices: nil)
        #expect(seen.take() == [])
    }

    @Test("A peripheral's state changes are observed before the delegate is called", .behaviour("1.1.3"))
    func peripheralState() async {
        let peripheral = await bench.discover()
        let heard = LockedBox(bench.app)
        let observation = peripheral.observe(\.state, options: .new) { [seen] _, change in
            seen.add("\(change.newValue!.rawValue) after \(heard.current.take())")
        }
        let name = peripheral.observe(\.name, options: [.new, .old]) { [seen] peripheral, change in
            seen.add("\(change.oldValue! ?? "nil") \(change.newValue! ?? "nil") \(peripheral.state.rawValue)")
        }
        bench.manager.connect(peripheral)
        #expect(seen.take() == ["1 after []"])
        await bench.session.tell(.connected(CentralBench.peer, LinkParameters(mtu: 23, name: "Own")))
        #expect(seen.take() == ["2 after []", "nil Own 2"])
        bench.manager.cancelPeripheralConnection(peripheral)
        await bench.session.tell(.disconnected(CentralBench.peer, nil, isReconnecting: false))
        #expect(seen.take().map { $0.prefix(1) } == ["3", "0"])
        withExtendedLifetime((observation, name)) {}
    }

    @Test("A delegate that is nil can be observed")
    func delegate() async {
        let peripheral = await bench.discover()
        let observation = peripheral.observe(\.delegate) { [seen] _, _ in seen.add("changed") }
        bench.manager.connect(peripheral)
        #expect(seen.take() == [])
        peripheral.delegate = bench.app
        #expect(seen.take() == ["changed"])
        withExtendedLifetime(observation) {}
    }

    @Test("A handler may use the observed object and change the observed property")
    func reentrance() async {
        await bench.powerOn()
        let observation = bench.manager.observe(\.isScanning, options: .new) { [seen] manager, change in
            seen.add("\(change.newValue!) \(manager.isScanning) \(manager.state == .poweredOn)")
            if change.newValue! { manager.stopScan() }
        }
        bench.manager.scanForPeripherals(withServices: nil)
        bench.manager.scanForPeripherals(withServices: nil)
        #expect(!bench.manager.isScanning)
        #expect(seen.take() == ["true true true", "false false true", "true true true", "false false true"])
        observation.invalidate()
    }

    @Test("A peripheral manager can also be observed", .behaviour("1.1.3"))
    func advertising() async {
        let bench = PeripheralBench()
        let observation = bench.manager.observe(\.isAdvertising, options: .new) { [seen] _, change in
            seen.add("\(change.newValue!)")
        }
        await bench.session.tell(.stateChanged(.poweredOn))
        bench.manager.startAdvertising(nil)
        await bench.session.tell(.server(.advertisingStarted(nil)))
        bench.manager.stopAdvertising()
        #expect(seen.take() == ["true", "false"])
        withExtendedLifetime(observation) {}
    }
}
