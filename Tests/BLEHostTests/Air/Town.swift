import BLEController
import BLEWire

@testable import BLEHost

/// One host with a virtual controller, and apps that answer what happens.
final class Station {
    var host: Host
    let id: ControllerID
    let app: App
    /// Further apps of the same host.
    fileprivate(set) var otherApps: [App] = []
    /// How many more packets the host sends before its controller goes away; `nil` for no end.
    var packetsLeft: Int?
    private(set) var packetCount = 0
    /// Whether the host is not told what became of the encryption of links.
    var missesEncryption = false
    fileprivate(set) var isOpen = false
    private(set) var notes: [Note] = []
    private(set) var remembered: [PeerRecord] = []
    private(set) var transportResets = 0

    /// How an Encryption Change event begins.
    fileprivate static let encryptionChange: [UInt8] = [HCI.PacketType.event.wire, HCI.EventCode.encryptionChange.wire]

    init(_ host: consuming Host, _ id: ControllerID, _ app: App) {
        self.host = host
        self.id = id
        self.app = app
    }

    private static let agent = ClientID(rawValue: 1_000)
    private var hasAgent = false

    /// Carries out a request of the app: what is about pairing in a session for that, which is opened the first time.
    fileprivate func perform(_ request: ClientRequest, at now: Instant) {
        guard case .security = request else { return host.perform(request, for: app.client, at: now) }
        if !hasAgent { host.open(Self.agent, role: .agent, at: now) }
        hasAgent = true
        host.perform(request, for: Self.agent, at: now)
    }

    /// Ends the sessions of the app.
    fileprivate func close(at now: Instant) {
        host.close(app.client, at: now)
        if hasAgent { host.close(Self.agent, at: now) }
        hasAgent = false
    }

    /// Whether the app hears this event: of its session for pairing, it only needs what is about pairing.
    fileprivate func hears(_ event: ClientEvent, for client: ClientID) -> Bool {
        if client == Self.agent, case .stateChanged = event { false } else { true }
    }

    fileprivate func count(_ note: Note) { notes.append(note) }
    fileprivate func remember(_ record: PeerRecord) { remembered.append(record) }
    fileprivate func countTransportReset() { transportResets += 1 }

    /// Counts a packet; `false` if the controller goes away instead.
    fileprivate func countPacket() -> Bool {
        if packetsLeft == 0 { return false }
        packetCount += 1
        packetsLeft = packetsLeft.map { $0 - 1 }
        return true
    }
}

/// What an app does about an event: its next requests.
class App {
    let client: ClientID
    let role: ClientRole
    private(set) var events: [ClientEvent] = []
    /// Those to peers that are answered are numbered.
    private(set) var requests: [ClientRequest] = []
    private var latest = RequestNumber.none

    init(_ client: ClientID, _ role: ClientRole) {
        self.client = client
        self.role = role
    }

    final func hear(_ event: ClientEvent) -> [ClientRequest] {
        events.append(event)
        let next = react(to: event).map { numbered($0) }
        requests += next
        return next
    }

    private func numbered(_ request: ClientRequest) -> ClientRequest {
        guard case .peer(let peer, let what, _) = request else { return request }
        if case .attribute(.writeCommand) = what { return request }
        latest = latest.next
        return .peer(peer, what, latest)
    }

    func react(to event: ClientEvent) -> [ClientRequest] { [] }
}

/// Several hosts on one air, and the time that they share.
final class Town {
    private var air: Air
    private(set) var now = Instant()
    private(set) var stations: [Station] = []
    /// How many more packets pass between hosts and controllers before everything stands still; `nil` for no end.
    var stepsLeft: Int?

    /// What was on the air, from when it is recorded.
    private(set) var records: [AirRecord] = []
    var recordsAir: Bool {
        get { air.recordsAir }
        set { air.recordsAir = newValue }
    }

    /// Whether everything stands still.
    var isHalted: Bool { stepsLeft == 0 }

    init(seed: UInt64, loss: Double = 0) { air = Air(seed: seed, conditions: .init(loss: loss)) }

    /// Adds a host with its controller, and opens the transport between them.
    func add(
        _ app: App,
        _ profile: ControllerIdentity.Profile = .core5,
        configuration: Host.Configuration = .init(identifierSecret: 9)
    ) -> Station {
        let address = DeviceAddress(0x0000_AABB_CC00 + UInt64(stations.count), .public)
        let id = air.add(ControllerIdentity(address: address, profile: profile))
        let host = Host(configuration: configuration, random: SeededGenerator(seed: UInt64(stations.count)))
        let station = Station(host, id, app)
        stations.append(station)
        station.host.open(app.client, role: app.role, at: now)
        openTransport(of: station)
        return station
    }

