import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import Dispatch
import Testing

/// An app that talks to a host itself, in one session of each role.
final class OwnedApp: Sendable {
    private let sessions: [(role: ClientRole, session: any HostSession)]
    private let record = Record()

    private final class Record: Sendable {
        let events = Locked<[ClientEvent]>([])
    }

    init(_ owner: ClientOwner, on link: any HostLink) {
        let record = record, queue = DispatchQueue(label: "app")
        sessions = EveryRequest.roles.map { role in
            (
                role,
                link.open(role, for: owner, .each(on: queue) { event in record.events.withLock { $0.append(event) } })
            )
        }
    }

    var events: [ClientEvent] { record.events.withLock(\.self) }

    func forget() { record.events.withLock { $0 = [] } }

    /// Makes a request in each session that may.
    func ask(_ request: ClientRequest) {
        let roles = EveryRequest.roles(for: request)
        for one in sessions where roles.contains(one.role) { one.session.send(request) }
    }

    func heard(_ isMeant: (ClientEvent) -> Bool) -> Bool { events.contains(where: isMeant) }
}

/// A host that apps of two users share, and what one of them has: a link to a lamp and a bond with it; services,
/// a channel and a central, which waits for the answer to a read.
final class OwnershipBench {
    static let service = BluetoothUUID.short(0x180D), value = LocalAttributeID(rawValue: 2)
    static let serviceID = LocalAttributeID(rawValue: 1)

    static let owner = ClientOwner(user: 1_000, process: 1, isAdministrator: false)
    static let neighbour = ClientOwner(user: 1_000, process: 2, isAdministrator: false)
    static let stranger = ClientOwner(user: 2_000, process: 3, isAdministrator: false)
    static let administrator = ClientOwner(user: 0, process: 4, isAdministrator: true)

    let world: World
    let hub: Machine
    let own: OwnedApp
    /// The app of the central.
    let phone: OwnedApp
    private(set) var lamp = PeerIdentifier(rawValue: 0)
    /// What the phone is called on the hub, and the hub on the phone.
    private(set) var central = PeerIdentifier(rawValue: 0), server = PeerIdentifier(rawValue: 0)
    private(set) var transaction = ServerTransaction(rawValue: 0)
    private(set) var psm = SPSM.none
    private(set) var channel = ChannelID(rawValue: 0), lampValue = AttributeHandle.none
    private var handle = AttributeHandle.none

    init(seed: UInt64) {
        world = World(seed: seed)
        hub = world.machine("hub")
        let value = SimulatedPeripheral.Characteristic("2A19", [.read, .write], value: [1])
        // A device pairs without a user only if it has a value that needs encryption.
        let secret = SimulatedPeripheral.Characteristic("FFE1", [.read], value: [2], isProtected: true)
        let services = [SimulatedPeripheral.Service("180F", [value]), .init("FFE0", [secret])]
        world.place(SimulatedPeripheral(name: "Lamp", at: .init(x: 1), services: services))
        own = OwnedApp(Self.owner, on: hub)
        phone = OwnedApp(.program, on: world.machine("phone", at: .init(x: 2)))
    }

    func app(_ owner: ClientOwner) -> OwnedApp { OwnedApp(owner, on: hub) }

    /// Lets time pass until an app has heard something, which is returned.
    func first<Found>(_ app: OwnedApp, _ find: (ClientEvent) -> Found?) async throws -> Found {
        _ = await world.advance(atMost: .seconds(30)) { app.events.contains { find($0) != nil } }
        return try #require(app.events.lazy.compactMap(find).first)
    }

    func isOn(_ app: OwnedApp) async throws {
        _ = try await first(app) { if case .stateChanged(.poweredOn) = $0 { true } else { nil } }
    }

    /// Connects an app to the device whose name, or service, is advertised.
    func connect(_ app: OwnedApp, _ isMeant: @escaping (AdvertisementReport) -> Bool) async throws -> PeerIdentifier {
        try await isOn(app)
        app.ask(.scan(ScanRequest()))
        let peer = try await first(app) { event -> PeerIdentifier? in
            if case .discovered(let report) = event, isMeant(report) { report.peer } else { nil }
        }
        app.ask(.stopScan)
        app.ask(.connect(peer, ConnectRequest()))
        _ = try await first(app) { if case .connected(peer, _) = $0 { true } else { nil } }
        return peer
    }

    /// Connects the app to the lamp.
    func connectLamp(_ app: OwnedApp) async throws -> PeerIdentifier { try await connect(app) { $0.name == "Lamp" } }

    /// Has the app own all that it can.
    func begin() async throws {
        lamp = try await connectLamp(own)
        lampValue = try await found(by: own, at: lamp).value
        own.ask(.security(.pair(lamp)))
        _ = try await first(own) { if case .security(.paired(_, _, isBonded: true)) = $0 { true } else { nil } }
        try await publish()
        try await connectPhone()
    }

    /// Has the app publish a service and a channel, and advertise.
    func publish(
        permissions: AttributePermissions = [.readable, .writeable],
        value: [UInt8]? = nil
    ) async throws {
        try await isOn(own)
        let value = CharacteristicDefinition(
            id: Self.value,
            uuid: .short(0x2A37),
            properties: value == nil ? [.read, .write, .notify] : .read,
            permissions: permissions,
            value: value
        )
        own.ask(.service(.addService(.init(id: Self.serviceID, uuid: Self.service, characteristics: [value]))))
        own.ask(.server(.startAdvertising(.init(localName: "Hub", services: [Self.service]))))
        own.ask(.server(.publishChannel(encryptionRequired: false)))
        psm = try await first(own) { if case .server(.channelPublished(let psm, nil)) = $0 { psm } else { nil } }
    }

