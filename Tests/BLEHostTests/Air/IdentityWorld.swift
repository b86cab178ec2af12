import BLEController
import BLEWire

@testable import BLEHost

/// A device with a name and a value that anybody may read.
final class Lamp: App {
    static let service = BluetoothUUID.short(0x180F)
    private let name: String

    init(_ name: String, _ client: Int = 1) {
        self.name = name
        super.init(ClientID(rawValue: client), .peripheral)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            let value = CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 12),
                uuid: .short(0x2A19),
                properties: .read,
                permissions: .readable,
                value: [UInt8](name.utf8)
            )
            let id = LocalAttributeID(rawValue: 11)
            return [.service(.addService(.init(id: id, uuid: Self.service, characteristics: [value])))]
        case .server(.serviceAdded(_, nil)):
            return [.server(.startAdvertising(.init(localName: name, services: [Self.service])))]
        default: return []
        }
    }
}

/// An app that knows devices by the names in their advertisements, and reads the value of each that it is connected to.
final class Seeker: App {
    private(set) var sightings: [(name: String, report: AdvertisementReport)] = []
    private(set) var connections: [PeerIdentifier] = []
    private(set) var readings: [(peer: PeerIdentifier, value: String)] = []
    private(set) var endings: [PeerIdentifier] = []

    init() { super.init(ClientID(rawValue: 2), .central) }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.scan(ScanRequest(allowsDuplicates: true))]
        case .discovered(let report):
            if let name = report.octets.localName { sightings.append((name, report)) }
            return []
        case .connected(let peer, _):
            connections.append(peer)
            return [.peer(peer, .discoverServices(only: [Lamp.service]))]
        case .peer(let peer, .servicesDiscovered(.success(let services)), _):
            return services.prefix(1).map { .peer(peer, .discoverCharacteristics(in: $0.range, only: [])) }
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _):
            return found.prefix(1).map { .peer(peer, .read($0.value)) }
        case .peer(let peer, .valueRead(_, .success(let value)), _):
            readings.append((peer, String(decoding: value, as: UTF8.self)))
            return []
        case .disconnected(let peer, _, _), .connectFailed(let peer, _):
            endings.append(peer)
            return []
        default: return []
        }
    }
}

/// A home whose app seeks a lamp, the lamp, and a stranger that sends any identity address when it pairs.
final class IdentityWorld {
    /// Which addresses the stranger has on the air.
    enum OnAir: CaseIterable { case `public`, `static`, resolvable }

    /// What the stranger sends for its identity address.
    enum Identity: CaseIterable { case ofLamp, another }

    let town: Town
    let home: Station, lamp: Station, stranger: Station
    let seeker = Seeker(), keeper: Keeper
    let onAir: OnAir, role: LinkRole
    private let caller: Caller, strangerApp: Lamp
    private let configuration: Host.Configuration
    private static let staticAddresses = [0xF0AA_AAAA_AAAA, 0xF066_6666_6666].map { DeviceAddress($0, .random) }

    /// Creates a world whose stranger has the given role where the two pair.
    init(seed: UInt64, _ onAir: OnAir, role: LinkRole, isHomePrivate: Bool, isLampStatic: Bool, loss: Double = 0.1) {
        let user = PairingUser()
        town = Town(seed: seed, loss: loss)
        (self.onAir, self.role) = (onAir, role)
        configuration = .init(
            identifierSecret: 9,
            isPrivate: isHomePrivate,
            addressLifetime: .init(wire: 20) ?? .standard
        )
        keeper = Keeper(user, nil, .readEncryptionRequired)
        caller = Caller(user, nil)
        strangerApp = Lamp("Stranger", 7)
        home = town.add(seeker, configuration: configuration)
        town.open(keeper, at: home)
        let lampAddress = isLampStatic ? Self.staticAddresses[0] : nil
        lamp = town.add(Lamp("Lamp"), configuration: .init(identifierSecret: 10, staticAddress: lampAddress))
        stranger = town.add(
            App(ClientID(rawValue: 9), .peripheral),
            configuration: .init(
                identifierSecret: 11,
                staticAddress: onAir == .public ? nil : Self.staticAddresses[1],
                isPrivate: onAir == .resolvable,
                addressLifetime: .init(wire: 20) ?? .standard
            )
        )
        town.open(strangerApp, at: stranger)
    }

