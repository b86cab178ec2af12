import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Connecting")
struct ConnectingTests {
    let bench = CentralBench()
    let peer = CentralBench.peer

    @Test("Connection options reach the host")
    func options() async {
        let peripheral = await bench.discover()
        bench.manager.connect(
            peripheral,
            options: [
                CBConnectPeripheralOptionStartDelayKey: 2.5, CBConnectPeripheralOptionEnableAutoReconnect: true,
                CBConnectPeripheralOptionNotifyOnConnectionKey: true,
            ]
        )
        let request = ConnectRequest(startDelay: .milliseconds(2500), reconnects: true, alerts: .connection)
        #expect(bench.session.take() == [.connect(peer, request)])
    }

    @Test("Link details are those of this connection, never of the previous one", arguments: [false, true])
    func details(isRadioLost: Bool) async {
        let peripheral = await bench.connect(), address = DeviceAddress(0xC000_0000_0002, .random)
        #expect(peripheral.linkDetails == nil)
        var details = LinkDetails(address: address)
        details.security = .encrypted
        await bench.tell(.linkChanged(details))
        #expect(peripheral.linkDetails == details)
        if isRadioLost {
            await bench.session.tell(.stateChanged(.poweredOff), .stateChanged(.poweredOn))
        } else {
            await bench.session.tell(.disconnected(peer, .notConnected, isReconnecting: false))
        }
        #expect(peripheral.linkDetails == nil && peripheral.deviceAddress == address)
        bench.manager.connect(peripheral)
        await bench.session.tell(.connected(peer, LinkParameters(mtu: 185)))
        #expect(peripheral.state == .connected && peripheral.linkDetails == nil)
        await bench.tell(.linkChanged(LinkDetails(address: address)))
        #expect(peripheral.linkDetails?.security == .unencrypted)
    }

    @Test("A peripheral goes through connecting, connected, disconnecting and disconnected")
    func course() async {
        let peripheral = await bench.discover()
        bench.manager.connect(peripheral)
        bench.manager.connect(peripheral)
        #expect(peripheral.state == .connecting)
        #expect(bench.session.take() == [.connect(peer, ConnectRequest())])
        await bench.session.tell(.connected(peer, LinkParameters(mtu: 185)))
        #expect(peripheral.state == .connected)
        bench.manager.cancelPeripheralConnection(peripheral)
        bench.manager.cancelPeripheralConnection(peripheral)
        #expect(peripheral.state == .disconnecting)
        #expect(bench.session.take() == [.cancelConnection(peer)])
        await bench.session.tell(.disconnected(peer, nil, isReconnecting: false))
        #expect(bench.app.take() == ["connected 2", "disconnected ok 0"])
        #expect(peripheral.state == .disconnected)
    }

    @Test("A pending connection is cancelled without an error, even if it completes at that moment")
    func cancelPending() async {
        let peripheral = await bench.discover()
        bench.manager.connect(peripheral)
        bench.manager.cancelPeripheralConnection(peripheral)
        await bench.session.tell(
            .connected(peer, LinkParameters(mtu: 23)),
            .disconnected(peer, nil, isReconnecting: false)
        )
        #expect(bench.app.take() == ["disconnected ok 0"])
    }

    @Test(
        "A pending connection that fails while being cancelled ends, or is requested again",
        arguments: [false, true]
    )
    func failureWhileClosing(wantsAgain: Bool) async {
        let peripheral = await bench.discover()
        bench.manager.connect(peripheral)
        bench.manager.cancelPeripheralConnection(peripheral)
        if wantsAgain { bench.manager.connect(peripheral) }
        _ = bench.session.take()
        await bench.session.tell(.connectFailed(peer, .notFound))
        #expect(bench.app.take() == ["disconnected ok \(wantsAgain ? 1 : 0)"])
        #expect(bench.session.take() == (wantsAgain ? [.connect(peer, ConnectRequest())] : []))
    }

    @Test("A connection requested during a disconnection is sent once that completes")
    func reconnectWhileClosing() async {
        let peripheral = await bench.connect()
        bench.manager.cancelPeripheralConnection(peripheral)
        bench.manager.connect(peripheral)
        #expect(bench.session.take() == [.cancelConnection(peer)])
        await bench.session.tell(.disconnected(peer, nil, isReconnecting: false))
        #expect(bench.session.take() == [.connect(peer, ConnectRequest())])
        #expect(bench.app.take() == ["disconnected ok 1"])
        await bench.session.tell(.connected(peer, LinkParameters(mtu: 23)))
        #expect(bench.app.take() == ["connected 2"])
    }

    @Test("A connection can be requested again in the disconnection callback")
    func reentrancy() async {
        let peripheral = await bench.connect()
        bench.app.reactions = [("disconnected", { [bench] in bench.manager.connect(peripheral) })]
        await bench.session.tell(.disconnected(peer, .hci(.connectionTimeout), isReconnecting: false))
        #expect(bench.app.take() == ["disconnected CBError 6 0"])
        #expect(peripheral.state == .connecting)
        #expect(bench.session.take() == [.connect(peer, ConnectRequest())])
    }

