import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Publishing services")
struct PublishingTests {
    let bench = PeripheralBench()

    /// A presentation format.
    private static let format: [UInt8] = [4, 0, 0, 0, 1, 0, 0]

    private func service(_ uuid: String = "180D", _ characteristics: [CBCharacteristic] = []) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
        service.characteristics = characteristics
        return service
    }

    @Test("A service reaches the host with all its parts, each with its own identifier")
    func definition() async {
        await bench.powerOn()
        let fixed = CBMutableCharacteristic(
            type: CBUUID(string: "2A38"),
            properties: .read,
            value: Data([1]),
            permissions: .readable
        )
        let dynamic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"),
            properties: [.notify, .notifyEncryptionRequired],
            value: nil,
            permissions: [.readable, .writeEncryptionRequired]
        )
        dynamic.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "hi"),
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicFormatString), value: Data(Self.format)),
        ]
        bench.manager.add(service("180D", [fixed, dynamic]))
        func id(_ number: UInt32) -> LocalAttributeID { LocalAttributeID(rawValue: number) }
        #expect(
            bench.take() == [
                .service(
                    .addService(
                        ServiceDefinition(
                            id: id(1),
                            uuid: .short(0x180D),
                            characteristics: [
                                CharacteristicDefinition(
                                    id: id(2),
                                    uuid: .short(0x2A38),
                                    properties: .read,
                                    permissions: .readable,
                                    value: [1]
                                ),
                                CharacteristicDefinition(
                                    id: id(3),
                                    uuid: .short(0x2A37),
                                    properties: [.notify, .notifyEncryptionRequired],
                                    permissions: [.readable, .writeEncryptionRequired],
                                    descriptors: [
                                        DescriptorDefinition(id: id(4), uuid: .short(0x2901), value: [0x68, 0x69]),
                                        DescriptorDefinition(id: id(5), uuid: .short(0x2904), value: Self.format),
                                    ]
                                ),
                            ]
                        )
                    )
                )
            ]
        )
    }

    @Test("The delegate receives the app's own objects, in order")
    func answers() async {
        await bench.powerOn()
        let first = service("180D"), second = service("180F")
        bench.manager.add(first)
        bench.manager.add(second)
        await bench.tell(.serviceAdded(LocalAttributeID(rawValue: 1), nil))
        await bench.tell(.serviceAdded(LocalAttributeID(rawValue: 2), .limitReached))
        #expect(bench.app.take() == ["added 180D ok", "added 180F CBError 4"])
        #expect(bench.app.added.map { $0 === first } == [true, false])
        #expect(first.peripheral == nil)
        #expect(first.isPrimary)
    }

    @Test("A service that cannot be published fails through the delegate")
    func refusals() async {
        await bench.powerOn()
        let including = service("180F"), taken = CBMutableCharacteristic.dynamic()
        including.includedServices = [service("181A")]
        let broadcast = CBMutableCharacteristic.dynamic("2A37", [.broadcast])
        let first = service("1812", [taken]), twin = CBMutableCharacteristic.dynamic()
        bench.manager.add(first)
        _ = bench.take()
        for refused in [
            service("1800"), service("00001801-0000-1000-8000-00805F9B34FB"), including, service("180A", [broadcast]),
            service("180B", [taken]), first, service("180C", [twin, twin]),
        ] { bench.manager.add(refused) }
        await bench.session.settle()
        #expect(
            bench.app.take() == [
                "added 1800 CBError 8", "added 00001801-0000-1000-8000-00805F9B34FB CBError 8", "added 180F CBError 1",
                "added 180A CBError 1", "added 180B CBError 1", "added 1812 CBError 1", "added 180C CBError 1",
            ]
        )
        #expect(bench.take().isEmpty)
    }

    @Test("Included services must be added first and removed last")
    func includes() async {
        await bench.powerOn()
        let part = service("180F"), whole = service("180D")
        whole.includedServices = [part]
        bench.manager.add(part)
        bench.manager.add(whole)
        let id = LocalAttributeID(rawValue: 1)
        guard case .service(.addService(let definition))? = bench.take().last else { return #expect(Bool(false)) }
        #expect(definition.includes == [id])
        bench.manager.remove(part)
        #expect(bench.take().isEmpty)
        #expect(bench.lines.take().count == 1)
        bench.manager.remove(whole)
        bench.manager.remove(part)
        #expect(bench.take() == [.service(.removeService(definition.id)), .service(.removeService(id))])
    }

    @Test("Published objects are immutable until they are removed")
    func freezing() async {
        let characteristic = CBMutableCharacteristic.dynamic()
        let service = await bench.publish(characteristic)
        service.characteristics = []
        service.includedServices = [service]
        characteristic.properties = .read
        characteristic.permissions = []
        characteristic.descriptors = []
        #expect(bench.lines.take().count == 5)
        #expect(service.characteristics == [characteristic])
        #expect(characteristic.properties == [.read, .write, .notify])
        characteristic.value = Data([7])
        #expect(characteristic.value == Data([7]))
        characteristic.value = nil
        bench.manager.remove(service)
        bench.manager.remove(service)
        characteristic.properties = .read
        #expect(characteristic.properties == .read)
        bench.manager.add(service)
        #expect(bench.take().count == 2)
        #expect(bench.lines.take().isEmpty)
    }

    @Test("Characteristics and descriptors know their parents")
    func belonging() {
        let characteristic = CBMutableCharacteristic.dynamic(), service = service("180D", [characteristic])
        let descriptor = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "x")
        characteristic.descriptors = [descriptor]
        #expect(characteristic.service === service)
        #expect(descriptor.characteristic === characteristic)
        #expect(descriptor.value as? String == "x")
        service.characteristics = nil
        #expect(characteristic.service == nil)
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
    }

    @Test("All services are removed together, and the same objects can be published again")
    func removeAll() async {
        let service = await bench.publish(.dynamic())
        bench.manager.removeAllServices()
        bench.manager.add(service)
        let requests = bench.take()
        #expect(requests.first == .service(.removeAllServices))
        #expect(requests.count == 2)
    }

    /// A characteristic of an app's own, which asks its manager whenever it is looked at.
    final class Curious: CBMutableCharacteristic, @unchecked Sendable {
        weak var manager: CBPeripheralManager?
        override var value: Data? {
            get {
                _ = manager?.isAdvertising
                return super.value
            }
            set { super.value = newValue }
        }
    }

    @Test("Characteristics may be instances of an app's own class that uses the manager")
    func ownClasses() async {
        let curious = Curious(type: CBUUID(string: "2A37"), properties: .read, value: nil, permissions: .readable)
        curious.manager = bench.manager
        let service = await bench.publish(curious)
        #expect(service.published != nil)
        bench.manager.remove(service)
        #expect(bench.take() == [.service(.removeService(LocalAttributeID(rawValue: 1)))])
    }

    @Test("A fixed value with write permission ends the program", .behaviour("4.8.3"))
    func cachedValue() async {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let bench = PeripheralBench()
            _ = await bench.publish(
                CBMutableCharacteristic(
                    type: CBUUID(string: "2A37"),
                    properties: [.read, .write],
                    value: Data([1]),
                    permissions: [.readable, .writeable]
                )
            )
        }
        #expect(complaint(end).contains("Characteristics with cached values must be read-only"))
    }

    @Test("An invalid descriptor ends the program", .behaviour("4.8.5"))
    func descriptors() async {
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2902"), value: Data([1, 0]))
        }
        #expect(complaint(type).contains("Descriptors of type 2902 cannot be created"))
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2901"), value: nil)
        }
        #expect(complaint(value).contains("must have a string as its value"))
        let short = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data([4, 0, 1, 0x27, 1, 0]))
        }
        #expect(complaint(short).contains("must have at least 7 octets as its value, not 6"))
    }
}
