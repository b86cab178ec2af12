import BLEWire
import Testing

@testable import BLEHost

/// A service with a value that the app holds, one that never changes, and one that is sent.
enum SampleService {
    static let uuid = BluetoothUUID.full(0xA0E1_0000_1122_3344_5566_7788_99AA_BBCC)
    static let service = LocalAttributeID(rawValue: 1)
    static let held = LocalAttributeID(rawValue: 2)
    static let fixed = LocalAttributeID(rawValue: 3)
    static let sent = LocalAttributeID(rawValue: 4)

    static let definition = ServiceDefinition(
        id: service,
        uuid: uuid,
        characteristics: [
            .init(
                id: held,
                uuid: .short(0x2A3D),
                properties: [.read, .write, .writeWithoutResponse],
                permissions: [.readable, .writeable]
            ),
            .init(
                id: fixed,
                uuid: .full(0xA0E1_0001_1122_3344_5566_7788_99AA_BBCC),
                properties: .read,
                permissions: .readable,
                value: [1, 2, 3],
                descriptors: [.init(id: .init(rawValue: 9), uuid: GATT.userDescription, value: [UInt8]("three".utf8))]
            ),
            .init(
                id: sent,
                uuid: .short(0x2A37),
                properties: [.notify, .indicate],
                permissions: []
            ),
        ]
    )
}

@Suite("A client and a server connected directly")
struct AttributeExchangeTests {
    @Test(
        "Both use the smaller of the two offered MTUs",
        arguments: [(517, 517), (517, 64), (64, 517), (23, 247), (247, 23)]
    )
    func agreement(central: Int, peripheral: Int) {
        var pair = AttributePair(centralMTU: central, peripheralMTU: peripheral)
        pair.connect()
        let agreed = min(central, peripheral)
        #expect(pair.central.others == [.mtuSettled(AttributePair.link, agreed)])
        #expect(pair.peripheral.others == [.mtuSettled(AttributePair.link, 23)])
        #expect(pair.peripheral.layer.mtu(of: AttributePair.link) == agreed)
        #expect(pair.central.trace.count == 1)
    }

    @Test(
        "A client reads and writes a value of any length that an app holds",
        arguments: [23, 64, 247, 517],
        [0, 1, 21, 22, 300, 512]
    )
    func heldValue(mtu: Int, length: Int) throws {
        var pair = AttributePair(centralMTU: mtu)
        var value: [UInt8] = []
        pair.serve = { event in
            switch event {
            case .readRequested(let transaction, _, _, let offset):
                [.respond(transaction, .success([UInt8](value.dropFirst(offset))))]
            case .writeRequested(let transaction?, _, let parts):
                [.respond(transaction, parts.isEmpty ? .failure(.unlikelyError) : .success([]))]
            default: []
            }
        }
        #expect(pair.host(.addService(SampleService.definition)) == [.serviceAdded(SampleService.service, nil)])
        pair.connect()
        value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let handle = AttributeHandle(wire: 12)
        #expect(pair.ask(.read(handle)) == [.valueRead(handle, .success(value))])
        _ = pair.serverEvents()
        #expect(pair.ask(.write(handle, value)) == [.valueWritten(handle, nil)])
        let events = pair.serverEvents()
        guard case .writeRequested(_, let central, let parts)? = events.first, events.count == 1 else {
            Issue.record("one group was expected, not \(events)")
            return
        }
        #expect(central == RemoteCentral(peer: AttributePair.centralPeer, mtu: mtu))
        #expect(parts.allSatisfy { $0.attribute == SampleService.held })
        #expect(parts.flatMap(\.value) == value)
        #expect(parts.map(\.offset) == parts.indices.map { parts[..<$0].map(\.value.count).reduce(0, +) })
        #expect((parts.count == 1) == (length <= mtu - 3))
    }

