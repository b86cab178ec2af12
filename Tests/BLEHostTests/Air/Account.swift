import BLEHost

/// What an app has asked for, and how often each of it has come to an end, request by request where they are numbered.
struct Account {
    /// Requests that have no answer, less answers that no request had; those that are even are not here.
    private(set) var pending: [String: Int] = [:]
    /// How often the app was connected, and how often that ended.
    private(set) var connections = 0
    private(set) var disconnections = 0
    private var channels: [ChannelID: Int] = [:]
    /// Events of channels that were closed, or never opened.
    private(set) var strays = 0

    init(_ app: App) {
        for request in app.requests { if let kind = Self.kind(request) { pending[kind, default: 0] += 1 } }
        for event in app.events { note(event) }
        pending = pending.filter { $0.value != 0 }
    }

    /// Channels that the app believes to be open.
    var openChannels: Int { channels.values.reduce(0, +) }

    private mutating func note(_ event: ClientEvent) {
        switch event {
        case .connected:
            connections += 1
            answer("connect")
        case .connectFailed: answer("connect")
        case .disconnected:
            // Whoever gives up before there was a connection hears so in this way.
            if connections == disconnections { answer("connect") } else { disconnections += 1 }
        case .peer(_, let event, let number):
            if case .writeCommandsTaken(let count) = event { answer("command", count) }
            if let kind = LinkDownTests.key(event), kind != "command" { answer(Self.kind(kind, number)) }
            if case .channelOpened(_, .success(let channel)) = event { channels[channel.id, default: 0] += 1 }
        case .server(let event): note(event)
        case .channel(let id, .closed): close(id)
        case .channel(let id, _): if channels[id] != 1 { strays += 1 }
        case .restored, .stateChanged, .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered, .security,
            .alert,
            .tester:
            break
        }
    }

    private mutating func note(_ event: ServerEvent) {
        switch event {
        case .serviceAdded: answer("add")
        case .advertisingStarted: answer("advertise")
        case .updatesTaken(let count): answer("update", count)
        case .channelPublished: answer("publish")
        case .channelUnpublished: answer("unpublish")
        case .channelOpened(let channel, _): channels[channel.id, default: 0] += 1
        case .subscribed, .unsubscribed, .readRequested, .writeRequested, .confirmed, .centralChanged,
            .centralsConnected:
            break
        }
    }

    private mutating func answer(_ kind: String, _ count: Int = 1) { pending[kind, default: 0] -= count }

    private mutating func close(_ channel: ChannelID) {
        if channels[channel] != 1 { strays += 1 }
        channels[channel] = 0
    }

    /// An answer counts for the request whose number it has.
    private static func kind(_ kind: String, _ number: RequestNumber) -> String {
        number == .none ? kind : "\(kind) of request \(number.rawValue)"
    }

    private static func kind(_ request: ClientRequest) -> String? {
        switch request {
        case .connect: "connect"
        case .peer(_, let request, let number):
            LinkDownTests.key(request.answer(.cancelled)).map { kind($0, number) }
        case .service(.addService): "add"
        case .server(.startAdvertising): "advertise"
        case .service(.update): "update"
        case .server(.publishChannel): "publish"
        case .server(.unpublishChannel): "unpublish"
        case .scan, .stopScan, .cancelConnection, .server, .service, .channel, .appPhaseChanged, .security, .showAlerts,
            .tester:
            nil
        }
    }
}
