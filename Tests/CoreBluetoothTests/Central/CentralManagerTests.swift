import BLEHost
import BLERuntime
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Central manager")
struct CentralManagerTests {
    let bench = CentralBench()

    @Test(
        "The state is unknown at first, and then the host's, with one callback for each change",
        arguments: [
            (HostState.resetting, CBManagerState.resetting), (.unsupported, .unsupported),
            (.unauthorized, .unauthorized), (.poweredOff, .poweredOff), (.poweredOn, .poweredOn),
        ]
    )
    func state(host: HostState, expected: CBManagerState) async {
        #expect(bench.manager.state == .unknown)
        await bench.session.tell(.stateChanged(host), .stateChanged(host))
        #expect(bench.manager.state == expected)
        #expect(bench.app.take() == ["state \(expected.rawValue)"])
    }

    @Test("The host's features are known to all callers once it has reported them", .behaviour("1.2.4"))
    func features() async {
        let link = bench.link, both: CBCentralManager.Feature = [.extendedScanAndConnect, .channelSounding]
        func supported(_ features: CBCentralManager.Feature) -> Bool {
            Bluetooth.$link.withValue(link) { CBCentralManager.supports(features) }
        }
        #expect(!supported(.extendedScanAndConnect))
        await bench.session.tell(.featuresChanged(.extendedScanAndConnect), .stateChanged(.poweredOn))
        #expect(supported(.extendedScanAndConnect))
        #expect(!supported(.channelSounding))
        #expect(!supported(both))
        #expect(supported([]))
        #expect(!Bluetooth.$link.withValue(ScriptedLink()) { CBCentralManager.supports(.extendedScanAndConnect) })
        await bench.session.tell(.stateChanged(.resetting), .featuresChanged([]), .stateChanged(.poweredOn))
        #expect(!supported(.extendedScanAndConnect))
    }

    @Test("Commands before power on are ignored with a log line")
    func misuse() async {
        let manager = bench.manager
        manager.scanForPeripherals(withServices: nil)
        manager.stopScan()
        manager.registerForConnectionEvents()
        #expect(manager.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
        #expect(manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")]).isEmpty)
        let line = "API MISUSE: <CBCentralManager: \(manager.address)> can only accept this command while in the "
        #expect(bench.lines.take() == Array(repeating: line + "powered on state", count: 5))
        #expect(bench.session.take().isEmpty)
        #expect(!manager.isScanning)
    }

