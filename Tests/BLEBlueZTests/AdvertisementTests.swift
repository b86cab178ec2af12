import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Advertisements of programs")
struct AdvertisementTests {
    /// Registers an advertisement with these properties.
    private func register(_ properties: [(String, BusValue)], _ bus: inout TestBridge) throws -> UInt32 {
        let body: [BusValue] = [.path("/ad"), .properties([])]
        let serial = bus.call(":1.1", TestBridge.adapter, BlueZ.advertisements, "RegisterAdvertisement", body)
        let number = try #require(bus.calls.last { $0.message.member == "GetAll" }?.number)
        bus.reply(number, .values([.properties(properties)], from: ":1.1"))
        return serial
    }

    private static let peripheral = ("Type", BusValue.string("peripheral"))
    private static let broadcast = ("Type", BusValue.string("broadcast"))
    private static let usual: ADFlags = [.generalDiscoverable, .classicNotSupported]

    /// A dictionary of octets.
    private static func dictionary(_ entries: [(BusValue, [UInt8])]) -> BusValue {
        let key = entries.first?.0.type ?? .string
        return .array(of: .entry(key, .variant), entries.map { .entry($0.0, .variant(.octets($0.1))) })
    }

    /// Returns the request of the advertisement that was started last, with its session.
    private func started(_ bus: TestBridge) throws -> (request: AdvertisingRequest, key: TestBridge.Key) {
        guard case .server(.startAdvertising(let request))? = bus.requests.last?.request,
            let key = bus.requests.last?.key
        else { throw Missing() }
        return (request, key)
    }

    private struct Missing: Error {}

    /// Returns the advertisement with these properties.
    private func request(_ properties: [(String, BusValue)]) throws -> AdvertisingRequest {
        var bus = TestBridge()
        _ = try register(properties, &bus)
        return try started(bus).request
    }

    private func broadcast(_ properties: [(String, BusValue)]) throws -> BroadcastRequest {
        try #require(try request(properties).broadcast)
    }

    @Test("An advertisement has what its properties say")
    func contents() throws {
        var bus = TestBridge()
        let serial = try register(
            [
                Self.peripheral, ("LocalName", .string("Zero")), ("ServiceUUIDs", .strings(["180d"])),
                ("ManufacturerData", Self.dictionary([(.uint16(0x4C), [1, 2]), (.uint16(0x59), [3])])),
                ("ServiceData", Self.dictionary([(.string("fcd2"), [4])])),
                ("SolicitUUIDs", .strings(["1812", "0000ffe0-0000-1000-8000-00805f9b34fb"])),
                ("Appearance", .uint16(0x03C1)), ("Data", Self.dictionary([(.byte(0x26), [1, 0])])),
                ("Includes", .strings(["tx-power", "rsi", "wings"])), ("Discoverable", .boolean(true)),
                ("MinInterval", .uint32(250)), ("MaxInterval", .uint32(500)), ("Duration", .uint16(2)),
                ("Instance", .byte(0)),
            ],
            &bus
        )
        let (request, key) = try started(bus)
        #expect(request.localName == "Zero" && request.services == [.short(0x180D)])
        let broadcast = try #require(request.broadcast)
        #expect(broadcast.manufacturerData == [0x4C, 0, 1, 2])
        #expect(broadcast.serviceData == [.init(service: .short(0xFCD2), data: [4])])
        let structures: [AdvertisingData.Structure] = [
            .init(.manufacturerData, [0x59, 0, 3]), .init(.solicitedServiceUUIDs16, [0x12, 0x18, 0xE0, 0xFF]),
            .init(.appearance, [0xC1, 0x03]), .init(ADType(wire: 0x26), [1, 0]),
        ]
        #expect(broadcast.structures == structures)
        #expect(broadcast.isConnectable && !broadcast.isExtended && broadcast.flags == Self.usual)
        #expect(broadcast.interval == .milliseconds(250))
        #expect(broadcast.statedPower == 0 && broadcast.transmitPower == 0)
        #expect(bus.outcome(of: serial) == nil)
        bus.event(.server(.advertisingStarted(nil)), of: key)
        #expect(bus.outcome(of: serial) == .done)
        #expect(bus.property("ActiveInstances", of: BlueZ.advertisements, at: TestBridge.adapter) == .byte(1))
        let instance = try #require(bus.calls.last?.message)
        #expect(instance.member == "Set" && instance.body[1...] == [.string("Instance"), .variant(.byte(1))])
    }