    func openTransport(of station: Station) {
        station.isOpen = true
        station.host.transportOpened(at: now)
        pump()
    }

    func closeTransport(of station: Station) {
        guard station.isOpen else { return }
        station.isOpen = false
        air.powerCycle(station.id, at: now)
        station.host.transportClosed(at: now)
        pump()
    }

    /// Opens a session of a further app with the host of a station.
    func open(_ app: App, at station: Station) {
        station.otherApps.append(app)
        station.host.open(app.client, role: app.role, at: now)
        pump()
    }

    /// Replaces the host of a station as a restart of its process does, with what the former one left.
    func restart(_ station: Station, configuration: Host.Configuration) {
        closeTransport(of: station)
        station.host = Host(configuration: configuration, random: SeededGenerator(seed: UInt64(station.id.rawValue)))
        for app in [station.app] + station.otherApps { station.host.open(app.client, role: app.role, at: now) }
        openTransport(of: station)
    }

    /// The address that a station keeps, and that a private one shows to nobody.
    func identity(of station: Station) -> DeviceAddress {
        DeviceAddress(0x0000_AABB_CC00 + UInt64(station.id.rawValue), .public)
    }

    /// Lets two stations hear each other no more.
    func separate(_ one: Station, _ other: Station) { air.partition = [ControllerPair(one.id, other.id)] }

    func perform(_ request: ClientRequest, at station: Station, for app: App? = nil) {
        if let app {
            station.host.perform(request, for: app.client, at: now)
        } else {
            station.perform(request, at: now)
        }
        pump()
    }

    /// Ends the session of a station's app.
    func close(_ station: Station) {
        station.close(at: now)
        pump()
    }

    /// Closes an enhanced bearer from one of its ends.
    func close(_ channel: ChannelID, at station: Station) {
        station.host.withLayers(at: now) { _, channels in
            channels.perform(.close, on: channel, for: .attributes, at: now)
        }
        station.host.wake(at: now)
        pump()
    }

    /// Lets everybody do what they say until nobody says anything more.
    func pump() {
        var isBusy = true
        while isBusy, !isHalted {
            isBusy = false
            for station in stations {
                while !isHalted, let output = station.host.next() {
                    isBusy = true
                    take(output, from: station)
                }
            }
            while !isHalted, let output = air.next() {
                isBusy = true
                if case .air(let record) = output { records.append(record) }
                guard case .hci(let packet, let id) = output,
                    let station = stations.first(where: { $0.id == id }), station.isOpen
                else { continue }
                stepsLeft = stepsLeft.map { $0 - 1 }
                if station.missesEncryption, packet.starts(with: Station.encryptionChange) { continue }
                station.host.receive(packet.span, at: now)
            }
        }
    }

    private func take(_ output: Host.Output, from station: Station) {
        switch output {
        case .packet(let packet):
            guard station.isOpen else { return }
            guard station.countPacket() else { return closeTransport(of: station) }
            stepsLeft = stepsLeft.map { $0 - 1 }
            air.receive(packet.span, from: station.id, at: now)
        case .event(let event, let client):
            if let app = station.otherApps.first(where: { $0.client == client }) {
                for request in app.hear(event) { station.host.perform(request, for: app.client, at: now) }
                return
            }
            guard station.hears(event, for: client) else { return }
            for request in station.app.hear(event) { station.perform(request, at: now) }
        case .note(let note): station.count(note)
        case .resetTransport: station.countTransportReset()
        case .remember(let record): station.remember(record)
        case .loadPeers: break
        }
    }

    /// Lets time pass until `isDone`, or until `limit` has passed.
    func run(for limit: Duration, until isDone: () -> Bool = { false }) {
        let end = now + limit
        pump()
        while !isDone() {
            let deadlines = stations.compactMap { $0.host.deadline } + [air.deadline].compactMap(\.self)
            guard let next = deadlines.min(), next <= end else { break }
            now = max(now, next)
            air.wake(at: now)
            for station in stations { station.host.wake(at: now) }
            pump()
        }
        if !isDone() { now = end }
    }
}
