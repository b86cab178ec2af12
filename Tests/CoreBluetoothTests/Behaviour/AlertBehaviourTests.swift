import BLESimulation
import CoreBluetooth
import Testing

@Suite("Alerts for suspended apps")
struct AlertBehaviourTests {
    let bench = WorldBench()

    private static let keys = [
        CBConnectPeripheralOptionNotifyOnConnectionKey, CBConnectPeripheralOptionNotifyOnDisconnectionKey,
        CBConnectPeripheralOptionNotifyOnNotificationKey,
    ]

    private var options: [String: Any] { Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, true) }) }

    /// A connected app that is subscribed, and went to sleep.
    private func sleepingApp(_ options: [String: Any]) async throws -> CBMutableCharacteristic {
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "FFF1"),
            properties: [.notify],
            value: nil,
            permissions: [.readable]
        )
        let peripheral = try #require(await bench.connect(characteristic, options: options))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait()
        bench.phone.sendAppsToBackground(declaring: [])
        await bench.wait()
        return characteristic
    }

    @Test(
        "Each option alerts the user of its event, once, and only while the app is suspended",
        .behaviour("4.10.7"),
        arguments: [
            (CBConnectPeripheralOptionNotifyOnNotificationKey, Machine.Alert.Occasion.notification),
            (CBConnectPeripheralOptionNotifyOnDisconnectionKey, .disconnection),
        ]
    )
    func occasions(key: String, occasion: Machine.Alert.Occasion) async throws {
        let characteristic = try await sleepingApp([key: true])
        #expect(bench.phone.alerts.isEmpty)
        bench.server.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil)
        await bench.wait()
        bench.sensor.switchBluetoothOff()
        await bench.wait(30)
        let alerts = bench.phone.alerts
        #expect(alerts.map(\.occasion) == [occasion])
        #expect(alerts.first?.app == "App")
        #expect(alerts.first?.text.contains("“sensor”") == true)
        bench.phone.bringAppsToForeground()
        await bench.wait()
        #expect(bench.phone.alerts == alerts)
    }

    @Test("The alert of a pending connection names the app and the device", .behaviour("4.10.7"))
    func connection() async throws {
        let app = CentralApp()
        let central = bench.phone.app("Fitness").inhabit {
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "fitness"))
        }
        await bench.wait()
        bench.server.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Scale",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFF0")],
        ])
        await bench.wait()
        central.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        bench.sensor.switchBluetoothOff()
        central.connect(try #require(app.peripherals.first), options: options)
        await bench.wait()
        bench.phone.sendAppsToBackground(declaring: [])
        bench.sensor.switchBluetoothOn()
        await bench.wait(10)
        let alerts = bench.phone.alerts
        #expect(alerts.map(\.occasion) == [.connection])
        #expect(alerts.map(\.text) == ["Fitness is connected to “Scale”."])
        #expect(!app.take().contains("connected 2"))
        bench.phone.bringAppsToForeground()
        await bench.wait()
        #expect(app.take().contains("connected 2"))
    }

    @Test("No alert is shown for an app in the foreground, or one that did not ask", .behaviour("4.10.7"))
    func nobody() async throws {
        _ = try await sleepingApp([:])
        bench.sensor.switchBluetoothOff()
        await bench.wait(30)
        #expect(bench.phone.alerts.isEmpty)
        let awake = WorldBench(seed: 2)
        _ = await awake.connect(options: options)
        awake.sensor.switchBluetoothOff()
        await awake.wait(30)
        #expect(awake.phone.alerts.isEmpty)
    }

    @Test("A value of the wrong type is reported", .behaviour("4.10.7"), arguments: keys)
    func wrongType(key: String) async throws {
        _ = await bench.connect(options: [key: "yes"])
        #expect(
            bench.lines.take() == ["API MISUSE: The value of the option \(key) is of the wrong type and is ignored"]
        )
    }
}
