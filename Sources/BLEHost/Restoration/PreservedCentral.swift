import BLEWire

/// The preserved state of a session in the central role: its scan and its connections.
package struct PreservedCentral: Equatable, Sendable {
    /// The maximum sum of ``PreservedPeer/octets`` of all peers.
    ///
    /// Above it, the oldest events of the peer with the most octets are dropped, so that a peer with a large database
    /// does not displace the events of others. The app then discovers the dropped attributes again.
    package static let mostOctets = 131_072

    package private(set) var scan: ScanRequest?
    /// The peers that the session is connected to or waits for, in the order in which it requested the connections.
    package private(set) var peers: [PreservedPeer] = []

    package init(scan: ScanRequest? = nil, peers: [PreservedPeer] = []) {
        self.scan = scan
        self.peers = peers
    }

    mutating func note(_ request: ClientRequest) {
        switch request {
        case .scan(let request, _): scan = request
        case .stopScan: scan = nil
        case .connect(let peer, let request):
            if let index = index(of: peer) {
                peers[index].request = request.asNewRequest
            } else if !request.isRenewal {
                peers.append(PreservedPeer(peer: peer, request: request))
            }
        case .cancelConnection(let peer): remove(peer)
        case .peer, .server, .service, .channel, .appPhaseChanged, .security, .showAlerts, .tester: break
        }
    }

    mutating func note(_ event: ClientEvent) {
        switch event {
        case .stateChanged(let state): if state != .poweredOn { self = Self() }
        case .connected(let peer, let link): change(peer) { $0.connected(link) }
        case .connectFailed(let peer, _), .disconnected(let peer, _, isReconnecting: false): remove(peer)
        case .disconnected(let peer, _, isReconnecting: true): change(peer) { $0.disconnected() }
        case .peer(let peer, let event, _): note(event, of: peer)
        case .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered, .server, .channel, .security, .alert,
            .tester,
            .restored:
            break
        }
    }

    private mutating func note(_ event: PeerEvent, of peer: PeerIdentifier) {
        guard let index = index(of: peer) else { return }
        let octets = peers[index].octets
        peers[index].note(event)
        guard peers[index].octets > octets else { return }
        while peers.reduce(0, { $0 + $1.octets }) > Self.mostOctets {
            guard let largest = peers.indices.max(by: { peers[$0].octets < peers[$1].octets }) else { return }
            peers[largest].dropOldestEvent()
        }
    }

    mutating func machineRestarted() {
        for index in peers.indices { peers[index].disconnected() }
    }

    /// The requests that establish this state on a host that does not have the session.
    var requests: [ClientRequest] {
        (scan.map { [.scan($0)] } ?? []) + peers.map { .connect($0.peer, $0.request) }
    }

    private mutating func change(_ peer: PeerIdentifier, _ body: (inout PreservedPeer) -> Void) {
        if let index = index(of: peer) { body(&peers[index]) }
    }

    private mutating func remove(_ peer: PeerIdentifier) { peers.removeAll { $0.peer == peer } }
    private func index(of peer: PeerIdentifier) -> Int? { peers.firstIndex { $0.peer == peer } }
}