    @Test("An app receives a part of a value with its offset", arguments: [23, 64, 517], [(0, 5), (1, 0), (7, 300)])
    func heldPart(mtu: Int, part: (offset: Int, count: Int)) throws {
        var pair = AttributePair(centralMTU: mtu)
        pair.serve = { event in
            if case .writeRequested(let transaction?, _, _) = event {
                [.respond(transaction, .success([]))]
            } else {
                []
            }
        }
        pair.host(.addService(SampleService.definition))
        pair.connect()
        let value = (0..<part.count).map { UInt8(truncatingIfNeeded: $0 &* 7) }, handle = AttributeHandle(wire: 12)
        let request = AttributeRequest.writePart(handle, value, offset: UInt16(part.offset))
        _ = pair.serverEvents()
        #expect(pair.ask(request) == [.valueWritten(handle, nil)])
        guard case .writeRequested(_, _, let parts)? = pair.serverEvents().first else {
            Issue.record("a group of writes was expected")
            return
        }
        #expect(parts.flatMap(\.value) == value)
        #expect(parts.first?.offset == part.offset)
        #expect(parts.allSatisfy { $0.attribute == SampleService.held })
    }

    @Test("A client discovers every attribute with its handle", arguments: [23, 64, 247, 517])
    func discovery(mtu: Int) throws {
        var pair = AttributePair(centralMTU: mtu)
        pair.host(.addService(SampleService.definition))
        pair.connect()
        let range = try #require(AttributeHandleRange(.init(wire: 10), .init(wire: 18)))
        let service = DiscoveredService(uuid: SampleService.uuid, range: range, isPrimary: true)
        #expect(pair.ask(.discoverServices(only: [SampleService.uuid])) == [.servicesDiscovered(.success([service]))])
        guard case .servicesDiscovered(.success(let all))? = pair.ask(.discoverServices(only: [])).first else {
            Issue.record("services were expected")
            return
        }
        #expect(all.map(\.uuid) == [GATT.genericAccess, GATT.genericAttribute, SampleService.uuid])
        let found = pair.ask(.discoverCharacteristics(in: range, only: []))
        guard case .characteristicsDiscovered(range, .success(let characteristics))? = found.first else {
            Issue.record("characteristics were expected, not \(found)")
            return
        }
        #expect(characteristics.map(\.value.wire) == [12, 14, 17])
        #expect(characteristics.map(\.end.wire) == [12, 15, 18])
        #expect(characteristics.map(\.properties) == [0x0E, 0x02, 0x30])
        let descriptors = pair.ask(.discoverDescriptors(of: .init(wire: 17), in: characteristics[2].descriptorRange))
        let configuration = DiscoveredDescriptor(uuid: GATT.clientConfiguration, handle: .init(wire: 18))
        #expect(descriptors == [.descriptorsDiscovered(of: .init(wire: 17), .success([configuration]))])
    }

    @Test("A client discovers included services with short and long UUIDs", arguments: [23, 64, 247, 517])
    func includes(mtu: Int) {
        var pair = AttributePair(centralMTU: mtu)
        let inner = LocalAttributeID(rawValue: 20), outer = LocalAttributeID(rawValue: 21)
        pair.host(.addService(SampleService.definition))
        pair.host(.addService(.init(id: inner, uuid: .short(0xB000), isPrimary: false)))
        let both = ServiceDefinition(id: outer, uuid: .short(0xB001), includes: [SampleService.service, inner])
        #expect(pair.host(.addService(both)) == [.serviceAdded(outer, nil)])
        pair.connect()
        _ = pair.ask(.discoverServices(only: []))
        let place = range(20, 22)
        let found = [
            DiscoveredService(uuid: SampleService.uuid, range: range(10, 18), isPrimary: true),
            DiscoveredService(uuid: .short(0xB000), range: range(19, 19), isPrimary: false),
        ]
        let all = pair.ask(.discoverIncludedServices(in: place, only: []))
        #expect(all == [.includedServicesDiscovered(in: place, .success(found))])
        let one = pair.ask(.discoverIncludedServices(in: place, only: [.short(0xB000)]))
        #expect(one == [.includedServicesDiscovered(in: place, .success([found[1]]))])
    }

