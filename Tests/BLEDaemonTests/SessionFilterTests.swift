import BLEHost
import BLEWire
import Testing

@testable import BLEDaemon

@Suite("Filtering between an app and a host")
struct SessionFilterTests {
    private static let peer = PeerIdentifier(rawValue: 1)
    private static let heartRate = BluetoothUUID.short(0x180D), battery = BluetoothUUID.short(0x180F)
    private static let beats = AttributeHandle(wire: 7), level = AttributeHandle(wire: 12)
    private static let narrow = Grant(services: [battery], origin: "P")
    /// What an app publishes.
    private static let services = [
        ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: heartRate),
        ServiceDefinition(id: LocalAttributeID(rawValue: 2), uuid: battery),
    ]

    private func service(_ uuid: BluetoothUUID, _ start: UInt16, _ end: UInt16) throws -> DiscoveredService {
        let range = try #require(AttributeHandleRange(AttributeHandle(wire: start), AttributeHandle(wire: end)))
        return DiscoveredService(uuid: uuid, range: range, isPrimary: true)
    }

    /// The gate of an app that may do everything, and hears of two values of a peer.
    private func openGate() throws -> SessionFilter {
        var gate = SessionFilter(Grant(origin: "P"), for: .central)
        let found = [try service(Self.heartRate, 6, 9), try service(Self.battery, 10, 14)]
        for event: PeerEvent in [
            .servicesDiscovered(.success(found)), .subscriptionChanged(Self.beats, .notifications, nil),
            .subscriptionChanged(Self.level, .notifications, nil), .valueNotified(Self.beats, [1]),
        ] {
            #expect(gate.filter(.peer(Self.peer, event)) == .peer(Self.peer, event))
        }
        #expect(gate.takeWithdrawals().isEmpty)
        return gate
    }

    @Test("A relaunched app receives peer addresses only if it may see them", arguments: [true, false])
    func restoredAddress(isSeen: Bool) throws {
        let details = LinkDetails(address: DeviceAddress(0xC0FF_EE00_0001, .random))
        let validEvents: [PeerEvent] = [.mtuChanged(23), .linkChanged(details)]
        let kept = PreservedPeer(
            peer: Self.peer,
            request: ConnectRequest(),
            name: nil,
            mtu: 23,
            validEvents: validEvents
        )
        var gate = SessionFilter(Grant(seesAddresses: isSeen, origin: "P"), for: .central)
        guard case .restored(.central(let central)) = gate.filter(.restored(.central(PreservedCentral(peers: [kept])))),
            case .linkChanged(let told)? = central.peers.first?.validEvents.last
        else {
            Issue.record("nothing is restored")
            return
        }
        #expect((told.address == details.address) == isSeen)
        #expect(isSeen || told.address == .none)
    }

    @Test("A narrower grant removes the services that it does not name, and leaves the others unchanged")
    func narrowed() throws {
        var gate = try openGate()
        let lost = try service(Self.heartRate, 6, 9).range
        #expect(gate.apply(Self.narrow) == [.peer(Self.peer, .servicesModified(lost))])
        #expect(gate.takeWithdrawals() == [.peer(Self.peer, .subscribe(.none, to: Self.beats, in: nil))])
        func heard(_ event: PeerEvent) -> ClientEvent? { gate.filter(.peer(Self.peer, event)) }
        #expect(heard(.servicesModified(lost)) == .peer(Self.peer, .servicesModified(lost)))
        #expect(heard(.valueNotified(Self.beats, [1])) == nil)
        #expect(heard(.valueNotified(Self.level, [2])) == .peer(Self.peer, .valueNotified(Self.level, [2])))
        #expect(gate.refusal(of: .peer(Self.peer, .read(Self.level))) == nil)
        let refusal = gate.refusal(of: .peer(Self.peer, .read(Self.beats)))
        #expect(refusal == "P does not allow the service with handle \(Self.beats)")
        let channel = gate.refusal(of: .peer(Self.peer, .openChannel(SPSM(wire: 0x80))))
        #expect(channel == "P allows only certain services, and no L2CAP channels")
    }

    @Test("The name prefix of a scan can have at most 248 octets", arguments: [248, 249])
    func namePrefix(count: Int) {
        let gate = SessionFilter(Grant(origin: "P"), for: .central)
        let scan = ScanRequest(namePrefix: String(repeating: "n", count: count))
        #expect((gate.refusal(of: .scan(scan)) == nil) == (count <= SessionFilter.mostNamePrefix))
    }

    @Test("A scan can look for at most 512 services", arguments: [512, 513])
    func scan(count: Int) {
        let gate = SessionFilter(Grant(origin: "P"), for: .central), limit = SessionFilter.mostScannedServices
        let services = (0..<count).map { BluetoothUUID.short(UInt16($0)) }
        for scan in [ScanRequest(services: services), ScanRequest(solicitedServices: services)] {
            #expect((gate.refusal(of: .scan(scan)) == nil) == (count <= limit))
        }
    }

    @Test("Requests under way when the grant becomes narrower fail")
    func underWay() throws {
        var gate = try openGate()
        _ = gate.apply(Self.narrow)
        _ = gate.takeWithdrawals()
        let number = RequestNumber(rawValue: 5), range = try service(Self.heartRate, 6, 9).range
        func heard(_ event: PeerEvent) -> ClientEvent? { gate.filter(.peer(Self.peer, event, answering: number)) }
        func told(_ event: PeerEvent) -> ClientEvent { .peer(Self.peer, event, answering: number) }
        #expect(heard(.valueRead(Self.beats, .success([1]))) == told(.valueRead(Self.beats, .failure(.notFound))))
        #expect(
            heard(.characteristicsDiscovered(in: range, .success([])))
                == told(.characteristicsDiscovered(in: range, .failure(.notFound)))
        )
        #expect(
            heard(.subscriptionChanged(Self.beats, .notifications, nil))
                == told(.subscriptionChanged(Self.beats, .none, .notFound))
        )
        let channel = OpenedChannel(id: ChannelID(rawValue: 3), psm: SPSM(wire: 0x80), outgoingMTU: 64, incomingMTU: 64)
        #expect(
            heard(.channelOpened(channel.psm, .success(channel)))
                == told(.channelOpened(channel.psm, .failure(.notSupported)))
        )
        let withdrawn: [ClientRequest] = [
            .peer(Self.peer, .subscribe(.none, to: Self.beats, in: nil)), .channel(channel.id, .close),
        ]
        #expect(gate.takeWithdrawals() == withdrawn)
    }

    @Test("A narrower grant withdraws the services and closes the channels that it does not allow")
    func holdings() {
        var gate = SessionFilter(Grant(origin: "P"), for: .peripheral)
        for service in Self.services {
            gate.note(.service(.addService(service)))
            _ = gate.filter(.server(.serviceAdded(service.id, nil)))
        }
        let psm = SPSM(wire: 0x80), central = RemoteCentral(peer: Self.peer, mtu: 23)
        let channel = OpenedChannel(id: ChannelID(rawValue: 3), psm: psm, outgoingMTU: 64, incomingMTU: 64)
        _ = gate.filter(.server(.channelPublished(psm, nil)))
        _ = gate.filter(.server(.channelOpened(channel, by: central)))
        #expect(gate.takeWithdrawals().isEmpty)
        #expect(gate.apply(Self.narrow).isEmpty)
        let withdrawn: [ClientRequest] = [
            .service(.removeService(LocalAttributeID(rawValue: 1))), .server(.unpublishChannel(psm)),
            .channel(channel.id, .close),
        ]
        #expect(gate.takeWithdrawals() == withdrawn)
        #expect(gate.filter(.channel(channel.id, .received([1]))) == nil)
        #expect(gate.filter(.channel(channel.id, .closed(nil))) == .channel(channel.id, .closed(nil)))
        #expect(gate.refusal(of: .channel(channel.id, .send([1]))) != nil)
        #expect(gate.refusal(of: .channel(channel.id, .close)) == nil)
    }

    @Test(
        "A grant that forbids a published channel withdraws it, if the host still has it",
        arguments: [(HostState.poweredOff, true), (.resetting, false)]
    )
    func published(state: HostState, isThere: Bool) {
        var gate = SessionFilter(Grant(origin: "P"), for: .peripheral)
        let psm = SPSM(wire: 0x80)
        _ = gate.filter(.server(.channelPublished(psm, nil)))
        _ = gate.filter(.stateChanged(state))
        _ = gate.filter(.stateChanged(.poweredOn))
        _ = gate.apply(Self.narrow)
        #expect(gate.takeWithdrawals() == (isThere ? [.server(.unpublishChannel(psm))] : []))
    }

    @Test("Published services are restored as far as the grant allows, and the rest are withdrawn")
    func restoredServices() {
        let services = Self.services
        var gate = SessionFilter(Self.narrow, for: .peripheral)
        let told = gate.filter(.restored(.peripheral(PreservedPeripheral(services: services))))
        #expect(told == .restored(.peripheral(PreservedPeripheral(services: [services[1]]))))
        #expect(gate.takeWithdrawals() == [.service(.removeService(services[0].id))])
    }

    @Test("A grant that forbids a waiting session's published services withdraws them")
    func waiting() {
        let host = ScriptedHost(), session = RemoteAppSession {}
        session.open(.peripheral, for: .program, on: host)
        var record = KeptRecord()
        record.state = .peripheral(PreservedPeripheral(services: Self.services))
        let app = KeptSessionEntry(record, session)
        app.apply(Grant(origin: "P"))
        #expect(host.requests.isEmpty)
        app.apply(Self.narrow)
        #expect(host.requests == [.service(.removeService(Self.services[0].id))])
        #expect(app.takeRecord().state == .peripheral(PreservedPeripheral(services: [Self.services[1]])))
    }
}
