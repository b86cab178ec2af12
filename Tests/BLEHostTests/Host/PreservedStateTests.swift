import BLEWire
import Testing

@testable import BLEHost

@Suite("State preserved for a session")
struct PreservedStateTests {
    private static let peer = PeerIdentifier(rawValue: 1)
    private let link = LinkParameters(mtu: 185, name: "Sensor")

    private static func service(_ uuid: UInt16, _ start: UInt16, _ end: UInt16) -> DiscoveredService {
        DiscoveredService(uuid: .short(uuid), range: range(start, end), isPrimary: true)
    }

    private static func range(_ start: UInt16, _ end: UInt16) -> AttributeHandleRange {
        guard let range = AttributeHandleRange(AttributeHandle(wire: start), AttributeHandle(wire: end)) else {
            preconditionFailure("a literal range is one")
        }
        return range
    }

    private static func characteristic(_ uuid: UInt16, _ value: UInt16, _ end: UInt16) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            uuid: .short(uuid),
            properties: 0x10,
            declaration: AttributeHandle(wire: value - 1),
            value: AttributeHandle(wire: value),
            end: AttributeHandle(wire: end)
        )
    }

    private static let one = service(0x180D, 10, 19), two = service(0x180F, 20, 29)
    private static let services = PeerEvent.servicesDiscovered(.success([one, two]))
    private static let heart = PeerEvent.characteristicsDiscovered(
        in: one.range,
        .success([characteristic(0x2A37, 12, 14)])
    )
    private static let level = PeerEvent.characteristicsDiscovered(
        in: two.range,
        .success([characteristic(0x2A19, 22, 24)])
    )
    private static let notified = PeerEvent.subscriptionChanged(AttributeHandle(wire: 12), .notifications, nil)
    private static let described = PeerEvent.descriptorsDiscovered(
        of: AttributeHandle(wire: 12),
        .success([DiscoveredDescriptor(uuid: .short(0x2902), handle: AttributeHandle(wire: 13))])
    )

    /// What is left of what a client heard of a peer.
    private func validEvents(from events: [PeerEvent]) -> [PeerEvent] {
        var state = PreservedState(.central)
        state.note(.connect(Self.peer, ConnectRequest()))
        state.note(.connected(Self.peer, link))
        for event in events { state.note(.peer(Self.peer, event)) }
        guard case .central(let central) = state else { return [] }
        return central.peers.flatMap(\.validEvents)
    }

    @Test(
        "Discovered attributes are preserved until the peer replaces them",
        arguments: [
            ([services, heart, described, notified], [services, heart, described, notified]),
            ([services, heart, services, heart], [services, heart]),
            ([services, .servicesDiscovered(.failure(.notConnected)), .rssiRead(.failure(.timedOut))], [services]),
            (
                [services, heart, level, described, notified, .servicesModified(range(10, 12))],
                [.servicesDiscovered(.success([two])), level]
            ),
            ([services, heart, .databaseForgotten(nil)], [.servicesDiscovered(.success([]))]),
            ([services, heart, .databaseForgotten(.timedOut)], [services, heart]),
            (
                [services, heart, notified, .servicesDiscovered(.success([service(0x1812, 10, 19)]))],
                [.servicesDiscovered(.success([two])), .servicesDiscovered(.success([service(0x1812, 10, 19)]))]
            ),
            (
                [
                    services, heart, described, notified,
                    .characteristicsDiscovered(in: one.range, .success([characteristic(0x2A38, 12, 14)])),
                ],
                [
                    services, .characteristicsDiscovered(in: one.range, .success([])),
                    .characteristicsDiscovered(in: one.range, .success([characteristic(0x2A38, 12, 14)])),
                ]
            ),
            (
                [services, heart, notified, .subscriptionChanged(AttributeHandle(wire: 12), .none, nil)],
                [services, heart, .subscriptionChanged(AttributeHandle(wire: 12), .none, nil)]
            ),
        ] as [([PeerEvent], [PeerEvent])]
    )
    func learning(events: [PeerEvent], left: [PeerEvent]) { #expect(validEvents(from: events) == left) }

    @Test("The number of preserved discovery results is limited")
    func bounded() {
        let events = (0..<2_000).map { number in
            PeerEvent.descriptorsDiscovered(of: AttributeHandle(wire: UInt16(number)), .success([]))
        }
        #expect(validEvents(from: events) == Array(events.suffix(PreservedPeer.mostEvents)))
    }

    /// Returns the event that reports `count` discovered services.
    private static func database(_ count: Int) -> PeerEvent {
        .servicesDiscovered(.success((1...count).map { service(0x180D, UInt16($0), UInt16($0)) }))
    }

    @Test("The size of all preserved discovery results is limited, and only the largest database loses events")
    func octets() throws {
        let peers = (0..<4).map { PeerIdentifier(rawValue: $0) }, smallest = Self.database(1_000)
        var state = PreservedState(.central)
        for peer in peers { state.note(.connect(peer, ConnectRequest())) }
        state.note(.peer(peers[0], smallest))
        state.note(.peer(peers[0], Self.notified))
        for peer in peers.dropFirst() {
            for event in [Self.database(1_500), Self.notified] { state.note(.peer(peer, event)) }
        }
        guard case .central(let central) = state else { return }
        #expect(central.peers.reduce(0) { $0 + $1.octets } <= PreservedCentral.mostOctets)
        #expect(central.peers[0].validEvents == [smallest, Self.notified])
        #expect(central.peers.dropFirst().count { $0.validEvents == [Self.notified] } == 1)
        #expect(central.peers.dropFirst().count { $0.validEvents == [Self.database(1_500), Self.notified] } == 2)
        state.note(.peer(peers[1], Self.database(16_384)))
        guard case .central(let last) = state else { return }
        #expect(last.peers[1].validEvents.isEmpty)
        for index in [0, 2, 3] { #expect(last.peers[index] == central.peers[index]) }
        #expect(last.peers.reduce(0) { $0 + $1.octets } <= PreservedCentral.mostOctets)
    }

    @Test("A central preserves its scan and its connected and pending peers")
    func central() {
        var state = PreservedState(.central)
        #expect(state.isEmpty)
        let scan = ScanRequest(services: [.short(0x180D)]), request = ConnectRequest(reconnects: true)
        let peers = (0..<4).map { PeerIdentifier(rawValue: $0) }
        state.note(.scan(scan))
        for peer in peers { state.note(.connect(peer, request)) }
        for peer in peers { state.note(.connected(peer, link)) }
        state.note(.peer(peers[0], Self.services))
        state.note(.cancelConnection(peers[1]))
        state.note(.disconnected(peers[2], .timedOut, isReconnecting: false))
        state.note(.disconnected(peers[3], .timedOut, isReconnecting: true))
        let asked = [ClientRequest.scan(scan), .connect(peers[0], request), .connect(peers[3], request)]
        #expect(state.requests == asked)
        #expect(!state.isRelevant(.disconnected(peers[1], nil, isReconnecting: false)))
        #expect(state.isRelevant(.connected(peers[3], link)))
        state.machineRestarted()
        #expect(state.requests == asked)
        guard case .central(let central) = state else { return }
        #expect(central.peers.map(\.mtu) == [nil, nil])
        #expect(central.peers.flatMap(\.validEvents).isEmpty)
        state.note(.stateChanged(.poweredOff))
        #expect(state.isEmpty)
    }

    @Test("A peripheral preserves its services, its advertisement and its subscribers")
    func peripheral() {
        var state = PreservedState(.peripheral)
        let ids = (0..<8).map { LocalAttributeID(rawValue: $0) }
        func service(_ id: Int) -> ServiceDefinition {
            let value = CharacteristicDefinition(
                id: ids[id + 1],
                uuid: .short(0x2A37),
                properties: .notify,
                permissions: .readable
            )
            return ServiceDefinition(id: ids[id], uuid: .short(0x180D), characteristics: [value])
        }
        let central = RemoteCentral(peer: Self.peer, mtu: 23), advertisement = AdvertisingRequest(localName: "Sensor")
        for id in [0, 2, 4] { state.note(.service(.addService(service(id)))) }
        state.note(.server(.serviceAdded(ids[4], .invalidParameters)))
        state.note(.server(.startAdvertising(advertisement)))
        state.note(.server(.stopAdvertising))
        state.note(.server(.startAdvertising(advertisement)))
        state.note(.server(.advertisingStarted(.cancelled)))
        state.note(.server(.advertisingStarted(nil)))
        for id in [1, 3] { state.note(.server(.subscribed(central, to: ids[id]))) }
        state.note(.server(.centralChanged(RemoteCentral(peer: Self.peer, mtu: 247))))
        state.note(.service(.removeService(ids[0])))
        #expect(state.requests == [.service(.addService(service(2))), .server(.startAdvertising(advertisement))])
        guard case .peripheral(let preserved) = state else { return }
        #expect(preserved.subscribers.map(\.characteristic) == [ids[3]])
        #expect(preserved.subscribers.map(\.central.mtu) == [247])
        state.note(.server(.unsubscribed(central, from: ids[3])))
        state.note(.service(.removeAllServices))
        state.note(.server(.stopAdvertising))
        #expect(state.isEmpty)
    }
}
