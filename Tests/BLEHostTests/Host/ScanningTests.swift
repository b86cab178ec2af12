import BLEHost
import BLEWire
import Testing

@Suite("Scanning")
struct ScanningTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let other = DeviceAddress(0xC0FF_EE00_0002, .random)
    let heartRate = BluetoothUUID.short(0x180D)

    func name(_ text: String) -> [UInt8] { [UInt8(text.utf8.count + 1), 0x09] + Array(text.utf8) }
    func services16(_ uuid: UInt16) -> [UInt8] { [3, 0x03] + uuid.littleEndianOctets }

    @Test("The controller scans only while a client wants it", arguments: [FakeController.old, .new])
    func onAndOff(controller: FakeController) {
        let rig = Rig.ready(controller)
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.pump()
        rig.forget()
        rig.perform(.scan(ScanRequest()))
        #expect(rig.commands.count == 2)
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)), for: Rig.otherCentral)
        rig.forget()
        rig.perform(.stopScan, for: Rig.otherCentral)
        rig.forget()
        rig.perform(.stopScan)
        let disable: HCICommandPacket =
            controller.features.contains(.extendedAdvertising)
            ? .leSetExtendedScanEnable(.init(enable: false)) : .leSetScanEnable(.init(enable: false))
        #expect(rig.commands == [disable])
    }

    @Test(
        "The controller scans less while all scanning apps are in the background",
        arguments: [FakeController.old, .new]
    )
    func background(controller: FakeController) throws {
        let rig = Rig.ready(controller)
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.pump()
        func intervals(_ change: () -> Void) -> [Duration] {
            rig.forget()
            change()
            return rig.commands.compactMap { command in
                switch command {
                case .leSetScanParameters(let parameters): parameters.interval.duration
                case .leSetExtendedScanParameters(let parameters): parameters.le1M?.interval.duration
                default: nil
                }
            }
        }
        let request = ScanRequest(services: [heartRate])
        #expect(intervals { rig.perform(.scan(request)) } == [.milliseconds(40)])
        #expect(intervals { rig.perform(.appPhaseChanged(to: .background)) } == [.milliseconds(300)])
        #expect(intervals { rig.perform(.scan(request), for: Rig.otherCentral) } == [.milliseconds(40)])
        #expect(intervals { rig.perform(.stopScan, for: Rig.otherCentral) } == [.milliseconds(300)])
        #expect(intervals { rig.perform(.appPhaseChanged(to: .foreground)) } == [.milliseconds(40)])
    }

    @Test("A numbered scan is confirmed before its first result")
    func numbered() {
        let rig = Rig.ready()
        rig.forget()
        rig.perform(.scan(ScanRequest()))
        #expect(rig.events(of: Rig.central).isEmpty)
        rig.perform(.scan(ScanRequest(allowsDuplicates: true), number: 7))
        rig.hear(.nonConnectable, from: address, services16(0x180D))
        rig.perform(.scan(ScanRequest(), number: 8))
        rig.hear(.nonConnectable, from: address, services16(0x180D))
        let steps = rig.events(of: Rig.central).map { event in
            switch event {
            case .scanBegan(let number): "scan \(number)"
            case .discovered: "found"
            default: "other"
            }
        }
        #expect(steps == ["scan 7", "found", "scan 8", "found"])
    }

    @Test("An advertisement waits for its scan response, and both are reported as one")
    func merged() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest()))
        rig.hear(.connectable, from: address, services16(0x180D), rssi: -70)
        #expect(rig.discoveries().isEmpty)
        rig.hear(.scanResponse, from: address, name("Nora"), rssi: -60)
        #expect(rig.discoveries().map(\.octets.all) == [services16(0x180D) + name("Nora")])
        #expect(rig.discoveries().map(\.name) == ["Nora"])
        #expect(rig.discoveries().map(\.isConnectable) == [true])
        #expect(rig.discoveries().map(\.rssi) == [RSSI(dBm: -60)])
        rig.advance(by: .seconds(1))
        #expect(rig.discoveries().count == 1)
    }

    @Test("Without a scan response the advertisement is reported after a few milliseconds")
    func alone() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest()))
        rig.hear(.scannable, from: address, services16(0x180D))
        rig.advance(by: .milliseconds(9))
        #expect(rig.discoveries().isEmpty)
        rig.advance(by: .milliseconds(1))
        #expect(rig.discoveries().map(\.octets.all) == [services16(0x180D)])
        #expect(rig.discoveries().map(\.isConnectable) == [false])
    }

    @Test("A late scan response is also reported if it adds data")
    func late() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest()))
        rig.hear(.connectable, from: address)
        rig.advance(by: .milliseconds(100))
        rig.hear(.scanResponse, from: address, name("Nora"))
        rig.hear(.scanResponse, from: address, name("Nora"))
        #expect(rig.discoveries().map(\.octets.all) == [[], name("Nora")])
    }

    @Test("Each peer is reported once per scan, unless the client wants duplicates")
    func duplicates() {
        let rig = Rig.ready()
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.perform(.scan(ScanRequest()))
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)), for: Rig.otherCentral)
        for _ in 0..<5 { rig.hear(.nonConnectable, from: address) }
        rig.hear(.nonConnectable, from: other)
        #expect(rig.discoveries().map(\.address) == [address, other])
        #expect(rig.discoveries(of: Rig.otherCentral).count == 6)
        rig.perform(.scan(ScanRequest()))
        rig.hear(.nonConnectable, from: address)
        #expect(rig.discoveries().count == 3)
    }

    @Test("With duplicates, a scannable advertisement is reported each time, with its response or without")
    func scannableDuplicates() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest(allowsDuplicates: true)))
        for _ in 0..<3 {
            rig.hear(.connectable, from: address, services16(0x180D))
            rig.hear(.scanResponse, from: address, name("Nora"))
            rig.hear(.connectable, from: address, services16(0x180D))
            rig.hear(.connectable, from: address, services16(0x180D))
        }
        rig.advance(by: .seconds(1))
        #expect(rig.discoveries().count == 9)
    }

    static let filters: [(data: [UInt8], matches: Bool)] = [
        ([3, 0x02, 0x0D, 0x18], true),
        ([3, 0x03, 0x0D, 0x18], true),
        ([5, 0x04, 0x0D, 0x18, 0, 0], true),
        ([17, 0x07] + BluetoothUUID.short(0x180D).expanded.littleEndianOctets, true),
        ([3, 0x14, 0x0D, 0x18], false),
        ([3, 0x16, 0x0D, 0x18], false),
        ([3, 0x03, 0x0F, 0x18], false),
        ([], false),
        ([0x1F], false),
    ]

    @Test("A filter passes advertisers of a service in any UUID form", arguments: filters)
    func filter(data: [UInt8], matches: Bool) {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest(services: [heartRate])))
        rig.hear(.nonConnectable, from: address, data)
        #expect(rig.discoveries().count == (matches ? 1 : 0))
    }

    @Test("A filter for a service that is only in the scan response waits for it")
    func filterOnResponse() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest(services: [heartRate])))
        rig.hear(.connectable, from: address)
        rig.advance(by: .milliseconds(50))
        #expect(rig.discoveries().isEmpty)
        rig.hear(.scanResponse, from: address, services16(0x180D))
        #expect(rig.discoveries().count == 1)
    }

    @Test("Solicited services match if the scan asks for them")
    func solicited() {
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest(services: [.short(0x1111)], solicitedServices: [heartRate])))
        rig.hear(.nonConnectable, from: address, [3, 0x14, 0x0D, 0x18])
        #expect(rig.discoveries().count == 1)
    }

    @Test("A fragmented advertisement is reassembled")
    func parts() {
        let rig = Rig.ready(.new)
        rig.perform(.scan(ScanRequest()))
        func report(_ data: [UInt8], _ status: HCI.LEExtendedAdvertisingReport.DataStatus) {
            let report = HCI.LEExtendedAdvertisingReport.Report(
                type: .init([.connectable], data: status),
                address: address,
                rssi: RSSI(dBm: -40),
                data: data
            )
            rig.inject(.leExtendedAdvertisingReport(.init(reports: [report])))
        }
        report([1, 2, 3], .incomplete)
        report([4, 5], .incomplete)
        #expect(rig.discoveries().isEmpty)
        report([6], .complete)
        #expect(rig.discoveries().map(\.octets.all) == [[1, 2, 3, 4, 5, 6]])
    }

    @Test("Incomplete fragments are stored only up to the limit")
    func crowded() {
        let rig = Rig.ready(.new)
        rig.perform(.scan(ScanRequest()))
        for value in UInt64(0)..<100 {
            let report = HCI.LEExtendedAdvertisingReport.Report(
                type: .init([], data: .incomplete),
                address: DeviceAddress(value, .random),
                rssi: .unavailable,
                data: [0]
            )
            rig.inject(.leExtendedAdvertisingReport(.init(reports: [report])))
        }
        #expect(rig.notes.count == 100 - Limits().partialReports)
    }

    @Test("A refused scan is tried again")
    func refused() {
        let rig = Rig.ready()
        rig.controller.refused = [HCI.Opcode.leSetScanEnable.wire: .commandDisallowed]
        rig.perform(.scan(ScanRequest()))
        rig.controller.refused = [:]
        rig.forget()
        rig.advance(by: .seconds(1))
        #expect(rig.commands.map(\.opcode) == [.leSetScanParameters, .leSetScanEnable])
    }

    @Test("Identifiers are the same in every run of one host, and differ between hosts")
    func identifiers() {
        func identifier(secret: UInt128) -> PeerIdentifier {
            let rig = Rig.ready(configuration: .init(identifierSecret: secret))
            return rig.discover(address)
        }
        #expect(identifier(secret: 1) == identifier(secret: 1))
        #expect(identifier(secret: 1) != identifier(secret: 2))
    }

    @Test("Services in the overflow area are found by scans for them")
    func overflow() {
        let hidden = BluetoothUUID.full(0x1234_5678_9ABC_DEF0_1234_5678_9ABC_DEF0)
        let area = OverflowArea([hidden]).manufacturerData
        let rig = Rig.ready()
        rig.perform(.scan(ScanRequest(services: [hidden])))
        rig.hear(.nonConnectable, from: address, [UInt8(area.count + 1), 0xFF] + area)
        #expect(rig.discoveries().count == 1)
        rig.perform(.scan(ScanRequest(services: [heartRate])))
        rig.hear(.nonConnectable, from: address, [UInt8(area.count + 1), 0xFF] + area)
        #expect(rig.discoveries().count == 1)
    }
}
