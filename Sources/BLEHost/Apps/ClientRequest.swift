package import BLEWire

/// A client's request to the host.
///
/// The public modules control the host only through these requests, in the same process or over a socket. Requests are
/// carried out in order. A request that has a result gets exactly one, even if the link, the controller or the radio
/// disappears.
package enum ClientRequest: Equatable, Sendable {
    /// Starts a scan or changes its parameters. ``ClientEvent/discovered(_:)`` reports the peers. If `number` is not 0,
    /// ``ClientEvent/scanBegan(_:)`` reports the number before the first discovery.
    case scan(ScanRequest, number: UInt32 = 0)
    case stopScan
    /// Connects to a peer. Without a ``ConnectRequest/timeout``, the request stays pending until the peer is in range.
    /// The result is ``ClientEvent/connected(_:_:)``, or rarely ``ClientEvent/connectFailed(_:_:)``.
    case connect(PeerIdentifier, ConnectRequest)
    /// Cancels a pending connection or ends an established one. The result is
    /// ``ClientEvent/disconnected(_:_:isReconnecting:)`` without a failure.
    case cancelConnection(PeerIdentifier)
    /// A request for which this client must be connected to the peer. The result has the same request number.
    case peer(PeerIdentifier, PeerRequest, RequestNumber = .none)
    /// A request about this host as a peripheral.
    case server(ServerRequest)
    /// A request about the services that this client publishes.
    case service(ServiceRequest)
    /// A request about one of this client's open channels.
    case channel(ChannelID, ChannelRequest)
    /// A request about pairing and bonds.
    case security(SecurityRequest)
    /// A request that only a test suite can make.
    case tester(TesterRequest)
    /// Reports that the app of this client has moved to another phase.
    case appPhaseChanged(to: AppPhase)
    /// Makes this client show the alerts about suspended apps to the user. The client receives them as
    /// ``ClientEvent/alert(_:)`` if apps in other processes share the host.
    case showAlerts

    /// True for requests that can change the controller's activities: scanning, connecting, advertising.
    var steersController: Bool {
        switch self {
        case .scan, .stopScan, .connect, .cancelConnection, .appPhaseChanged, .server(.startAdvertising),
            .server(.stopAdvertising), .tester:
            true
        case .peer, .server, .service, .channel, .security, .showAlerts: false
        }
    }
}

/// The phase of an app, which determines what the radio does for the app.
package enum AppPhase: Equatable, Sendable {
    /// In the foreground: all requests are carried out in full.
    case foreground
    /// In the background and running. Scans need service UUIDs and report each peer once. Advertisements have no name,
    /// and their services are in the overflow area.
    case background
    /// Suspended: the app neither scans nor advertises.
    case suspended
}

/// The parameters of a scan.
package struct ScanRequest: Equatable, Sendable {
    /// The services to scan for: a peer matches if it advertises at least one of them.
    ///
    /// If there are none, any peer matches.
    package var services: [BluetoothUUID]
    /// The solicited services to scan for: a peer also matches if it solicits at least one of them.
    package var solicitedServices: [BluetoothUUID]
    /// True to report every advertisement; false to report each peer once.
    package var allowsDuplicates: Bool
    /// The minimum signal strength, in dBm; `nil` for no minimum.
    package var minimumRSSI: Int8?
    /// The prefix that the advertised name must have; `nil` to accept any peer, with or without a name.
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

/// The parameters of a connection request.
package struct ConnectRequest: Equatable, Sendable {
    /// The delay before the first attempt.
    package var startDelay: Duration
    /// True if the host reconnects when the link is lost.
    package var reconnects: Bool
    /// The time after which ``ClientEvent/connectFailed(_:_:)`` reports a timeout; `nil` for no timeout.
    package var timeout: Duration?
    /// The kind of address that this host uses for the connection; `nil` for the host's default.
    ///
    /// Only test suites can choose it; the host ignores the choice of other clients.
    ///
    /// If several requests are pending, even for different peers, the value in the first request applies.
    package var ownAddress: OwnAddressKind?
    /// The alerts for the user while the app is suspended.
    package var alerts: ConnectionAlerts
    /// True for a request that only replaces the options of an earlier request.
    ///
    /// Such a request has no result, and no effect if there is neither a connection nor a pending request.
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

    /// A copy of this request that only replaces the options of an earlier request.
    package var renewal: Self {
        var request = self
        request.isRenewal = true
        return request
    }

    /// A copy of this request that does not depend on an earlier request.
    package var asNewRequest: Self {
        var request = self
        request.isRenewal = false
        return request
    }
}

/// The alerts that the user gets for a suspended app.
///
/// The host does not create the alerts. The program that contains the host sends them to the clients that show them
/// (``ClientRequest/showAlerts``).
package struct ConnectionAlerts: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A connection was established.
    package static let connection = Self(rawValue: 1 << 0)
    /// A connection was lost.
    package static let disconnection = Self(rawValue: 1 << 1)
    /// The peer sent a notification or indication.
    package static let notification = Self(rawValue: 1 << 2)
}
