import BLEHost
import BLEWire

/// Two attribute layers joined by their packets: a central with an app, and a peripheral with another.
///
/// Packets cross at once and in order; time passes only when it is told to.
struct AttributePair {
    static let app = ClientID(rawValue: 1)
    static let server = ClientID(rawValue: 2)
    static let link = ConnectionHandle(wire: 0x0040)!
    static let centralPeer = PeerIdentifier(rawValue: 0xC)
    static let peripheralPeer = PeerIdentifier(rawValue: 0xF)

    /// One end, and what came out of it.
    struct End {
        var layer: AttributeLayer
        /// Whether the controller takes packets as soon as they are there.
        var takesReceipts = true
        /// Packets that it sent, not yet delivered.
        var sent: [[UInt8]] = []
        /// All packets that it ever sent.
        var trace: [[UInt8]] = []
        var events: [(client: ClientID, event: ClientEvent)] = []
        /// Everything else that it wanted done.
        var others: [AttributeLayer.Output] = []

        mutating func drain(at now: Instant) {
            while let output = layer.next() {
                switch output {
                case .send(let pdu, _, let receipt):
                    sent.append(pdu.payload)
                    trace.append(pdu.payload)
                    if let receipt, takesReceipts { layer.sent(receipt, at: now) }
                case .event(let event, let client): events.append((client, event))
                case .bearer, .mtuSettled, .abandon, .used, .nameRead, .servicesKnown, .secure, .bondChanged,
                    .confirmed,
                    .note:
                    others.append(output)
                }
            }
        }
    }

    var central: End
    var peripheral: End
    var now = Instant()
    /// What the app of the peripheral does with each of its events.
    var serve: (ServerEvent) -> [ServiceRequest] = { _ in [] }

    init(centralMTU: Int = 517, peripheralMTU: Int = 517, name: String = "Sensor", limits: Limits = Limits()) {
        central = End(layer: AttributeLayer(configuration: .init(preferredMTU: centralMTU, limits: limits)))
        peripheral = End(
            layer: AttributeLayer(
                configuration: .init(preferredMTU: peripheralMTU, limits: limits),
                database: .plain(deviceName: name, appearance: 0x0341)
            )
        )
    }

    /// Brings the link up, with the app attached, and lets the MTU exchange happen.
    mutating func connect() {
        peripheral.layer.linkUp(Self.link, peer: Self.centralPeer, role: .peripheral, at: now)
        central.layer.linkUp(Self.link, peer: Self.peripheralPeer, role: .central, at: now)
        settle()
        central.layer.attach(Self.app, to: Self.link)
    }

    /// Delivers packets and events until nothing moves any more.
    mutating func settle() {
        var handled = peripheral.events.count
        repeat {
            peripheral.drain(at: now)
            while handled < peripheral.events.count {
                let (client, event) = peripheral.events[handled]
                handled += 1
                guard case .server(let event) = event else { continue }
                for request in serve(event) { peripheral.layer.perform(request, for: client, at: now) }
            }
            peripheral.drain(at: now)
            central.drain(at: now)
            deliver()
        } while !central.sent.isEmpty || !peripheral.sent.isEmpty || handled < peripheral.events.count
    }

    /// Delivers at most this many packets, and returns whether there are no more.
    mutating func settle(atMost limit: Int) -> Bool {
        var handled = peripheral.events.count
        for _ in 0..<limit {
            central.drain(at: now)
            peripheral.drain(at: now)
            if !central.sent.isEmpty {
                let pdu = central.sent.removeFirst()
                peripheral.layer.receive(pdu.span, on: Self.link, at: now)
            } else if !peripheral.sent.isEmpty {
                let pdu = peripheral.sent.removeFirst()
                central.layer.receive(pdu.span, on: Self.link, at: now)
            }
            peripheral.drain(at: now)
            while handled < peripheral.events.count {
                let (client, event) = peripheral.events[handled]
                handled += 1
                guard case .server(let event) = event else { continue }
                for request in serve(event) { peripheral.layer.perform(request, for: client, at: now) }
            }
        }
        central.drain(at: now)
        peripheral.drain(at: now)
        return central.sent.isEmpty && peripheral.sent.isEmpty
    }

    private mutating func deliver() {
        let toPeripheral = central.sent, toCentral = peripheral.sent
        (central.sent, peripheral.sent) = ([], [])
        for pdu in toPeripheral { peripheral.layer.receive(pdu.span, on: Self.link, at: now) }
        for pdu in toCentral { central.layer.receive(pdu.span, on: Self.link, at: now) }
        central.drain(at: now)
        peripheral.drain(at: now)
    }

    mutating func advance(by duration: Duration) {
        now = now + duration
        central.layer.wake(at: now)
        peripheral.layer.wake(at: now)
        settle()
    }

    /// Has the app ask something, and returns all that it hears until nothing moves any more.
    mutating func ask(_ request: AttributeRequest, for client: ClientID = app) -> [PeerEvent] {
        let before = central.events.count
        central.layer.perform(request, on: Self.link, for: Requester(client), at: now)
        settle()
        return central.events[before...].filter { $0.client == client }.compactMap { $0.event.peerEvent }
    }

    /// Has the app of the peripheral ask something, and returns all that it hears until nothing moves any more.
    @discardableResult
    mutating func host(_ request: ServiceRequest, for client: ClientID = server) -> [ServerEvent] {
        let before = peripheral.events.count
        peripheral.layer.perform(request, for: client, at: now)
        settle()
        return peripheral.events[before...].filter { $0.client == client }.compactMap { $0.event.serverEvent }
    }

    /// What the peripheral's app has heard of since it was asked last.
    mutating func serverEvents() -> [ServerEvent] {
        defer { peripheral.events = [] }
        return peripheral.events.compactMap { $0.event.serverEvent }
    }
}

extension ClientEvent {
    var peerEvent: PeerEvent? {
        if case .peer(_, let event, _) = self { event } else { nil }
    }

    var serverEvent: ServerEvent? {
        if case .server(let event) = self { event } else { nil }
    }
}