    private static let everyMistakes: [[(String, BusValue)]] = [
        [], [("Type", .string("x"))], [broadcast, ("ServiceUUIDs", .strings(["x"]))],
        [broadcast, ("SolicitUUIDs", .strings(["x"]))], [broadcast, ("Data", dictionary([(.byte(0x01), [6])]))],
        [broadcast, ("Data", dictionary([(.byte(0xFF), [6])]))], [broadcast, ("Data", .byte(1))],
        [broadcast, ("Data", dictionary([(.byte(0x26), [UInt8](repeating: 0, count: 250))]))],
        [broadcast, ("ManufacturerData", dictionary([(.string("4C"), [6])]))],
        [broadcast, ("LocalName", .string("Zero")), ("Includes", .strings(["local-name"]))],
        [broadcast, ("Appearance", .uint16(1)), ("Includes", .strings(["appearance"]))],
        [broadcast, ("Appearance", .uint32(1))], [broadcast, ("Discoverable", .boolean(true))],
        [peripheral, ("Discoverable", .byte(1))],
        [
            peripheral, ("Discoverable", .boolean(true)), ("DiscoverableTimeout", .uint16(9)),
            ("Timeout", .uint16(8)),
        ], [broadcast, ("Timeout", .string("1"))], [broadcast, ("SecondaryChannel", .string("4M"))],
        [broadcast, ("MinInterval", .uint32(19)), ("MaxInterval", .uint32(100))],
        [broadcast, ("MinInterval", .uint32(100)), ("MaxInterval", .uint32(99))],
        [broadcast, ("MinInterval", .uint32(100))], [broadcast, ("MaxInterval", .uint32(10_485_760))],
        [broadcast, ("TxPower", .int16(21))],
    ]

    @Test("An advertisement with invalid properties is refused", arguments: everyMistakes)
    func mistakes(properties: [(String, BusValue)]) throws {
        var bus = TestBridge()
        let serial = try register(properties, &bus)
        #expect(bus.outcome(of: serial) == .failed(.invalidAdvertisement))
        #expect(bus.bridge.advertisements.isEmpty)
    }

    @Test("An advertisement that does not fit into any packet, or that the controller refuses, is not registered")
    func size() throws {
        var bus = TestBridge()
        let data = [UInt8](repeating: 0, count: 252)
        let serial = try register([Self.peripheral, ("ManufacturerData", Self.dictionary([(.uint16(1), data)]))], &bus)
        #expect(bus.outcome(of: serial) == .failed(.refusedAdvertisement))
        let other = try register([Self.peripheral], &bus)
        bus.event(.server(.advertisingStarted(.notSupported)), of: try started(bus).key)
        #expect(bus.outcome(of: other) == .failed(.refusedAdvertisement))
        #expect(bus.bridge.advertisements.isEmpty)
    }

    @Test("Data without room in a legacy advertisement makes it extended, and a long name is shortened")
    func room() throws {
        let data = Self.dictionary([(.uint16(1), [UInt8](repeating: 0, count: 90))])
        #expect(try broadcast([Self.peripheral, ("ManufacturerData", data)]).isExtended)
        let name = String(repeating: "Zero ", count: 60)
        let long = try request([Self.peripheral, ("LocalName", .string(name)), ("ServiceUUIDs", .strings(["180d"]))])
        #expect(long.localName == nil && long.broadcast?.isExtended == false)
        #expect(long.broadcast?.structures == [.init(.shortenedLocalName, Array(name.utf8.prefix(29)))])
    }

    private static let everyFlags: [([(String, BusValue)], isDiscoverable: Bool, ADFlags?)] = [
        ([peripheral], false, nil), ([peripheral], true, usual), ([broadcast], true, nil),
        ([peripheral, ("Discoverable", .boolean(true))], false, usual),
        ([peripheral, ("Discoverable", .boolean(false))], true, .classicNotSupported),
        ([broadcast, ("Discoverable", .boolean(false))], false, nil),
    ]

    @Test("The flags follow from the advertisement and, unless it says more, from the adapter", arguments: everyFlags)
    func flags(properties: [(String, BusValue)], isDiscoverable: Bool, flags: ADFlags?) throws {
        var bus = TestBridge()
        let setting: [BusValue] = [
            .string(BlueZ.adapter), .string("Discoverable"), .variant(.boolean(isDiscoverable)),
        ]
        bus.call(":1.9", TestBridge.adapter, ObjectTree.properties, "Set", setting)
        _ = try register(properties, &bus)
        #expect(try started(bus).request.broadcast?.flags == flags)
    }

    private static let everyChannel: [(String, PHY, PHY)] = [
        ("1M", .le1M, .le1M), ("2M", .le1M, .le2M), ("Coded", .leCoded, .leCoded),
    ]

    @Test("A secondary channel makes the advertisement extended", arguments: everyChannel)
    func channel(name: String, primary: PHY, secondary: PHY) throws {
        let broadcast = try broadcast([Self.broadcast, ("SecondaryChannel", .string(name))])
        #expect(broadcast.isExtended && broadcast.primaryPHY == primary && broadcast.secondaryPHY == secondary)
    }

