import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("ConnectDevice")
struct SearchTests {
    private static let key = TestBridge.Key(":1.1", .central)
    private static let everything = ClientRequest.scan(ScanRequest(allowsDuplicates: true))

    private static func argument(_ address: String = "C0:FF:EE:00:00:01", _ type: String? = "random") -> BusValue {
        .properties([("Address", .string(address))] + (type.map { [("AddressType", .string($0))] } ?? []))
    }

    private static func report(_ address: DeviceAddress, isConnectable: Bool = true) -> ClientEvent {
        .discovered(
            AdvertisementReport(
                peer: TestBridge.lamp,
                address: address,
                isConnectable: isConnectable,
                rssi: RSSI(dBm: -50),
                octets: AdvertisementOctets(advertisement: [])
            )
        )
    }

    private static func connectDevice(_ bus: inout TestBridge, _ argument: BusValue = argument()) -> UInt32 {
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "ConnectDevice", [argument])
    }

    @Test("A device without an object is received first, and then connected within the time that is left")
    func unknown() {
        var bus = TestBridge()
        let serial = Self.connectDevice(&bus)
        #expect(bus.requests.map(\.request) == [Self.everything])
        #expect(bus.property("Discovering", of: BlueZ.adapter, at: TestBridge.adapter) == .boolean(false))
        bus.pass(.seconds(5))
        bus.forget()
        bus.event(TestBridge.report(), of: Self.key)
        let rest = ConnectRequest(timeout: BlueZBridge.connectionTimeout - .seconds(5))
        #expect(bus.requests.map(\.request) == [.connect(TestBridge.lamp, rest), .stopScan])
        #expect(bus.signals("InterfacesAdded").first?.body.first == .path(TestBridge.lampPath))
        #expect(bus.property("RSSI", of: BlueZ.device, at: TestBridge.lampPath) == nil)
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: Self.key)
        #expect(bus.outcome(of: serial) == .values([.path(TestBridge.lampPath)]))
    }

    @Test("A device with an object is connected without a search")
    func known() {
        var bus = TestBridge()
        bus.discover()
        bus.forget()
        let serial = Self.connectDevice(&bus)
        let request = ConnectRequest(timeout: BlueZBridge.connectionTimeout)
        #expect(bus.requests.map(\.request) == [.connect(TestBridge.lamp, request)])
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: Self.key)
        #expect(bus.outcome(of: serial) == .values([.path(TestBridge.lampPath)]))
    }

    @Test("Only a connectable device with this address and type, received by the caller, ends the search")
    func others() {
        var bus = TestBridge()
        bus.call(":1.2", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        _ = Self.connectDevice(&bus)
        let address = TestBridge.lampAddress
        let others = [
            Self.report(address, isConnectable: false), Self.report(DeviceAddress(address.value, .public)),
            Self.report(DeviceAddress(address.value &+ 1, .random)),
        ]
        for report in others { bus.event(report, of: Self.key) }
        #expect(bus.bridge.devices.isEmpty)
        bus.event(Self.report(address), of: .init(":1.2", .central))
        #expect(bus.bridge.searches.count == 1)
        bus.event(Self.report(address), of: Self.key)
        #expect(bus.bridge.searches.isEmpty)
    }

    @Test("A search ends after the time of a connection attempt, and the program's own discovery goes on")
    func expired() {
        var bus = TestBridge()
        bus.call(":1.1", TestBridge.adapter, BlueZ.adapter, "StartDiscovery")
        let serial = Self.connectDevice(&bus)
        bus.forget()
        bus.pass(BlueZBridge.connectionTimeout - .nanoseconds(1))
        #expect(bus.outcome(of: serial) == nil)
        bus.pass(.nanoseconds(1))
        #expect(bus.outcome(of: serial) == .failed(.connectionAborted))
        #expect(bus.requests.map(\.request) == [.scan(DiscoveryFilter().scan)])
    }

    @Test("A device that was found only for a connection that failed is removed after 180 s")
    func removed() {
        var bus = TestBridge()
        let serial = Self.connectDevice(&bus)
        bus.event(TestBridge.report(), of: Self.key)
        bus.event(.connectFailed(TestBridge.lamp, .timedOut), of: Self.key)
        #expect(bus.outcome(of: serial) == .failed(.connectionAborted))
        bus.pass(BlueZBridge.deviceLifetime)
        #expect(bus.bridge.devices.isEmpty)
    }

    @Test("A search ends with its program, with the radio, and if the policy hides addresses")
    func ended() {
        var bus = TestBridge()
        _ = Self.connectDevice(&bus)
        bus.leave(":1.1")
        #expect(bus.bridge.searches.isEmpty)
        #expect(bus.actions.contains(.close(Self.key)))
        let off = Self.connectDevice(&bus)
        bus.event(.stateChanged(.poweredOff), of: Self.key)
        #expect(bus.outcome(of: off) == .failed(.notReady))
        bus.event(.stateChanged(.poweredOn), of: Self.key)
        let hidden = Self.connectDevice(&bus)
        bus.event(TestBridge.report(TestBridge.lamp, .none), of: Self.key)
        #expect(bus.outcome(of: hidden) == .failed(.notAuthorized))
        bus.unauthorized = [2_000]
        let refused = bus.call(":1.3", TestBridge.adapter, BlueZ.adapter, "ConnectDevice", [Self.argument()])
        #expect(bus.outcome(of: refused) == .failed(.notAuthorized))
        #expect(bus.bridge.searches.isEmpty && bus.bridge.devices.isEmpty)
    }

    @Test(
        "An invalid address or type is refused, and so is BR/EDR, which BlueZ assumes without a type",
        arguments: [
            (argument("C0:FF:EE:00:00"), BlueZError.invalidArguments),
            (argument("00:00:00:00:00:00"), .invalidArguments),
            (argument("C0:FF:EE:00:00:01", "bredr"), .invalidArguments),
            (.properties([("AddressType", .string("random"))]), .invalidArguments),
            (.properties([("Address", .uint32(1)), ("AddressType", .string("public"))]), .invalidArguments),
            (.properties([("Address", .string("C0:FF:EE:00:00:01")), ("AddressType", .uint32(1))]), .invalidArguments),
            (argument("C0:FF:EE:00:00:01", nil), .notSupported),
        ]
    )
    func invalid(argument: BusValue, error: BlueZError) {
        var bus = TestBridge()
        let serial = Self.connectDevice(&bus, argument)
        #expect(bus.outcome(of: serial) == .failed(error))
        #expect(bus.bridge.searches.isEmpty)
    }

    @Test("A program may search for so many devices at once, and so may all programs together")
    func limits() {
        var bus = TestBridge()
        let refusal = TestBridge.Outcome.failed(.limitReached)
        var refused = 0
        for _ in 0...BlueZBridge.Limit.clientSearches {
            let serial = Self.connectDevice(&bus)
            if bus.outcome(of: serial) == refusal { refused += 1 }
        }
        #expect(refused == 1)
        for number in 0..<BlueZBridge.Limit.searches {
            bus.users[":3.\(number)"] = UInt32(3_000 + number)
            let name = ":3.\(number)"
            let serial = bus.call(name, TestBridge.adapter, BlueZ.adapter, "ConnectDevice", [Self.argument()])
            if bus.outcome(of: serial) == refusal { refused += 1 }
        }
        #expect(refused == 1 + BlueZBridge.Limit.clientSearches)
        #expect(bus.bridge.searches.count == BlueZBridge.Limit.searches)
    }
}
