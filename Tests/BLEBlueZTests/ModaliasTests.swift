import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("The property Modalias")
struct ModaliasTests {
    private static let key = TestBridge.Key(":1.1", .central)
    private static let handle = AttributeHandle(wire: 0x32)
    private static let read = AttributeRequest.readWithoutPairing(handle)

    /// Has a program connect to a device with a PnP ID.
    private func connected() throws -> TestBridge {
        var bus = TestBridge()
        bus.discover()
        bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: Self.key)
        try showServices(&bus)
        bus.forget()
        return bus
    }

    private func showServices(_ bus: inout TestBridge) throws {
        let range = try #require(AttributeHandleRange(AttributeHandle(wire: 0x30), Self.handle))
        let service = DiscoveredService(uuid: .short(0x180A), range: range, isPrimary: true)
        let found = DiscoveredCharacteristic(
            uuid: .short(0x2A50),
            properties: 0x02,
            declaration: AttributeHandle(wire: 0x31),
            value: Self.handle,
            end: Self.handle
        )
        for answer in [
            PeerEvent.servicesDiscovered(.success([service])),
            .includedServicesDiscovered(in: range, .success([])),
            .characteristicsDiscovered(in: range, .success([found])),
        ] {
            let number = try #require(
                bus.number(of: ":1.1") { request in
                    switch (request, answer) {
                    case (.discoverServices, .servicesDiscovered),
                        (.discoverIncludedServices, .includedServicesDiscovered),
                        (.discoverCharacteristics, .characteristicsDiscovered):
                        true
                    default: false
                    }
                }
            )
            bus.event(.peer(TestBridge.lamp, answer, answering: number), of: Self.key)
        }
    }

    private func answer(_ bus: inout TestBridge, _ result: Result<[UInt8], Failure>) throws {
        let number = try #require(bus.number(of: ":1.1", where: { $0 == Self.read }))
        bus.event(.peer(TestBridge.lamp, .valueRead(Self.handle, result), answering: number), of: Self.key)
    }

    private func modalias(_ bus: inout TestBridge) -> BusValue? {
        bus.property("Modalias", of: BlueZ.device, at: TestBridge.lampPath)
    }

    @Test("The PnP ID is read once for a device, 250 ms after its services are known, and is one signal")
    func once() throws {
        var bus = try connected()
        bus.pass(BlueZBridge.modaliasDelay - .nanoseconds(1))
        #expect(bus.requests.isEmpty)
        bus.pass(.nanoseconds(1))
        try answer(&bus, .success([2, 0x6B, 0x1D, 0x46, 0x02, 0x42, 0x05]))
        #expect(bus.signals("PropertiesChanged").count == 1)
        #expect(modalias(&bus) == .string("usb:v1D6Bp0246d0542"))
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: Self.key)
        bus.call(":1.1", TestBridge.lampPath, BlueZ.device, "Connect")
        bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: Self.key)
        try showServices(&bus)
        bus.forget()
        bus.pass(.seconds(10))
        #expect(bus.requests.isEmpty)
        #expect(modalias(&bus) == .string("usb:v1D6Bp0246d0542"))
    }

    @Test("Requests of programs come first, for at most 2 s")
    func busy() throws {
        var bus = try connected()
        let path = TestBridge.lampPath + "/service0030/char0031"
        bus.call(":1.1", path, BlueZ.characteristic, "ReadValue", [.properties([])])
        bus.forget()
        bus.pass(BlueZBridge.maximumModaliasDelay - .nanoseconds(1))
        #expect(bus.requests.isEmpty)
        bus.pass(.nanoseconds(1))
        #expect(bus.number(of: ":1.1", where: { $0 == Self.read }) != nil)
    }

    @Test("A device that disconnects before is not read")
    func disconnected() throws {
        var bus = try connected()
        bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: Self.key)
        bus.forget()
        bus.pass(.seconds(10))
        #expect(bus.requests.isEmpty)
    }

    @Test("An error and an invalid PnP ID leave the property absent")
    func failed() throws {
        for result in [Result<[UInt8], Failure>.failure(.att(.insufficientAuthentication)), .success([])] {
            var bus = try connected()
            bus.pass(BlueZBridge.modaliasDelay)
            try answer(&bus, result)
            #expect(modalias(&bus) == nil)
            #expect(bus.signals("PropertiesChanged").isEmpty)
        }
    }

    @Test(
        "The text has BlueZ's form",
        arguments: [
            ([1, 0x0A, 0x00, 0x4C, 0x01, 0x00, 0x01], "bluetooth:v000Ap014Cd0100"),
            ([2, 0x6B, 0x1D, 0x46, 0x02, 0x42, 0x05], "usb:v1D6Bp0246d0542"),
            ([3, 0x6B, 0x1D, 0x46, 0x02, 0x42, 0x05], nil), ([1, 2, 3, 4, 5, 6], nil), ([], nil),
        ] as [([UInt8], String?)]
    )
    func text(value: [UInt8], text: String?) { #expect(BlueZBridge.modalias(value) == text) }
}
