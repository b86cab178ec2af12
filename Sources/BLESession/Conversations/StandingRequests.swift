import BLEHost
import BLEWire

/// What a session has asked for that counts for as long as the session, and so on each of its connections.
struct StandingRequests: Sendable {
    private var phase: ClientRequest?
    private var attendance: ClientRequest?
    private var policy: ClientRequest?

    mutating func note(_ request: ClientRequest) {
        switch request {
        case .appMoved: phase = request
        case .security(.attend): attendance = request
        case .security(.insist): policy = request
        default: break
        }
    }

    /// What to ask for on a new connection.
    var requests: [ClientRequest] { [phase, policy, attendance].compactMap(\.self) }
}

extension ClientRequest {
    /// Whether it counts for as long as its session.
    var isStanding: Bool {
        switch self {
        case .appMoved, .security(.attend), .security(.insist): true
        default: false
        }
    }

    /// What the client hears if this comes to nothing before the host has it; `nil` if it has no answer.
    func answer(failing failure: Failure) -> ClientEvent? {
        switch self {
        case .connect(let peer, _): .connectFailed(peer, failure)
        case .peer(let peer, let request): request.answer(failing: failure).map { .peer(peer, $0) }
        case .server(let request): request.answer(failing: failure).map { .server($0) }
        case .security(.pair(let peer)): .security(.failed(peer, .disconnected))
        case .channel(let channel, .send), .channel(let channel, .resize): .channel(channel, .closed(failure))
        case .scan, .stopScan, .cancelConnection, .channel, .security, .tester, .appMoved: nil
        }
    }
}

extension PeerRequest {
    fileprivate func answer(failing failure: Failure) -> PeerEvent? {
        switch self {
        case .readRSSI: .rssiRead(.failure(failure))
        case .tune(let tuning): .tuned(tuning, failure)
        case .discoverServices: .servicesDiscovered(.failure(failure))
        case .discoverIncludedServices(let range, _): .includedServicesDiscovered(in: range, .failure(failure))
        case .discoverCharacteristics(let range, _): .characteristicsDiscovered(in: range, .failure(failure))
        case .discoverDescriptors(let handle, _): .descriptorsDiscovered(of: handle, .failure(failure))
        case .read(let handle): .valueRead(handle, .failure(failure))
        case .write(let handle, _): .valueWritten(handle, failure)
        case .writeCommand: .writeCommandsTaken(1)
        case .subscribe(_, let handle, _): .subscriptionChanged(handle, .none, failure)
        case .forgetDatabase: .databaseForgotten(failure)
        case .openChannel(let psm): .channelOpened(psm, .failure(failure))
        }
    }
}

extension ServerRequest {
    fileprivate func answer(failing failure: Failure) -> ServerEvent? {
        switch self {
        case .addService(let service): .serviceAdded(service.id, failure)
        case .startAdvertising: .advertisingStarted(failure)
        case .update: .updatesTaken(1)
        case .publishChannel: .channelPublished(.none, failure)
        case .unpublishChannel(let psm): .channelUnpublished(psm, failure)
        case .removeService, .removeAllServices, .stopAdvertising, .respond, .setLatency, .disconnect: nil
        }
    }
}