    @Test("The supported features are those of the controller")
    func features() {
        var bus = TestBridge()
        func property(_ name: String) -> BusValue? {
            bus.property(name, of: BlueZ.advertisements, at: TestBridge.adapter)
        }
        #expect(property("SupportedFeatures") == .strings([]) && property("SupportedSecondaryChannels") == nil)
        bus.event(.featuresChanged(.extendedScanAndConnect), of: .own(.central))
        #expect(property("SupportedFeatures") == .strings(["CanSetTxPower", "HardwareOffload"]))
        #expect(property("SupportedSecondaryChannels") == .strings(["1M", "2M", "Coded"]))
        #expect(property("SupportedCapabilities")?[key: "MaxAdvLen"] == .byte(245))
        #expect(property("SupportedIncludes") == .strings(["tx-power", "appearance", "local-name"]))
    }

    @Test("A changed property changes the advertisement, unless the properties are invalid then")
    func change() throws {
        var bus = TestBridge()
        _ = try register([Self.peripheral, ("LocalName", .string("Zero"))], &bus)
        let key = try started(bus).key
        bus.event(.server(.advertisingStarted(nil)), of: key)
        func change(_ properties: [(String, BusValue)], by sender: String = ":1.1") throws {
            bus.forget()
            var signal = BusMessage(kind: .signal, path: "/ad", interface: ObjectTree.properties)
            (signal.member, signal.sender) = ("PropertiesChanged", sender)
            signal.body = [.string(BlueZ.advertisement), .properties([]), .strings([])]
            bus.signal(signal)
            guard let number = bus.calls.last(where: { $0.message.member == "GetAll" })?.number else { return }
            bus.reply(number, .values([.properties(properties)], from: ":1.1"))
        }
        try change([Self.peripheral, ("LocalName", .string("One"))])
        #expect(bus.requests.first?.request == .server(.stopAdvertising))
        #expect(try started(bus).request.localName == "One")
        bus.event(.server(.advertisingStarted(nil)), of: key)
        try change([Self.peripheral, ("LocalName", .byte(1))])
        #expect(bus.requests.isEmpty && bus.bridge.advertisements.count == 1)
        try change([Self.peripheral, ("LocalName", .string("One"))])
        #expect(bus.requests.isEmpty)
        try change([Self.peripheral], by: ":1.3")
        #expect(bus.calls.isEmpty && bus.requests.isEmpty)
        try change([Self.peripheral])
        bus.event(.server(.advertisingStarted(.invalidParameters)), of: key)
        #expect(bus.calls.last?.message.member == "Release")
        #expect(bus.bridge.advertisements.isEmpty)
    }

    @Test("An advertisement is discoverable for the time that it says")
    func discoverableTimeout() throws {
        var bus = TestBridge()
        let time = [("Discoverable", BusValue.boolean(true)), ("DiscoverableTimeout", .uint16(5))]
        _ = try register([Self.peripheral] + time, &bus)
        let (request, key) = try started(bus)
        #expect(request.broadcast?.flags == [.limitedDiscoverable, .classicNotSupported])
        bus.event(.server(.advertisingStarted(nil)), of: key)
        bus.forget()
        bus.pass(.seconds(5) - .nanoseconds(1))
        #expect(bus.requests.isEmpty)
        bus.pass(.nanoseconds(1))
        #expect(bus.requests.first?.request == .server(.stopAdvertising))
        #expect(try started(bus).request.broadcast?.flags == nil)
    }

    @Test("An advertisement with a timeout ends at it, and its program is notified")
    func timeout() throws {
        var bus = TestBridge()
        _ = try register([Self.broadcast, ("Timeout", .uint16(10))], &bus)
        let key = try #require(bus.requests.last?.key)
        bus.event(.server(.advertisingStarted(nil)), of: key)
        bus.forget()
        bus.pass(.seconds(10) - .nanoseconds(1))
        #expect(bus.calls.isEmpty)
        bus.pass(.nanoseconds(1))
        #expect(bus.calls.last?.message.member == "Release")
        #expect(bus.actions.contains(.close(key)))
        #expect(bus.property("ActiveInstances", of: BlueZ.advertisements, at: TestBridge.adapter) == .byte(0))
    }

    @Test("An advertisement ends with the radio, and its program is notified")
    func powerOff() throws {
        var bus = TestBridge()
        _ = try register([Self.broadcast], &bus)
        let key = try #require(bus.requests.last?.key)
        bus.event(.server(.advertisingStarted(nil)), of: key)
        bus.event(.stateChanged(.poweredOff), of: key)
        #expect(bus.calls.last?.message.member == "Release")
        #expect(bus.bridge.advertisements.isEmpty)
    }

    @Test("A program ends only its own advertisements")
    func owner() throws {
        var bus = TestBridge()
        _ = try register([Self.broadcast], &bus)
        for client in [":1.2", ":1.9"] {
            let result = bus.result(
                client,
                TestBridge.adapter,
                BlueZ.advertisements,
                "UnregisterAdvertisement",
                [.path("/ad")]
            )
            #expect(result == .failed(.doesNotExist))
        }
        bus.leave(":1.1")
        #expect(bus.bridge.advertisements.isEmpty)
    }
}
