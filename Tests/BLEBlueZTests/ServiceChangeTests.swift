import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

@Suite("Changes of a device's services")
struct ServiceChangeTests {
    private static let none = BusValue.properties([])
    private static let handle = AttributeHandle(wire: 0x12)

    private static func isSubscription(_ request: AttributeRequest) -> Bool {
        if case .subscribe = request { true } else { false }
    }

    private static func isRead(_ request: AttributeRequest) -> Bool {
        if case .read = request { true } else { false }
    }

    /// Has the lamp change its services, and then report the same ones.
    private func changeServices(_ bus: inout TestBridge) throws {
        let key = TestBridge.Key(":1.1", .central)
        bus.event(.peer(TestBridge.lamp, .servicesModified(.all), answering: .none), of: key)
        try bus.showServices(to: key)
    }

    private static let everyMethods = ["StartNotify", "AcquireNotify"]

    @Test("A subscription that is pending when the services change is refused", arguments: everyMethods, [true, false])
    func pendingSubscription(method: String, isSuccessful: Bool) throws {
        var bus = TestBridge()
        try bus.connect()
        let body = method == "AcquireNotify" ? [Self.none] : []
        let first = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, method, body)
        let old = try #require(bus.number(of: ":1.1", where: Self.isSubscription))
        try changeServices(&bus)
        #expect(bus.outcome(of: first) == .failed(.doesNotExist))
        let second = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, method, body)
        let new = try #require(bus.number(of: ":1.1", where: Self.isSubscription))
        #expect(old != new)
        let answers = [(old, isSuccessful ? nil : Failure.cancelled), (new, nil)]
        for (number, failure) in answers {
            let answer = PeerEvent.subscriptionChanged(Self.handle, .notifications, failure)
            bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
            guard number == old else { continue }
            #expect(bus.outcome(of: second) == nil)
            #expect(bus.property("Notifying", of: BlueZ.characteristic, at: TestBridge.value) == .boolean(false))
        }
        #expect(bus.property("Notifying", of: BlueZ.characteristic, at: TestBridge.value) == .boolean(true))
        bus.forget()
        let value = PeerEvent.valueNotified(Self.handle, [7])
        bus.event(.peer(TestBridge.lamp, value, answering: .none), of: .init(":1.1", .central))
        #expect(bus.actions.count == 1, "the new subscription gets the value: \(bus.actions)")
    }

    @Test("Calls that wait for their connection are refused when the services change or the last connection ends")
    func waitingCalls() throws {
        for isLost in [false, true] {
            var bus = TestBridge()
            try bus.connect()
            let serials = [
                bus.call(":1.3", TestBridge.value, BlueZ.characteristic, "StartNotify"),
                bus.call(":1.3", TestBridge.value, BlueZ.characteristic, "ReadValue", [Self.none]),
            ]
            bus.forget()
            if isLost {
                bus.event(.disconnected(TestBridge.lamp, nil, isReconnecting: false), of: .init(":1.1", .central))
            } else {
                try changeServices(&bus)
            }
            #expect(serials.map { bus.outcome(of: $0) } == [.failed(.doesNotExist), .failed(.doesNotExist)])
            bus.event(.connected(TestBridge.lamp, LinkParameters(mtu: 100)), of: .init(":1.3", .central))
            #expect(bus.number(of: ":1.3", where: { Self.isRead($0) || Self.isSubscription($0) }) == nil)
        }
    }

    @Test("A value that was read before the services changed is returned, but is not the value of a new object")
    func pendingRead() throws {
        var bus = TestBridge()
        try bus.connect()
        let serial = bus.call(":1.1", TestBridge.value, BlueZ.characteristic, "ReadValue", [Self.none])
        let number = try #require(bus.number(of: ":1.1", where: Self.isRead))
        try changeServices(&bus)
        bus.forget()
        let answer = PeerEvent.valueRead(Self.handle, .success([7]))
        bus.event(.peer(TestBridge.lamp, answer, answering: number), of: .init(":1.1", .central))
        #expect(bus.outcome(of: serial) == .values([.octets([7])]))
        #expect(bus.property("Value", of: BlueZ.characteristic, at: TestBridge.value) == .octets([]))
        #expect(bus.signals("PropertiesChanged").isEmpty)
    }
}