/// The preserved state of a session's connection to one peer.
package struct PreservedPeer: Equatable, Sendable {
    /// The maximum number of events in ``validEvents``.
    ///
    /// If there are more, the oldest are dropped.
    static let mostEvents = 512

    package let peer: PeerIdentifier
    package internal(set) var request: ConnectRequest
    /// The name of the peer; `nil` if it is not known.
    package private(set) var name: String?
    /// The ATT MTU of the connection, in octets; `nil` while the peer is not connected.
    package private(set) var mtu: Int?
    /// The events that are still valid, in order: discovered attributes, subscriptions, and the parameters of the link.
    package private(set) var validEvents: [PeerEvent] = [] { didSet { octets = Self.octets(of: validEvents) } }
    /// An upper bound for the size of ``validEvents`` in a message or file, in octets.
    package private(set) var octets = 0

    init(peer: PeerIdentifier, request: ConnectRequest) {
        self.init(peer: peer, request: request, name: nil, mtu: nil, validEvents: [])
    }

    /// Creates the state from stored values.
    ///
    /// If there are more than ``mostEvents`` in `validEvents`, only the last ones are used.
    package init(peer: PeerIdentifier, request: ConnectRequest, name: String?, mtu: Int?, validEvents: [PeerEvent]) {
        self.peer = peer
        self.request = request
        self.name = name
        self.mtu = mtu
        self.validEvents = validEvents.suffix(Self.mostEvents)
        octets = Self.octets(of: self.validEvents)
    }

    private static func octets(of events: [PeerEvent]) -> Int { events.reduce(0) { $0 + $1.mostOctets } }

    mutating func dropOldestEvent() { if !validEvents.isEmpty { validEvents.removeFirst() } }

    mutating func connected(_ link: LinkParameters) {
        mtu = link.mtu
        if let name = link.name { self.name = name }
    }

    mutating func disconnected() {
        mtu = nil
        validEvents = []
    }

    mutating func note(_ event: PeerEvent) {
        switch event {
        case .mtuChanged(let new): if mtu != nil { mtu = new }
        case .nameChanged(let new): name = new
        case .linkChanged: replace(with: event) { if case .linkChanged = $0 { true } else { false } }
        case .servicesDiscovered(.success(let found)), .includedServicesDiscovered(_, .success(let found)):
            for place in places(replacedBy: found) { forget(place) }
            learn(event)
        case .characteristicsDiscovered(_, .success(let found)):
            for known in characteristics(replacedBy: found) { forget(known) }
            learn(event)
        case .descriptorsDiscovered(_, .success): learn(event)
        case .subscriptionChanged(let handle, _, _):
            replace(with: event) { if case .subscriptionChanged(handle, _, _) = $0 { true } else { false } }
        case .servicesModified(let range): forget(range)
        case .databaseForgotten(nil): forget(.all)
        case .tuned, .rssiRead, .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered,
            .descriptorsDiscovered, .valueRead, .valueWritten, .writeCommandsTaken, .valueNotified,
            .databaseForgotten, .channelOpened:
            break
        }
    }

    private mutating func learn(_ event: PeerEvent) {
        guard !validEvents.contains(event) else { return }
        validEvents.append(event)
        if validEvents.count > Self.mostEvents { validEvents.removeFirst() }
    }

    private mutating func replace(with event: PeerEvent, where isOlder: (PeerEvent) -> Bool) {
        validEvents.removeAll(where: isOlder)
        learn(event)
    }

    /// Returns the ranges of the known services that overlap a service in `found`, but are not equal to it.
    private func places(replacedBy found: [DiscoveredService]) -> [AttributeHandleRange] {
        validEvents.flatMap(\.services).filter { known in
            found.contains { new in
                new.range.overlaps(known.range) && (new.range != known.range || new.uuid != known.uuid)
            }
        }.map(\.range)
    }

    /// Returns the known characteristics that overlap a characteristic in `found`, but are not equal to it.
    private func characteristics(replacedBy found: [DiscoveredCharacteristic]) -> [DiscoveredCharacteristic] {
        validEvents.flatMap(\.characteristics).filter { known in
            found.contains { $0 != known && $0.declaration <= known.end && known.declaration <= $0.end }
        }
    }

    private mutating func forget(_ characteristic: DiscoveredCharacteristic) {
        let range = AttributeHandleRange(characteristic.value, characteristic.end)
        validEvents = validEvents.compactMap { event in
            switch event {
            case .characteristicsDiscovered(let service, .success(let found)):
                .characteristicsDiscovered(in: service, .success(found.filter { $0 != characteristic }))
            case .descriptorsDiscovered(let handle, _), .subscriptionChanged(let handle, _, _):
                range?.contains(handle) ?? false ? nil : event
            default: event
            }
        }
    }

    /// Drops everything that is known about attributes in `range`.
    private mutating func forget(_ range: AttributeHandleRange) {
        validEvents = validEvents.compactMap { event in
            switch event {
            case .servicesDiscovered(.success(let found)):
                .servicesDiscovered(.success(found.filter { !$0.range.overlaps(range) }))
            case .includedServicesDiscovered(let owner, .success(let found)):
                owner.overlaps(range)
                    ? nil : .includedServicesDiscovered(in: owner, .success(found.filter { !$0.range.overlaps(range) }))
            case .characteristicsDiscovered(let service, _): service.overlaps(range) ? nil : event
            case .descriptorsDiscovered(let handle, _), .subscriptionChanged(let handle, _, _):
                range.contains(handle) ? nil : event
            default: event
            }
        }
    }
}

extension PeerEvent {
    /// An upper bound for the size of the event in a message or file, in octets, if the event is preserved.
    fileprivate var mostOctets: Int {
        let attributes =
            switch self {
            case .servicesDiscovered(.success(let found)), .includedServicesDiscovered(_, .success(let found)):
                found.count
            case .characteristicsDiscovered(_, .success(let found)): found.count
            case .descriptorsDiscovered(_, .success(let found)): found.count
            // The details of a link are twice as long as an attribute.
            case .linkChanged: 2
            default: 0
            }
        return 32 * (1 + attributes)
    }

    /// The services that the event reports as discovered; empty for other events.
    fileprivate var services: [DiscoveredService] {
        switch self {
        case .servicesDiscovered(.success(let found)), .includedServicesDiscovered(_, .success(let found)): found
        default: []
        }
    }

    /// The characteristics that the event reports as discovered; empty for other events.
    fileprivate var characteristics: [DiscoveredCharacteristic] {
        if case .characteristicsDiscovered(_, .success(let found)) = self { found } else { [] }
    }
}