    @Test("A request made while the end of a connection fails others is refused with a log line")
    func requestWhileEnding() async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        bench.app.reactions = [("value", { peripheral.readRSSI() })]
        peripheral.readValue(for: characteristic)
        await bench.session.tell(.disconnected(CentralBench.peer, .timedOut, isReconnecting: false))
        #expect(bench.app.take().map { $0.prefix(5) } == ["value", "disco"])
        #expect(bench.session.take().count == 1)
        #expect(bench.lines.take().map { $0.prefix(10) } == ["API MISUSE"])
    }

    @Test("A connection that is not wanted is cancelled")
    func unwanted() async {
        _ = await bench.discover()
        await bench.session.tell(.connected(peer, LinkParameters(mtu: 23)))
        await bench.session.tell(.connected(CentralBench.other, LinkParameters(mtu: 23)))
        #expect(bench.session.take() == [.cancelConnection(peer), .cancelConnection(CentralBench.other)])
        #expect(bench.app.take().isEmpty)
    }

    @Test("A connection that cannot be made fails with the reason")
    func failure() async {
        let peripheral = await bench.discover()
        bench.manager.connect(peripheral)
        await bench.session.tell(.connectFailed(peer, .hci(.connectionFailedToBeEstablished)))
        #expect(bench.app.take() == ["failed CBError 10"])
        #expect(peripheral.state == .disconnected)
    }

    @Test("With automatic reconnection, the app is told that it is under way, and then that it has succeeded")
    func automaticReconnection() async {
        let peripheral = await bench.connect(options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await bench.session.tell(.disconnected(peer, .hci(.connectionTimeout), isReconnecting: true))
        #expect(bench.app.take() == ["disconnected CBError 6 1 reconnecting"])
        #expect(bench.session.take().isEmpty)
        await bench.session.tell(.connected(peer, LinkParameters(mtu: 23)))
        #expect(bench.app.take() == ["connected 2"])
        await bench.session.tell(.disconnected(peer, .hci(.connectionTimeout), isReconnecting: true))
        bench.manager.cancelPeripheralConnection(peripheral)
        await bench.session.tell(.disconnected(peer, nil, isReconnecting: false))
        #expect(bench.app.take() == ["disconnected CBError 6 1 reconnecting", "disconnected ok 0"])
        #expect(bench.session.take() == [.cancelConnection(peer)])
    }

    /// Has the older method alone.
    final class Older: NSObject, CBCentralManagerDelegate {
        var calls: [String] = []
        var reconnects = false
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral item: CBPeripheral,
            error: (any Error)?
        ) {
            calls.append("older \(brief(error)) \(item.state.rawValue)")
            if reconnects { central.connect(item) }
        }
    }

    /// Has both methods.
    final class Both: NSObject, CBCentralManagerDelegate {
        var calls: [String] = []
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral item: CBPeripheral,
            error: (any Error)?
        ) {
            calls.append("older \(brief(error))")
        }
        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            timestamp: CFAbsoluteTime,
            isReconnecting: Bool,
            error: (any Error)?
        ) { calls.append("newer") }
    }

    @Test("A delegate with both disconnection methods receives only the older one")
    func precedence() async {
        let peripheral = await bench.connect(), delegate = Both()
        bench.manager.delegate = delegate
        await bench.session.tell(.disconnected(peer, .hci(.remoteUserTerminatedConnection), isReconnecting: false))
        #expect(delegate.calls == ["older CBError 7"])
        #expect(peripheral.state == .disconnected)
    }

    @Test("A delegate with the older method is not reconnected automatically", arguments: [false, true])
    func olderMethod(reconnects: Bool) async {
        let peripheral = await bench.connect(), delegate = Older()
        delegate.reconnects = reconnects
        bench.manager.delegate = delegate
        await bench.session.tell(.disconnected(peer, .hci(.connectionTimeout), isReconnecting: true))
        #expect(delegate.calls == ["older CBError 6 0"])
        // What the app asks for itself stands.
        #expect(bench.session.take() == [reconnects ? .connect(peer, ConnectRequest()) : .cancelConnection(peer)])
        #expect(peripheral.state == (reconnects ? .connecting : .disconnected))
        await bench.session.tell(.disconnected(peer, nil, isReconnecting: false))
        #expect(delegate.calls.count == 1)
    }

    @Test("A peripheral that is not retained is not connected, and a log line asks whether that was intended")
    func unretained() async {
        let lines = bench.lines
        do {
            let peripheral = await bench.discover(name: "A")
            bench.manager.connect(peripheral)
            bench.app.forget()
        }
        #expect(bench.session.take() == [.connect(peer, ConnectRequest()), .cancelConnection(peer)])
        let line = lines.take()
        #expect(line.count == 1)
        #expect(line[0].contains("Cancelling connection for unused peripheral <CBPeripheral: 0x"))
        #expect(line[0].contains("name = A, state = connecting>, Did you forget to keep a reference to it?"))
        await bench.session.tell(.disconnected(peer, nil, isReconnecting: false))
        #expect(bench.app.take().isEmpty)
    }

    @Test("A peripheral of another manager is rejected")
    func foreign() async {
        let peripheral = await CentralBench().discover()
        await bench.powerOn()
        bench.manager.connect(peripheral)
        bench.manager.cancelPeripheralConnection(peripheral)
        #expect(bench.session.take().isEmpty)
        #expect(bench.lines.take().count == 2)
    }

    @Test("No callbacks about a peripheral come after its disconnection")
    func silence() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        await bench.session.tell(.disconnected(peer, .hci(.connectionTimeout), isReconnecting: false))
        _ = bench.app.take()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        await bench.tell(.nameChanged("B"))
        await bench.tell(.servicesModified(.all))
        #expect(bench.app.take().isEmpty)
        #expect(peripheral.services == nil)
        peripheral.readRSSI()
        #expect(bench.session.take().isEmpty)
        #expect(
            bench.lines.take() == [
                "API MISUSE: <CBPeripheral: \(peripheral.address), identifier = \(peripheral.identifier), "
                    + "name = (null), state = disconnected> can only accept commands while in the connected state"
            ]
        )
    }
}
