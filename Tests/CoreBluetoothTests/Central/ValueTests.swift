import BLEHost
import BLERuntime
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Values of a peripheral")
struct ValueTests {
    let bench = CentralBench()
    let handle = AttributeHandle(wire: 12)

    /// The requests to the one peripheral since the last call.
    private func requests() -> [PeerRequest] {
        bench.session.take().compactMap {
            if case .peer(CentralBench.peer, let request, _) = $0 { request } else { nil }
        }
    }

    @Test("A read value is kept until the next one arrives")
    func reading() async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        peripheral.readValue(for: characteristic)
        #expect(requests() == [.read(handle)])
        await bench.tell(.valueRead(handle, .success([1, 2])))
        await bench.tell(.valueRead(handle, .failure(.att(.insufficientAuthentication))))
        await bench.tell(.valueNotified(handle, [3]))
        #expect(
            bench.app.take() == ["value 2A37 [1, 2] ok", "value 2A37 [1, 2] CBATTError 5", "value 2A37 [3] ok"]
        )
        #expect(characteristic.value == Data([3]))
    }

    @Test("An operation that a characteristic does not support fails through the delegate, without traffic")
    func missingProperties() async {
        let (peripheral, characteristic) = await bench.characteristic([])
        peripheral.readValue(for: characteristic)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        peripheral.setNotifyValue(true, for: characteristic)
        await bench.session.settle()
        #expect(
            bench.app.take() == [
                "value 2A37 [] CBATTError 2", "written 2A37 CBATTError 3", "notifying false CBATTError 6",
            ]
        )
        peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        await bench.session.settle()
        #expect(bench.app.take().isEmpty)
        #expect(bench.lines.take().count == 1)
        #expect(requests().isEmpty)
    }

    @Test("A write sends the value at the time of the call, and does not change the read value")
    func writing() async {
        let (peripheral, characteristic) = await bench.characteristic(.write)
        var data = Data([1, 2])
        peripheral.writeValue(data, for: characteristic, type: .withResponse)
        data[0] = 9
        peripheral.writeValue(Data(repeating: 0, count: 512), for: characteristic, type: .withResponse)
        peripheral.writeValue(data.dropFirst(), for: characteristic, type: .withResponse)
        #expect(
            requests() == [
                .write(handle, [1, 2]), .write(handle, Array(repeating: 0, count: 512)), .write(handle, [2]),
            ]
        )
        await bench.tell(.valueWritten(handle, nil))
        await bench.tell(.valueWritten(handle, .att(.init(wire: 0x80))))
        #expect(bench.app.take() == ["written 2A37 ok", "written 2A37 CBATTError 128"])
        #expect(characteristic.value == nil)
        peripheral.writeValue(Data(repeating: 0, count: 513), for: characteristic, type: .withResponse)
        await bench.session.settle()
        #expect(bench.app.take().isEmpty)
        await bench.tell(.valueWritten(handle, nil))
        #expect(bench.app.take() == ["written 2A37 ok", "written 2A37 CBATTError 13"])
    }

    @Test("Any number of requests is carried out in order, with a limited number pending")
    func manyRequests() async {
        let (peripheral, characteristic) = await bench.characteristic([.read, .write, .writeWithoutResponse])
        for number in 0..<100 {
            peripheral.writeValue(Data([UInt8(number)]), for: characteristic, type: .withResponse)
        }
        peripheral.writeValue(Data([100]), for: characteristic, type: .withoutResponse)
        peripheral.readValue(for: characteristic)
        var sent = requests()
        #expect(sent.count == PeripheralRequests.limit)
        for _ in 0..<100 {
            await bench.tell(.valueWritten(handle, nil))
            sent += requests()
        }
        let writes = (0..<100).map { PeerRequest.write(handle, [UInt8($0)]) }
        #expect(sent == writes + [.writeCommand(handle, [100]), .read(handle)])
        #expect(bench.app.take() == Array(repeating: "written 2A37 ok", count: 100))
    }

    @Test("Unanswered requests are answered before the disconnection is reported")
    func waitingRequests() async {
        let (peripheral, characteristic) = await bench.characteristic([.read])
        for _ in 0..<(PeripheralRequests.limit + 2) { peripheral.readValue(for: characteristic) }
        await bench.tell(.valueRead(handle, .failure(.notConnected)))
        await bench.session.tell(.disconnected(CentralBench.peer, .hci(.connectionTimeout), isReconnecting: false))
        let failures = Array(repeating: "value 2A37 [] CBError 3", count: PeripheralRequests.limit + 2)
        #expect(bench.app.take() == failures + ["disconnected CBError 6 0"])
        bench.manager.connect(peripheral)
        await bench.session.tell(.connected(CentralBench.peer, LinkParameters(mtu: 23)))
        _ = requests()
        peripheral.readRSSI()
        #expect(requests() == [.readRSSI])
    }

    @Test(
        "Requests that need no response from the device are answered before the disconnection is reported",
        arguments: [true, false]
    )
    func endingAtOnce(isRadioLost: Bool) async {
        let (peripheral, characteristic) = await bench.characteristic([])
        let stranger = CBMutableCharacteristic(type: characteristic.uuid, properties: [], value: nil, permissions: [])
        let ask = {
            peripheral.readValue(for: characteristic)
            peripheral.setNotifyValue(true, for: characteristic)
            peripheral.discoverDescriptors(for: stranger)
        }
        bench.app.reactions = [("rssi", ask)]
        let failure = Failure.hci(.connectionTimeout)
        let end: ClientEvent =
            isRadioLost
            ? .stateChanged(.poweredOff) : .disconnected(CentralBench.peer, failure, isReconnecting: false)
        await bench.session.tell(.peer(CentralBench.peer, .rssiRead(.success(RSSI(dBm: -40)))), end)
        let answers = ["value 2A37 [] CBATTError 2", "notifying false CBATTError 6", "descriptors 2A37 CBError 2"]
        let last = isRadioLost ? "state 4" : "disconnected CBError 6 0"
        #expect(bench.app.take() == ["rssi -40 ok"] + answers + [last])
        await bench.session.settle()
        #expect(bench.app.take().isEmpty)
    }

    @Test(
        "The maximum write length follows the MTU, and fills the packets of the radio",
        arguments: [(23, 20), (185, 182), (247, 244), (250, 244), (517, 495)]
    )
    func lengths(mtu: Int, expected: Int) async {
        let peripheral = await bench.connect(mtu: mtu)
        #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == expected)
        await bench.tell(.mtuChanged(100))
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 97)
    }

    @Test(
        "The maximum write length follows the packets of the link layer",
        arguments: [(27, 495), (100, 493), (123, 485), (251, 495)]
    )
    func lengthsOfPackets(octets: Int, expected: Int) async {
        let peripheral = await bench.connect(mtu: 517)
        var details = LinkDetails(address: DeviceAddress(0xC000_0000_0001, .random))
        details.transmitOctets = octets
        await bench.tell(.linkChanged(details))
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == expected)
    }

    @Test("A value longer than the fastest one is written without response if it fits a packet", arguments: [512, 513])
    func longerThanFastest(octets: Int) async {
        let (peripheral, characteristic) = await bench.characteristic(.writeWithoutResponse, mtu: 517)
        peripheral.writeValue(Data(repeating: 0, count: octets), for: characteristic, type: .withoutResponse)
        #expect(requests().count == (octets == 512 ? 1 : 0))
        #expect(bench.lines.take().count == (octets == 512 ? 0 : 1))
    }

    @Test("A write without response that is too long is dropped with a log line")
    func tooLong() async {
        let (peripheral, characteristic) = await bench.characteristic(.writeWithoutResponse, mtu: 23)
        peripheral.writeValue(Data(repeating: 0, count: 21), for: characteristic, type: .withoutResponse)
        #expect(requests().isEmpty)
        #expect(bench.lines.take().count == 1)
        peripheral.writeValue(Data(repeating: 0, count: 20), for: characteristic, type: .withoutResponse)
        #expect(requests().count == 1)
    }

    @Test("Writes without response wait for free space, and the app is told once")
    func window() async {
        let (peripheral, characteristic) = await bench.characteristic(.writeWithoutResponse)
        var sent = 0
        while peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(Data([UInt8(sent)]), for: characteristic, type: .withoutResponse)
            sent += 1
        }
        #expect(sent == SendWindow.size)
        #expect(requests() == (0..<UInt8(sent)).map { .writeCommand(handle, [$0]) })
        await bench.tell(.writeCommandsTaken(1))
        #expect(bench.app.take().isEmpty)
        await bench.tell(.writeCommandsTaken(sent - 2))
        #expect(bench.app.take() == ["ready"])
        #expect(peripheral.canSendWriteWithoutResponse)
        await bench.tell(.writeCommandsTaken(1))
        #expect(bench.app.take().isEmpty)
    }

    @Test("Free space is not reported during a cancellation")
    func roomAfterCancelling() async {
        let (peripheral, characteristic) = await bench.characteristic(.writeWithoutResponse)
        for _ in 0..<SendWindow.size {
            peripheral.writeValue(Data(), for: characteristic, type: .withoutResponse)
        }
        bench.manager.cancelPeripheralConnection(peripheral)
        await bench.tell(.writeCommandsTaken(SendWindow.size))
        #expect(bench.app.take().isEmpty)
        #expect(!peripheral.canSendWriteWithoutResponse)
    }

    @Test("Writes without response beyond the window are sent up to a limit, and then dropped with a log line")
    func beyondTheWindow() async {
        let (peripheral, characteristic) = await bench.characteristic(.writeWithoutResponse)
        for _ in 0..<1025 { peripheral.writeValue(Data(), for: characteristic, type: .withoutResponse) }
        #expect(requests().count == 1024)
        #expect(bench.lines.take().count == 1)
        await bench.tell(.writeCommandsTaken(1024))
        #expect(bench.app.take() == ["ready"])
    }

    @Test("There is space for writes without response only while connected")
    func windowWithoutConnection() async {
        let (peripheral, characteristic) = await bench.characteristic(.writeWithoutResponse)
        for _ in 0..<40 { peripheral.writeValue(Data(), for: characteristic, type: .withoutResponse) }
        await bench.session.tell(.disconnected(CentralBench.peer, nil, isReconnecting: false))
        #expect(!peripheral.canSendWriteWithoutResponse)
        bench.manager.connect(peripheral)
        await bench.session.tell(.connected(CentralBench.peer, LinkParameters(mtu: 23)))
        #expect(peripheral.canSendWriteWithoutResponse)
    }

    @Test(
        "Notifications are preferred to indications",
        arguments: [
            (CBCharacteristicProperties.notify, Subscription.notifications), (.indicate, .indications),
            ([.notify, .indicate], .notifications),
        ] as [(CBCharacteristicProperties, Subscription)]
    )
    func subscribing(properties: CBCharacteristicProperties, expected: Subscription) async {
        let (peripheral, characteristic) = await bench.characteristic(properties)
        peripheral.setNotifyValue(true, for: characteristic)
        #expect(requests() == [.subscribe(expected, to: handle, in: .of(13...14))])
        #expect(!characteristic.isNotifying)
        await bench.tell(.subscriptionChanged(handle, expected, nil))
        #expect(bench.app.take() == ["notifying true ok"])
        peripheral.setNotifyValue(false, for: characteristic)
        #expect(requests() == [.subscribe(.none, to: handle, in: .of(13...14))])
        await bench.tell(.subscriptionChanged(handle, .none, nil))
        #expect(bench.app.take() == ["notifying false ok"])
    }

    @Test("An unchanged subscription is confirmed without traffic", arguments: [false, true])
    func sameSubscription(enabled: Bool) async {
        let (peripheral, characteristic) = await bench.characteristic(.notify)
        if enabled { await bench.tell(.subscriptionChanged(handle, .notifications, nil)) }
        _ = bench.app.take()
        peripheral.setNotifyValue(enabled, for: characteristic)
        await bench.session.settle()
        #expect(bench.app.take() == ["notifying \(enabled) ok"])
        #expect(requests().isEmpty)
    }

    @Test("A refused subscription is off")
    func refusedSubscription() async {
        let (peripheral, characteristic) = await bench.characteristic(.notify)
        peripheral.setNotifyValue(true, for: characteristic)
        await bench.tell(.subscriptionChanged(handle, .none, .att(.insufficientEncryption)))
        #expect(bench.app.take() == ["notifying false CBATTError 15"])
    }

    /// What the value of a descriptor should be.
    enum Expected: Equatable, Sendable {
        case number(Int)
        case text(String)
        case data([UInt8])

        init?(_ value: Any?) {
            switch value {
            case let number as NSNumber: self = .number(number.intValue)
            case let text as String: self = .text(text)
            case let data as Data: self = .data([UInt8](data))
            default: return nil
            }
        }
    }

    @Test(
        "The value of a descriptor has Apple's type",
        arguments: [
            (0x2900, [1, 0], .number(1)), (0x2901, [0x68, 0x69], .text("hi")), (0x2902, [2, 0], .number(2)),
            (0x2903, [1], .number(1)), (0x2904, [4, 0], .data([4, 0])), (0x2906, [1], .data([1])),
        ] as [(UInt16, [UInt8], Expected)]
    )
    func descriptorValues(uuid: UInt16, octets: [UInt8], expected: Expected) async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        let item = AttributeHandle(wire: 13)
        await bench.tell(
            .descriptorsDiscovered(of: handle, .success([DiscoveredDescriptor(uuid: .short(uuid), handle: item)]))
        )
        let descriptor = characteristic.descriptors![0]
        peripheral.readValue(for: descriptor)
        #expect(requests() == [.read(item)])
        await bench.tell(.valueRead(item, .success(octets)))
        #expect(bench.app.take().last == "descriptor \(descriptor.uuid.uuidString) ok")
        #expect(Expected(descriptor.value) == expected)
    }

    @Test("Descriptors can be written, except the client configuration", .behaviour("4.8.4"))
    func writingDescriptors() async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        let item = AttributeHandle(wire: 13)
        await bench.tell(
            .descriptorsDiscovered(of: handle, .success([DiscoveredDescriptor(uuid: .short(0x2901), handle: item)]))
        )
        peripheral.writeValue(Data([1]), for: characteristic.descriptors![0])
        #expect(requests() == [.write(item, [1])])
        await bench.tell(.valueWritten(item, .att(.writeNotPermitted)))
        #expect(bench.app.take().last == "written 2901 CBATTError 3")
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let bench = CentralBench()
            let (peripheral, characteristic) = await bench.characteristic(.notify)
            let found = DiscoveredDescriptor(uuid: .short(0x2902), handle: AttributeHandle(wire: 13))
            await bench.tell(.descriptorsDiscovered(of: AttributeHandle(wire: 12), .success([found])))
            peripheral.writeValue(Data([1, 0]), for: characteristic.descriptors![0])
        }
        #expect(complaint(end).contains("must be configured using setNotifyValue:forCharacteristic:"))
    }

    @Test("The RSSI is reported as a number")
    func rssi() async {
        let peripheral = await bench.connect()
        peripheral.readRSSI()
        #expect(requests() == [.readRSSI])
        await bench.tell(.rssiRead(.success(RSSI(dBm: -71))))
        await bench.tell(.rssiRead(.failure(.notConnected)))
        #expect(bench.app.take() == ["rssi -71 ok", "rssi 127 CBError 3"])
    }

    @Test("The GAP name takes precedence, and the app is told when the name changes")
    func names() async {
        let peripheral = await bench.discover(name: "Advertised")
        bench.manager.connect(peripheral)
        await bench.session.tell(.connected(CentralBench.peer, LinkParameters(mtu: 23, name: "Own")))
        #expect(peripheral.name == "Own")
        await bench.tell(.nameChanged("Own"))
        await bench.tell(.nameChanged("New"))
        #expect(bench.app.take() == ["connected 2", "name Own", "name New"])
    }

    @Test("Unavailable features fail as not supported")
    func notSupported() async {
        let peripheral = await bench.connect()
        peripheral.startChannelSoundingSession(CBChannelSoundingSessionConfiguration(role: .initiator))
        peripheral.cancelChannelSoundingSession()
        await bench.session.settle()
        #expect(bench.app.take() == ["sounding CBError 13"])
        #expect(!peripheral.ancsAuthorized)
        let isSupported = Bluetooth.$link.withValue(bench.link) {
            CBCentralManager.supports(.extendedScanAndConnect)
        }
        #expect(!isSupported)
    }

    @Test("Descriptions have the format that apps' logs expect")
    func descriptions() async {
        let (peripheral, characteristic) = await bench.characteristic([.read, .write])
        await bench.tell(.valueRead(handle, .success([0xF0, 0x0F])))
        let name = "<CBPeripheral: \(peripheral.address), identifier = \(peripheral.identifier), name = (null), "
        #expect("\(peripheral)" == name + "state = connected>")
        #expect("\(characteristic)".hasPrefix("<CBCharacteristic: 0x"))
        #expect("\(characteristic)".hasSuffix("properties = 0xA, value = <f00f>, notifying = NO>"))
    }
}
