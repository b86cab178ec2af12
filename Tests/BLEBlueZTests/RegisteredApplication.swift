import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

/// A bridge with a registered application: a service with a characteristic.
struct RegisteredApplication {
    var bus = TestBridge()
    /// The serial number of the call to `RegisterApplication`.
    let serial: UInt32
    let key: TestBridge.Key
    /// The characteristic.
    let value: LocalAttributeID

    /// Registers an application, and has the daemon add its service or refuse it with `failure`.
    ///
    /// The characteristic has a descriptor if `descriptor` has flags, and the properties that state that a program
    /// implements `AcquireWrite` and `AcquireNotify` if `acquires` is true.
    init(
        _ client: String = ":1.1",
        flags: [String] = ["read", "write", "notify"],
        descriptor: [String]? = nil,
        acquires: Bool = false,
        failure: Failure? = nil
    ) throws {
        serial = bus.call(
            client,
            TestBridge.adapter,
            BlueZ.applications,
            "RegisterApplication",
            [.path("/a"), .properties([])]
        )
        let number = try #require(bus.calls.last { $0.message.member == "GetManagedObjects" }?.number)
        #expect(bus.outcome(of: serial) == nil)
        let objects = Self.objects(flags: flags, descriptor: descriptor, acquires: acquires)
        bus.reply(number, .values([objects], from: client))
        let additions = bus.requests.compactMap { key, request in
            if case .service(.addService(let service)) = request { (key, service) } else { nil }
        }
        let (key, service) = try #require(additions.last)
        #expect(key.role == .peripheral && key.client == client)
        #expect(service.uuid == .short(0x180F))
        self.key = key
        value = try #require(service.characteristics.first).id
        bus.event(.server(.serviceAdded(service.id, failure)), of: key)
    }

    /// Returns the objects of a program, as `GetManagedObjects` returns them.
    static func objects(
        flags: [String] = ["read", "write", "notify"],
        descriptor: [String]? = nil,
        acquires: Bool = false,
        service: String = "/a/s"
    ) -> BusValue {
        let acquired = ["WriteAcquired", "NotifyAcquired"].map { ($0, BusValue.boolean(false)) }
        var properties: [(path: String, interface: String, values: [(String, BusValue)])] = [
            ("/a/s", BlueZ.service, [("UUID", .string("180f")), ("Primary", .boolean(true))]),
            (
                "/a/s/c", BlueZ.characteristic,
                [("UUID", .string("2a19")), ("Service", .path(service)), ("Flags", .strings(flags))]
                    + (acquires ? acquired : [])
            ),
        ]
        if let descriptor {
            let values: [(String, BusValue)] = [
                ("UUID", .string("b002")), ("Characteristic", .path("/a/s/c")), ("Flags", .strings(descriptor)),
            ]
            properties.append(("/a/s/c/d", BlueZ.descriptor, values))
        }
        let entries = properties.map { path, interface, values in
            let content = BusValue.properties(values)
            return BusValue.entry(
                .path(path),
                .array(of: .entry(.string, content.type), [.entry(.string(interface), content)])
            )
        }
        return .array(of: entries[0].type, entries)
    }
}