    /// The address of the lamp, which never pairs.
    var lampAddress: DeviceAddress {
        let staticAddress = lamp.host.configuration.staticAddress
        return staticAddress ?? town.identity(of: lamp)
    }

    private func address(for identity: Identity) -> DeviceAddress {
        switch identity {
        case .ofLamp: lampAddress
        case .another: DeviceAddress(0x0000_1234_5678, .public)
        }
    }

    /// Has the stranger pair by Just Works, and send this address for its own.
    ///
    /// - Returns: How the app at home knows the stranger.
    func pairStranger(as identity: Identity) -> PeerIdentifier? {
        switch role {
        case .central: town.open(caller, at: stranger)
        case .peripheral:
            guard let peer = find("Stranger") else { return nil }
            town.perform(.connect(peer, ConnectRequest()), at: home)
        }
        town.run(for: .seconds(30)) { self.stranger.host.links.handles.count == 1 }
        guard let handle = stranger.host.links.handles.first, let link = stranger.host.links[handle] else { return nil }
        stranger.host.pairings.prepare(
            handle,
            to: link.peer,
            role: link.role,
            local: link.onAir.local,
            remote: link.onAir.peer,
            identity: .init(
                address: address(for: identity),
                resolvingKey: stranger.host.privacy?.key ?? Key128(wire: 77)
            ),
            existing: nil,
            apps: LinkApps()
        )
        if role == .peripheral {
            town.run(for: .seconds(30)) { self.stranger.host.links[handle]?.phase == .up }
            town.perform(.security(.pair(link.peer)), at: stranger)
        }
        town.run(for: .seconds(60)) {
            self.home.host.peers.bonds(of: .program).count == 1
                && self.stranger.host.peers.bonds(of: .program).count == 1
        }
        return home.host.peers.bonds(of: .program).first?.peer
    }

    /// Ends all links, from whichever end they were made.
    func part() {
        if let peer = caller.peer { town.perform(.cancelConnection(peer), at: stranger, for: caller) }
        for peer in Set(seeker.connections).sorted(by: { $0.rawValue < $1.rawValue }) {
            town.perform(.cancelConnection(peer), at: home)
        }
        town.run(for: .seconds(30)) { self.home.host.links.count == 0 }
    }

    /// The peer that advertises under a name from now on; `nil` if nobody does.
    func find(_ name: String) -> PeerIdentifier? {
        let before = seeker.sightings.count
        town.run(for: .seconds(30)) { self.seeker.sightings.dropFirst(before).contains { $0.name == name } }
        return seeker.sightings.dropFirst(before).last { $0.name == name }?.report.peer
    }

    /// Connects to a peer and says what it has for a value; `nil` if there is no connection.
    func read(_ peer: PeerIdentifier) -> String? {
        let before = seeker.readings.count
        town.perform(.connect(peer, ConnectRequest()), at: home)
        town.run(for: .seconds(30)) { self.seeker.readings.count > before }
        let reading = seeker.readings.dropFirst(before).last { $0.peer == peer }
        part()
        return reading?.value
    }

    /// Has the stranger connect to the home and read what only a bonded device may; `false` if it cannot.
    func callHome() -> Bool {
        guard let peer = caller.peer else { return false }
        let before = caller.readings.count
        town.perform(.connect(peer, ConnectRequest()), at: stranger, for: caller)
        town.run(for: .seconds(30)) { self.caller.readings.count > before }
        let reading = caller.readings.dropFirst(before).last
        part()
        return reading == .success(Keeper.secret)
    }

    /// Starts the host at home again with what it left.
    func restartHome() {
        var left = KnownPeers(limit: 64)
        for record in home.remembered { _ = left.remember(record) }
        var next = configuration
        next.knownPeers = left.all
        town.restart(home, configuration: next)
        town.run(for: .seconds(5))
    }
}
