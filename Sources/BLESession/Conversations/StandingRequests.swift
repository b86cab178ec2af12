import BLEHost
import BLEWire

/// The requests that apply to a whole session, and are therefore repeated on each of its connections.
struct StandingRequests: Sendable {
    private var phase: ClientRequest?
    private var agentRequest: ClientRequest?
    private var policy: ClientRequest?
    private var alerts: ClientRequest?

    mutating func note(_ request: ClientRequest) {
        switch request {
        case .appPhaseChanged: phase = request
        case .security(.setAgent): agentRequest = request
        case .security(.setPolicy): policy = request
        case .showAlerts: alerts = request
        default: break
        }
    }

    /// The requests to send on a new connection, in order.
    var requests: [ClientRequest] { [phase, policy, agentRequest, alerts].compactMap(\.self) }
}

extension ClientRequest {
    /// True for requests that apply to the whole session.
    var isStanding: Bool {
        switch self {
        case .appPhaseChanged, .security(.setAgent), .security(.setPolicy), .showAlerts: true
        default: false
        }
    }

    /// Returns the event that reports to the app that this request has failed; `nil` if the app expects no result.
    func answer(failing failure: Failure) -> ClientEvent? {
        switch self {
        case .connect(let peer, let request): request.isRenewal ? nil : .connectFailed(peer, failure)
        case .peer(let peer, let request, let number): .peer(peer, request.answer(failure), answering: number)
        case .server(let request): request.answer(failure).map { .server($0) }
        case .service(let request): request.answer(failure).map { .server($0) }
        case .security(.pair(let peer)): .security(.failed(peer, .disconnected))
        case .channel(let channel, .send), .channel(let channel, .resize): .channel(channel, .closed(failure))
        case .scan, .stopScan, .cancelConnection, .channel, .security, .tester, .appPhaseChanged, .showAlerts: nil
        }
    }
}
