import BLEHost
import BLEWire

/// What a session has asked for that counts for as long as the session, and so on each of its connections.
struct StandingRequests: Sendable {
    private var phase: ClientRequest?
    private var attendance: ClientRequest?
    private var policy: ClientRequest?
    private var alerts: ClientRequest?

    mutating func note(_ request: ClientRequest) {
        switch request {
        case .appMoved: phase = request
        case .security(.attend): attendance = request
        case .security(.insist): policy = request
        case .showAlerts: alerts = request
        default: break
        }
    }

    /// What to ask for on a new connection.
    var requests: [ClientRequest] { [phase, policy, attendance, alerts].compactMap(\.self) }
}

extension ClientRequest {
    /// Whether it counts for as long as its session.
    var isStanding: Bool {
        switch self {
        case .appMoved, .security(.attend), .security(.insist), .showAlerts: true
        default: false
        }
    }

    /// What the client hears if this comes to nothing before the host has it; `nil` if it has no answer.
    func answer(failing failure: Failure) -> ClientEvent? {
        switch self {
        case .connect(let peer, let request): request.isRenewal ? nil : .connectFailed(peer, failure)
        case .peer(let peer, let request, let number): .peer(peer, request.answer(failure), answering: number)
        case .server(let request): request.answer(failure).map { .server($0) }
        case .service(let request): request.answer(failure).map { .server($0) }
        case .security(.pair(let peer)): .security(.failed(peer, .disconnected))
        case .channel(let channel, .send), .channel(let channel, .resize): .channel(channel, .closed(failure))
        case .scan, .stopScan, .cancelConnection, .channel, .security, .tester, .appMoved, .showAlerts: nil
        }
    }
}