    /// Has the phone connect, subscribe, open the channel and read.
    func connectPhone() async throws {
        server = try await connect(phone) { $0.name == "Hub" }
        let found = try await found(by: phone, at: server)
        handle = found.value
        let descriptors = AttributeHandleRange(found.value, found.end)?.after(found.value)
        phone.ask(.peer(server, .subscribe(.notifications, to: handle, in: descriptors)))
        central = try await first(own) { if case .server(.subscribed(let c, _)) = $0 { c.peer } else { nil } }
        phone.ask(.peer(server, .openChannel(psm)))
        channel = try await first(own) { if case .server(.channelOpened(let c, _)) = $0 { c.id } else { nil } }
        try await read()
    }

    /// Has the phone read the first value of the service.
    func readFirst(_ server: PeerIdentifier) async throws {
        let found = try await found(by: phone, at: server)
        phone.ask(.peer(server, .read(found.value)))
    }

    /// Has the phone read, and learns what the app is to answer.
    func read() async throws {
        own.forget()
        phone.forget()
        phone.ask(.peer(server, .read(handle)))
        transaction = try await first(own) {
            if case .server(.readRequested(let transaction, _, _, _)) = $0 { transaction } else { nil }
        }
    }

    /// The first characteristic of the service that an app finds at a peer.
    private func found(by app: OwnedApp, at peer: PeerIdentifier) async throws -> DiscoveredCharacteristic {
        app.ask(.peer(peer, .discoverServices(only: [Self.service, .short(0x180F)])))
        let range = try await first(app) {
            if case .peer(peer, .servicesDiscovered(.success(let found)), _) = $0 { found.first?.range } else { nil }
        }
        app.ask(.peer(peer, .discoverCharacteristics(in: range, only: [])))
        return try await first(app) {
            if case .peer(peer, .characteristicsDiscovered(_, .success(let found)), _) = $0 {
                found.first
            } else {
                nil
            }
        }
    }

    /// The same request about what the app owns.
    func aimed(_ request: ClientRequest) -> ClientRequest {
        switch request {
        case .scan, .stopScan, .showAlerts, .tester: request
        case .appPhaseChanged: .appPhaseChanged(to: .suspended)
        case .connect: .connect(lamp, ConnectRequest())
        case .cancelConnection: .cancelConnection(lamp)
        case .peer(_, let request, _): .peer(lamp, aimed(request))
        case .server(let request): .server(aimed(request))
        case .service(let request): .service(aimed(request))
        case .channel(_, let request): .channel(channel, aimed(request))
        case .security(let request): .security(aimed(request))
        }
    }

    private func aimed(_ request: PeerRequest) -> PeerRequest {
        switch request {
        case .attribute(.read): .read(lampValue)
        case .attribute(.readWithoutPairing): .attribute(.readWithoutPairing(lampValue))
        case .attribute(.write): .write(lampValue, [9])
        case .attribute(.writePart): .attribute(.writePart(lampValue, [9], offset: 1))
        case .attribute(.writeCommand): .writeCommand(lampValue, [9])
        case .attribute(.subscribe): .subscribe(.notifications, to: lampValue, in: nil)
        case .link(.tune): .tune(.dataLength(octets: 27))
        case .openChannel: .openChannel(SPSM(wire: 0x80))
        case .attribute(.discoverServices), .attribute(.discoverIncludedServices), .attribute(.discoverCharacteristics),
            .attribute(.discoverDescriptors), .attribute(.forgetDatabase), .link(.readRSSI):
            request
        }
    }

    private func aimed(_ request: ServerRequest) -> ServerRequest {
        switch request {
        case .startAdvertising: .startAdvertising(.init(localName: "Other"))
        case .stopAdvertising, .publishChannel: request
        case .setLatency: .setLatency(central, .high)
        case .disconnect: .disconnect(central)
        case .unpublishChannel: .unpublishChannel(psm)
        }
    }

    private func aimed(_ request: ServiceRequest) -> ServiceRequest {
        switch request {
        case .addService: .addService(.init(id: Self.serviceID, uuid: Self.service))
        case .removeService: .removeService(Self.serviceID)
        case .removeAllServices: request
        case .respond: .respond(transaction, .success([66]))
        case .update: .update(Self.value, [66], to: nil)
        case .reportConfirmations: .reportConfirmations(of: Self.value)
        }
    }

    private func aimed(_ request: ChannelRequest) -> ChannelRequest {
        switch request {
        case .send: .send([66])
        case .consumed: .consumed(1)
        case .resize: .resize(mtu: 64, mps: 64)
        case .close: .close
        }
    }

    private func aimed(_ request: SecurityRequest) -> SecurityRequest {
        switch request {
        case .setAgent: .setAgent(.keyboardDisplay)
        case .answer: .answer(lamp, .cancel)
        case .pair: .pair(lamp)
        case .setPolicy:
            .setPolicy(.init(requiresSecureConnections: true, leastKeySize: 16, keepsBonds: false), everywhere: true)
        case .makeOutOfBandData, .listBonds: request
        case .takeOutOfBandData:
            .takeOutOfBandData(.init(confirm: Key128(wire: 1), random: Key128(wire: 2)), from: lamp)
        case .takeTemporaryKey: .takeTemporaryKey(Key128(wire: 1), with: nil)
        case .removeBond: .removeBond(lamp)
        }
    }
}
