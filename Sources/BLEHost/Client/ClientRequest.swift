package import BLEWire

/// What a client asks of the host.
///
/// The facade speaks nothing else, in this process or over a socket. Requests are carried out in the order in which
/// they are made; each that has an answer gets exactly one, also when the link, the controller or the radio goes away.
package enum ClientRequest: Equatable, Sendable {
    /// Scan, or go on scanning with other parameters; ``ClientEvent/discovered(_:)`` follows. A number that is not 0
    /// has ``ClientEvent/scanBegan(_:)`` tell it before.
    case scan(ScanRequest, number: UInt32 = 0)
    case stopScan
    /// Connect however long it takes; answered by ``ClientEvent/connected(_:_:)``, or rarely
    /// ``ClientEvent/connectFailed(_:_:)``.
    case connect(PeerIdentifier, ConnectRequest)
    /// Give up a connection, pending or established; answered by ``ClientEvent/disconnected(_:_:)`` without a failure.
    case cancelConnection(PeerIdentifier)
    /// Something that needs a connection of this client to the peer; what answers it has its number.
    case peer(PeerIdentifier, PeerRequest, RequestNumber = .none)
    /// Something about what this host is as a peripheral.
    case server(ServerRequest)
    /// Something about the services that this client publishes.
    case service(ServiceRequest)
    /// Something that needs a channel of this client that is open.
    case channel(ChannelID, ChannelRequest)
    /// Something about pairing and bonds.
    case security(SecurityRequest)
    /// Something that only test suites ask for.
    case tester(TesterRequest)
    /// The app of this client is used by somebody, or not any more.
    case appMoved(to: AppPhase)
    /// This client tells the user what apps that sleep do not hear; ``ClientEvent/alert(_:)`` follows, where apps of
    /// other processes share the host.
    case showAlerts

    /// Whether it can change what the controller does by itself: scan, connect, advertise.
    var steersController: Bool {
        switch self {
        case .scan, .stopScan, .connect, .cancelConnection, .appMoved, .server(.startAdvertising),
            .server(.stopAdvertising), .tester:
            true
        case .peer, .server, .service, .channel, .security, .showAlerts: false
        }
    }
}

/// How far an app is in use, which decides what the radio does for it.
package enum AppPhase: Equatable, Sendable {
    /// In use: everything is done as asked for.
    case foreground
    /// Not in use but at work: it finds only services that it names, each peer once, and advertises no name and its
    /// services where only those find them who look for them.
    case background
    /// Not at work: it finds nobody and does not advertise.
    case suspended
}

/// What a client wants to hear of while it scans.
package struct ScanRequest: Equatable, Sendable {
    /// Services of which a peer must advertise at least one; every peer if empty.
    package var services: [BluetoothUUID]
    /// Services of which a peer may solicit one instead of advertising it.
    package var solicitedServices: [BluetoothUUID]
    /// Whether to report every advertisement, instead of each peer once.
    package var allowsDuplicates: Bool
    /// The weakest signal that is worth a report, in dBm; every one if `nil`.
    package var minimumRSSI: Int8?
    /// What the advertised name must begin with; any name, or none, if `nil`.
    package var namePrefix: String?

    package init(
        services: [BluetoothUUID] = [],
        solicitedServices: [BluetoothUUID] = [],
        allowsDuplicates: Bool = false,
        minimumRSSI: Int8? = nil,
        namePrefix: String? = nil
    ) {
        self.services = services
        self.solicitedServices = solicitedServices
        self.allowsDuplicates = allowsDuplicates
        self.minimumRSSI = minimumRSSI
        self.namePrefix = namePrefix
    }
}

/// How a client wants to be connected.
package struct ConnectRequest: Equatable, Sendable {
    /// How long to wait before the first attempt.
    package var startDelay: Duration
    /// Whether to connect again by itself when the link is lost.
    package var reconnects: Bool
    /// How long to try before ``ClientEvent/connectFailed(_:_:)`` says that it took too long; for ever if `nil`.
    package var timeout: Duration?
    /// Which address to show the peer, or `nil` for what this host shows otherwise.
    ///
    /// Of several that wait, the first decides.
    package var ownAddress: OwnAddressKind?
    /// What the user is to be told while the app sleeps.
    package var alerts: ConnectionAlerts
    /// Whether this only takes the place of an earlier request: then it has no answer, and comes to nothing if there is
    /// no connection any more and none is waited for.
    package var isRenewal = false

    package init(
        startDelay: Duration = .zero,
        reconnects: Bool = false,
        timeout: Duration? = nil,
        ownAddress: OwnAddressKind? = nil,
        alerts: ConnectionAlerts = []
    ) {
        self.startDelay = startDelay
        self.reconnects = reconnects
        self.timeout = timeout
        self.ownAddress = ownAddress
        self.alerts = alerts
    }

    /// The same, to take the place of an earlier request.
    package var renewal: Self {
        var request = self
        request.isRenewal = true
        return request
    }

    /// The same as a request of its own.
    package var standing: Self {
        var request = self
        request.isRenewal = false
        return request
    }
}

/// Of what whoever runs the host tells the user in the place of an app that sleeps; the host itself tells nobody.
package struct ConnectionAlerts: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A connection was made.
    package static let connection = Self(rawValue: 1 << 0)
    /// A connection was lost.
    package static let disconnection = Self(rawValue: 1 << 1)
    /// The peer sent a value by itself.
    package static let notification = Self(rawValue: 1 << 2)
}