    @Test("Both ends learn of an MTU that is negotiated late")
    func lateSize() {
        var pair = AttributePair(centralMTU: 100)
        pair.host(.addService(SampleService.definition))
        pair.peripheral.layer.linkUp(
            AttributePair.link,
            peer: AttributePair.centralPeer,
            role: .peripheral,
            at: pair.now
        )
        let isNew = pair.peripheral.layer.noteUse(of: AttributePair.server, on: AttributePair.link)
        #expect(isNew)
        pair.now = pair.now + .seconds(2)
        pair.central.layer.linkUp(AttributePair.link, peer: AttributePair.peripheralPeer, role: .central, at: pair.now)
        _ = pair.serverEvents()
        pair.settle()
        #expect(pair.peripheral.others == [.mtuSettled(AttributePair.link, 23)])
        let central = RemoteCentral(peer: AttributePair.centralPeer, mtu: 100)
        #expect(pair.serverEvents() == [.centralChanged(central)])
        #expect(pair.central.others == [.mtuSettled(AttributePair.link, 100)])
    }

    @Test("A client subscribes, receives values, and unsubscribes")
    func subscription() {
        var pair = AttributePair()
        pair.host(.addService(SampleService.definition))
        pair.connect()
        let handle = AttributeHandle(wire: 17), place = AttributeHandleRange(.init(wire: 18))
        for subscription in [Subscription.notifications, .indications] {
            let answer = pair.ask(.subscribe(subscription, to: handle, in: place))
            #expect(answer == [.subscriptionChanged(handle, subscription, nil)])
            pair.central.events = []
            #expect(pair.host(.update(SampleService.sent, [5], to: nil)) == [.updatesTaken(1)])
            #expect(pair.central.events.map(\.event.peerEvent) == [.valueNotified(handle, [5])])
        }
        #expect(pair.ask(.subscribe(.none, to: handle, in: place)) == [.subscriptionChanged(handle, .none, nil)])
        let central = RemoteCentral(peer: AttributePair.centralPeer, mtu: 517)
        let events = pair.serverEvents().filter { $0 != .updatesTaken(1) }
        #expect(events.contains(.subscribed(central, to: SampleService.sent)))
        #expect(events.last == .unsubscribed(central, from: SampleService.sent))
    }

    @Test("A client that asks for it learns of each confirmed indication, and only of its own value")
    func confirmations() {
        let handle = AttributeHandle(wire: 17), place = AttributeHandleRange(.init(wire: 18))
        let central = RemoteCentral(peer: AttributePair.centralPeer, mtu: 517)
        for subscription in [Subscription.notifications, .indications] {
            var pair = AttributePair()
            pair.host(.reportConfirmations(of: SampleService.sent))
            pair.host(.addService(SampleService.definition))
            pair.connect()
            _ = pair.ask(.subscribe(subscription, to: handle, in: place))
            #expect(pair.host(.update(SampleService.sent, [5], to: nil)) == [.updatesTaken(1)])
            pair.host(.reportConfirmations(of: SampleService.sent))
            let isIndicated = subscription == .indications
            for _ in 0..<2 {
                let events = pair.host(.update(SampleService.sent, [5], to: nil))
                #expect(events.contains(.confirmed(central, of: SampleService.sent)) == isIndicated)
                #expect(events.count == (isIndicated ? 2 : 1))
            }
            pair.host(.removeAllServices)
            pair.host(.addService(SampleService.definition))
            #expect(pair.peripheral.layer.reportedConfirmations.isEmpty)
        }
    }

    @Test("A client learns the name in the background")
    func name() {
        var pair = AttributePair(name: String(repeating: "Sensor ", count: 30))
        pair.connect()
        pair.advance(by: .milliseconds(300))
        let name = String(repeating: "Sensor ", count: 30)
        #expect(pair.central.others.contains(.nameRead(AttributePair.peripheralPeer, name)))
        #expect(pair.central.events.map(\.event.peerEvent) == [.nameChanged(name)])
    }
}