    @Test("Results of an earlier scan are not reported as results of a later one")
    func earlierScans() async {
        await bench.powerOn()
        bench.session.beginsScans = false
        let report = ClientEvent.discovered(.of(CentralBench.peer, name: "A"))
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        bench.manager.scanForPeripherals(withServices: nil, options: options)
        await bench.session.tell(report, .scanBegan(1), report)
        #expect(bench.app.take() == ["discovered A -40"])
        bench.manager.scanForPeripherals(withServices: nil)
        await bench.session.tell(report, report)
        bench.manager.stopScan()
        bench.manager.scanForPeripherals(withServices: nil)
        await bench.session.tell(report, .scanBegan(2), report)
        #expect(bench.app.take().isEmpty)
        await bench.session.tell(.scanBegan(3), report)
        #expect(bench.app.take() == ["discovered A -40"])
        let scan = ScanRequest()
        #expect(
            bench.session.take() == [
                .scan(ScanRequest(allowsDuplicates: true), number: 1), .scan(scan, number: 2), .stopScan,
                .scan(scan, number: 3),
            ]
        )
    }

    @Test("Scan options reach the host, whatever their Foundation types")
    func scanOptions() async {
        await bench.powerOn()
        let heartRate = CBUUID(string: "180D"), solicited = CBUUID(string: "1812")
        bench.manager.scanForPeripherals(withServices: nil)
        bench.manager.scanForPeripherals(withServices: [])
        bench.manager.scanForPeripherals(
            withServices: [heartRate],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        )
        bench.manager.scanForPeripherals(
            withServices: [heartRate],
            options: [
                CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: 1),
                CBCentralManagerScanOptionSolicitedServiceUUIDsKey: NSArray(array: [solicited]),
            ]
        )
        bench.manager.scanForPeripherals(
            withServices: [heartRate],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: "yes"]
        )
        #expect(
            bench.session.take() == [
                .scan(ScanRequest()), .scan(ScanRequest()),
                .scan(ScanRequest(services: [.short(0x180D)], allowsDuplicates: true)),
                .scan(
                    ScanRequest(
                        services: [.short(0x180D)],
                        solicitedServices: [.short(0x1812)],
                        allowsDuplicates: true
                    )
                ),
                .scan(ScanRequest(services: [.short(0x180D)])),
            ]
        )
        #expect(bench.lines.take().count == 1)
        #expect(bench.manager.isScanning)
        bench.manager.stopScan()
        bench.manager.stopScan()
        #expect(bench.session.take() == [.stopScan])
        #expect(!bench.manager.isScanning)
    }

    @Test("Results that arrive after the scan are not reported")
    func lateDiscovery() async {
        await bench.powerOn()
        bench.manager.scanForPeripherals(withServices: nil)
        await bench.session.tell(.discovered(.of(CentralBench.peer, name: "A")))
        bench.manager.stopScan()
        await bench.session.tell(.discovered(.of(CentralBench.other, name: "B")))
        #expect(bench.app.take() == ["discovered A -40"])
    }

    @Test("A device is the same object while the app retains it, and keeps its name", .behaviour("2.1.7"))
    func identity() async {
        let first = await bench.discover(name: "A")
        await bench.session.tell(.discovered(.of(CentralBench.peer)))
        await bench.session.tell(.discovered(.of(CentralBench.other, rssi: .unavailable)))
        #expect(bench.app.take() == ["discovered A -40", "discovered - 127"])
        #expect(bench.app.peripherals.count == 2)
        #expect(bench.app.peripherals[0] === first)
        #expect(bench.manager.retrievePeripherals(withIdentifiers: [first.identifier]) == [first])
        #expect(first.copy() as AnyObject === first)
        #expect(first != bench.app.peripherals[1])
    }

    @Test("Peripherals are retrieved in the requested order, without unknown ones")
    func retrieving() async {
        await bench.session.tell(.knownPeers([KnownPeer(peer: CentralBench.other, name: "Old friend")]))
        let seen = await bench.discover()
        let known = UUID(CentralBench.other)
        let found = bench.manager.retrievePeripherals(withIdentifiers: [known, UUID(), seen.identifier])
        #expect(found.map(\.identifier) == [known, seen.identifier])
        #expect(found[0].name == "Old friend")
        #expect(found[1] === seen)
    }

    @Test("A peripheral that the app did not retain can still be retrieved by its identifier")
    func retrievingForgotten() async {
        let identifier = await bench.discover(name: "A").identifier
        bench.app.forget()
        #expect(bench.manager.retrievePeripherals(withIdentifiers: [identifier]).first?.name == "A")
    }

    @Test("Connected peripherals are those of the machine that offer a requested service")
    func retrievingConnected() async {
        await bench.powerOn()
        await bench.session.tell(
            .systemLinks([
                SystemLink(peer: CentralBench.peer, name: "A", services: [.short(0x180D), .short(0x180F)]),
                SystemLink(peer: CentralBench.other, name: "B", services: [.short(0x1812)]),
            ])
        )
        func names(_ services: [String]) -> [String?] {
            bench.manager.retrieveConnectedPeripherals(withServices: services.map { CBUUID(string: $0) }).map(\.name)
        }
        #expect(names(["180F"]) == ["A"])
        #expect(names(["180F", "1812"]) == ["A", "B"])
        #expect(names(["1800"]).isEmpty)
        #expect(names([]).isEmpty)
        let peripheral = bench.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1812")])[0]
        #expect(peripheral.state == .disconnected)
    }

    @Test("Connection events report matching peers that connect or disconnect after registration")
    func connectionEvents() async {
        let a = SystemLink(peer: CentralBench.peer), b = SystemLink(peer: CentralBench.other)
        var found = a
        found.services = [.short(0x180D)]
        await bench.powerOn()
        await bench.session.tell(.systemLinks([b]))
        bench.manager.registerForConnectionEvents(options: [
            .serviceUUIDs: [CBUUID(string: "180D")], .peripheralUUIDs: [UUID(CentralBench.other)],
        ])
        await bench.session.tell(.systemLinks([a, b]), .systemLinks([found, b]))
        #expect(bench.app.take() == ["event 1"])
        await bench.session.tell(.systemLinks([found]))
        #expect(bench.app.take() == ["event 0"])
        bench.manager.registerForConnectionEvents()
        await bench.session.tell(.systemLinks([]))
        #expect(bench.app.take().isEmpty)
    }

    @Test("A peer that connects again after a restart of the host is reported again")
    func connectionEventsAfterRestart() async {
        let link = SystemLink(peer: CentralBench.peer)
        await bench.powerOn()
        bench.manager.registerForConnectionEvents(options: [.peripheralUUIDs: [UUID(CentralBench.peer)]])
        await bench.session.tell(.systemLinks([link]))
        #expect(bench.app.take() == ["event 1"])
        await bench.session.tell(.stateChanged(.resetting), .stateChanged(.poweredOn), .systemLinks([link]))
        #expect(bench.app.take() == ["state 1", "state 5", "event 1"])
    }

    @Test("Switching off the radio ends links and the scan without callbacks, and peripherals stay valid")
    func powerOff() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        _ = bench.app.take()
        await bench.session.tell(
            .disconnected(CentralBench.peer, .poweredOff, isReconnecting: false),
            .stateChanged(.poweredOff)
        )
        #expect(bench.app.take() == ["state 4"])
        #expect(peripheral.state == .disconnected)
        #expect(peripheral.services == nil)
        #expect(!bench.manager.isScanning)
        await bench.powerOn()
        bench.manager.connect(peripheral)
        #expect(bench.session.take() == [.connect(CentralBench.peer, ConnectRequest())])
    }

    @Test(
        "In a state below powered off, peripherals become invalid and must be retrieved again",
        arguments: [HostState.resetting, .unsupported]
    )
    func reset(state: HostState) async {
        let peripheral = await bench.connect(), identifier = peripheral.identifier
        await bench.session.tell(.stateChanged(state))
        #expect(peripheral.state == .disconnected)
        await bench.powerOn()
        bench.manager.connect(peripheral)
        #expect(bench.session.take().isEmpty)
        #expect(bench.lines.take().count == 1)
        let again = bench.manager.retrievePeripherals(withIdentifiers: [identifier])[0]
        #expect(again !== peripheral)
        bench.manager.connect(again)
        #expect(bench.session.take() == [.connect(CentralBench.peer, ConnectRequest())])
    }

    @Test("Releasing a manager closes its session and disconnects its peripherals")
    func deallocation() async {
        let link = ScriptedLink(), lines = Lines(), app = CentralApp()
        var manager: CBCentralManager? = lines.collect(link) {
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "app"))
        }
        let session = link.sessions[0]
        await session.tell(.stateChanged(.poweredOn))
        manager?.scanForPeripherals(withServices: nil)
        await session.tell(.discovered(.of(CentralBench.peer)))
        manager?.connect(app.peripherals[0])
        #expect(app.peripherals[0].state == .connecting)
        manager = nil
        #expect(session.isClosed)
        #expect(app.peripherals[0].state == .disconnected)
    }

    @Test("Without a host the state is unsupported, and commands are ignored")
    func noHost() async {
        let lines = Lines(), app = CentralApp()
        let manager = lines.collect(UnsupportedLink()) {
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "app"))
        }
        await withCheckedContinuation { done in manager.reference.queue.async { done.resume() } }
        #expect(app.take() == ["state 2"])
        manager.scanForPeripherals(withServices: nil)
        #expect(lines.take().count == 1)
    }

    @Test("Delegate methods are called on the given queue and in order, even if the queue is concurrent")
    func order() async {
        let bench = CentralBench(queue: DispatchQueue(label: "app", attributes: .concurrent))
        await bench.powerOn()
        bench.manager.scanForPeripherals(withServices: nil)
        for number in 0..<200 {
            await bench.session.tell(.discovered(.of(CentralBench.peer, name: "\(number)")))
        }
        #expect(bench.app.take() == (0..<200).map { "discovered \($0) -40" })
    }
}
