import BLEWire
import Testing

@testable import BLEHost

@Suite("Advertising")
struct AdvertisingTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let otherPeripheral = ClientID(rawValue: 4)
    static let flags: [UInt8] = [2, 0x01, 0x06]

    func start(_ request: AdvertisingRequest = .init(localName: "Nora")) -> ClientRequest {
        .server(.startAdvertising(request))
    }

    func answers(_ rig: Rig, _ client: ClientID = Rig.peripheral) -> [ClientEvent] {
        rig.events(of: client).filter { if case .server(.advertisingStarted) = $0 { true } else { false } }
    }

    static func shorts(_ count: UInt16) -> [BluetoothUUID] { (0..<count).map { .short(0x1800 + $0) } }

    static func long(_ number: UInt8) -> BluetoothUUID {
        .full(UInt128(number) << 120 | 0x1122_3344_5566_7788_99AA_BBCC_DDEE)
    }

    @Test("Advertising starts with its data already set", arguments: [FakeController.old, .new])
    func start(controller: FakeController) {
        let rig = Rig.ready(controller)
        rig.forget()
        rig.perform(start(), for: Rig.peripheral)
        let isNew = controller.features.contains(.extendedAdvertising)
        let expected: [HCI.Opcode] =
            isNew
            ? [
                .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
                .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
            ]
            : [
                .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
            ]
        #expect(rig.commands.map(\.opcode) == expected)
        #expect(answers(rig) == [.server(.advertisingStarted(nil))])
        rig.forget()
        rig.perform(.server(.stopAdvertising), for: Rig.peripheral)
        #expect(rig.commands.map(\.opcode) == [expected[3]])
    }

    @Test(
        "Advertising works even if a central connects before the controller confirms that it started",
        arguments: [FakeController.old, .new],
        [HCI.Status.success, .commandDisallowed]
    )
    func overtaken(controller: FakeController, status: HCI.Status) {
        let isNew = controller.features.contains(.extendedAdvertising)
        let enable = isNew ? HCI.Opcode.leSetExtendedAdvertisingEnable : .leSetAdvertisingEnable
        let rig = Rig.ready(controller)
        rig.controller.silent = [enable.wire]
        rig.perform(start(), for: Rig.peripheral)
        rig.connect(address, role: .peripheral)
        #expect(answers(rig) == [.server(.advertisingStarted(nil))])
        rig.forget()
        rig.controller.silent = []
        rig.inject(.commandComplete(.init(allowed: 1, opcode: enable, parameters: [status.wire])))
        #expect(rig.commands.last?.isEnabling == true)
        for handle in UInt16(0x41)..<0x44 {
            rig.forget()
            rig.connect(DeviceAddress(UInt64(handle), .random), handle, role: .peripheral)
            #expect(rig.commands.last?.isEnabling == true)
        }
        #expect(answers(rig).isEmpty)
    }

    @Test("An advertising set with a random address is given that address")
    func setAddress() {
        var controller = FakeController.new
        controller.address = .none
        let rig = Rig.ready(controller)
        rig.perform(start(), for: Rig.peripheral)
        #expect(rig.commands.contains { $0.opcode == .leSetAdvertisingSetRandomAddress })
    }

    static let contents: [(AdvertisingRequest, advertisement: [UInt8], response: [UInt8])] = [
        (.init(), [], []),
        (.init(localName: "Nora"), [5, 0x09] + Array("Nora".utf8), []),
        (.init(services: [.short(0x180D)]), [3, 0x03, 0x0D, 0x18], []),
        (
            .init(localName: "Nora", services: [long(1)]),
            [17, 0x07] + long(1).octets + [5, 0x09] + Array("Nora".utf8), []
        ),
        (
            .init(localName: "Nora Nora", services: [long(1)]),
            [17, 0x07] + long(1).octets, [10, 0x09] + Array("Nora Nora".utf8)
        ),
        (
            .init(localName: "Nora Nora Nora", services: [long(1)]),
            [17, 0x07] + long(1).octets, [11, 0x08] + Array("Nora Nora ".utf8)
        ),
        (
            .init(localName: "12345678901234567890123456"),
            [27, 0x09] + Array("12345678901234567890123456".utf8), []
        ),
        (
            .init(localName: "1234567890123456789012345678"), [],
            [29, 0x09] + Array("1234567890123456789012345678".utf8)
        ),
        (
            .init(localName: "12345678901234567890123456789"), [],
            [11, 0x08] + Array("1234567890".utf8)
        ),
        (
            .init(localName: "éééééé", services: [long(1)]),
            [17, 0x07] + long(1).octets, [13, 0x09] + Array("éééééé".utf8)
        ),
        (
            .init(localName: "ééééééé", services: [long(1)]),
            [17, 0x07] + long(1).octets, [11, 0x08] + Array("ééééé".utf8)
        ),
        (
            .init(localName: "1234567890", services: shorts(14)),
            [27, 0x02] + shorts(13).flatMap(\.octets), [3, 0x02, 13, 0x18, 11, 0x09] + Array("1234567890".utf8)
        ),
        (
            .init(services: shorts(15)),
            [27, 0x02] + shorts(13).flatMap(\.octets),
            [3, 0x02, 13, 0x18, 20, 0xFF] + OverflowArea([.short(0x180E)]).manufacturerData
        ),
        (
            .init(services: [long(1), long(2)]),
            [17, 0x06] + long(1).octets, [20, 0xFF] + OverflowArea([long(2)]).manufacturerData
        ),
    ]

    @Test("Services and the name are placed in the right fields", arguments: contents)
    func content(request: AdvertisingRequest, advertisement: [UInt8], response: [UInt8]) {
        let content = AdvertisementContent(request)
        #expect(content.advertisement == Self.flags + advertisement)
        #expect(content.scanResponse == response)
    }

    @Test("Each part fits into a legacy packet, whatever is requested", arguments: UInt64(0)..<16)
    func size(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let services: [BluetoothUUID] = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? .short(.random(in: .min ... .max, using: &random))
                    : .full(UInt128(UInt64.random(in: .min ... .max, using: &random)) << 64)
            }
            let name = String(repeating: "ü", count: .random(in: 0...30, using: &random))
            let hidden = services.shuffled(using: &random).prefix(.random(in: 0...3, using: &random))
            let content = AdvertisementContent(.init(localName: name, services: services), hiding: Array(hidden))
            #expect(content.advertisement.count <= 31)
            #expect(content.scanResponse.count <= 31)
            let data = AdvertisingData(decoding: content.advertisement + content.scanResponse)
            let area = OverflowArea(in: data)
            #expect(services.allSatisfy { data.serviceUUIDs.contains($0) || area?.contains($0) == true })
            #expect((data.localName?.utf8.count ?? 0) >= min(name.utf8.count, AdvertisementBudget.nameLimit))
        }
    }

    @Test("Services and a name within the budget are all advertised, in any form", arguments: UInt64(0)..<16)
    func budget(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var services: [BluetoothUUID] = [], left = AdvertisementBudget.octets
            while left > 1, Int.random(in: 0..<8, using: &random) > 0 {
                let number = UInt16(services.count)
                let service: BluetoothUUID =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: .short(number)
                    case 1: .medium(UInt32(number) << 16)
                    default: .full(UInt128(number) << 112)
                    }
                guard service.octets.count <= left else { continue }
                left -= service.octets.count
                services.append(service)
            }
            let name = String("1234567890123456789012345678".prefix(max(left, AdvertisementBudget.nameLimit)))
            let content = AdvertisementContent(.init(localName: name, services: services))
            let data = AdvertisingData(decoding: content.advertisement + content.scanResponse)
            #expect(Set(data.serviceUUIDs) == Set(services))
            #expect(data.localName == name)
        }
    }

    @Test("A connection ends the advertisement, which restarts immediately", arguments: [FakeController.old, .new])
    func rearm(controller: FakeController) {
        let rig = Rig.ready(controller)
        rig.perform(start(), for: Rig.peripheral)
        let enable = rig.commands.last
        rig.forget()
        rig.connect(address, role: .peripheral)
        #expect(rig.commands.last == enable)
        #expect(answers(rig).isEmpty)
    }

    @Test("There is no advertisement while no further connection is possible")
    func full() {
        var configuration = Host.Configuration(identifierSecret: 1)
        configuration.limits.links = 1
        let rig = Rig.ready(configuration: configuration)
        rig.perform(start(), for: Rig.peripheral)
        rig.forget()
        rig.connect(address, role: .peripheral)
        rig.advance(by: .seconds(10))
        #expect(!rig.commands.contains { $0.opcode == .leSetAdvertisingEnable })
        rig.disconnect()
        #expect(rig.commands.last?.opcode == .leSetAdvertisingEnable)
    }

    @Test("Clients share the advertisement, and it lasts until the last one stops")
    func shared() {
        let rig = Rig.ready()
        rig.host.open(otherPeripheral, role: .peripheral, at: rig.now)
        rig.perform(start(.init(localName: "Nora", services: [.short(0x180D)])), for: Rig.peripheral)
        rig.perform(start(.init(localName: "Emil", services: [.short(0x180F)])), for: otherPeripheral)
        #expect(answers(rig, otherPeripheral) == [.server(.advertisingStarted(nil))])
        let data = rig.commands.compactMap { if case .leSetAdvertisingData(let set) = $0 { set.data } else { nil } }
        #expect(data.last == Self.flags + [5, 0x03, 0x0D, 0x18, 0x0F, 0x18] + [5, 0x09] + Array("Nora".utf8))
        rig.perform(.server(.stopAdvertising), for: Rig.peripheral)
        rig.forget()
        rig.host.close(otherPeripheral, at: rig.now)
        rig.pump()
        #expect(rig.commands == [.leSetAdvertisingEnable(.init(enable: false))])
    }

    @Test("A client that adds nothing to the advertisement is told immediately that advertising has started")
    func nothingNew() {
        let rig = Rig.ready()
        rig.host.open(otherPeripheral, role: .peripheral, at: rig.now)
        rig.perform(start(), for: Rig.peripheral)
        rig.perform(start(.init(localName: "Emil")), for: otherPeripheral)
        #expect(answers(rig, otherPeripheral) == [.server(.advertisingStarted(nil))])
    }

    @Test("Starting twice reports that advertising is already in progress")
    func twice() {
        let rig = Rig.ready()
        rig.perform(start(), for: Rig.peripheral)
        rig.perform(start(), for: Rig.peripheral)
        #expect(answers(rig) == [.server(.advertisingStarted(nil)), .server(.advertisingStarted(.alreadyInProgress))])
    }

    @Test("An invalid request is refused")
    func invalid() {
        let rig = Rig.ready()
        rig.perform(start(.init(localName: String(repeating: "x", count: 249))), for: Rig.peripheral)
        #expect(answers(rig) == [.server(.advertisingStarted(.invalidParameters))])
    }

    @Test("A refusal of any of the commands is reported to the client", arguments: 0..<4)
    func refused(step: Int) {
        let commands: [HCI.Opcode] = [
            .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
        ]
        let rig = Rig.ready()
        rig.controller.refused = [commands[step].wire: .commandDisallowed]
        rig.perform(start(), for: Rig.peripheral)
        #expect(answers(rig) == [.server(.advertisingStarted(.hci(.commandDisallowed)))])
        rig.forget()
        rig.advance(by: .seconds(10))
        #expect(rig.commands.isEmpty)
    }

    @Test("Stopping before advertising has begun is answered once")
    func stopEarly() {
        let rig = Rig.ready()
        rig.controller.silent = [HCI.Opcode.leSetAdvertisingData.wire]
        rig.perform(start(), for: Rig.peripheral)
        rig.perform(.server(.stopAdvertising), for: Rig.peripheral)
        rig.advance(by: .seconds(1))
        #expect(answers(rig) == [.server(.advertisingStarted(.cancelled))])
    }
}

extension HCICommandPacket {
    /// Whether it has the controller advertise.
    fileprivate var isEnabling: Bool {
        switch self {
        case .leSetAdvertisingEnable(let command): command.enable
        case .leSetExtendedAdvertisingEnable(let command): command.enable
        default: false
        }
    }
}
