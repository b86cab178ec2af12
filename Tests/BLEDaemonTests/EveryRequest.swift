import BLEHost
import BLESession

/// One request of each kind that the protocol has, with blank fields.
///
/// The list is made from the codes of the protocol, so that a new request is in it as soon as an app can send it.
enum EveryRequest {
    static let all: [ClientRequest] = codes.compactMap { ClientRequest(blank: $0) }.flatMap(variants)
    static let roles: [ClientRole] = codes.compactMap { ClientRole(wire: $0) }

    private static let codes = UInt8.min...UInt8.max

    private static func variants(of request: ClientRequest) -> [ClientRequest] {
        switch request {
        case .peer(let peer, _, _): codes.compactMap { PeerRequest(blank: $0) }.map { .peer(peer, $0) }
        case .server, .service:
            codes.compactMap { ServerRequest(blank: $0) }.map { .server($0) }
                + codes.compactMap { ServiceRequest(blank: $0) }.map { .service($0) }
        case .channel(let channel, _):
            codes.compactMap { ChannelRequest(blank: $0) }.map { .channel(channel, $0) }
        case .security: codes.compactMap { SecurityRequest(blank: $0) }.map { .security($0) }
        case .scan, .stopScan, .connect, .cancelConnection, .tester, .appPhaseChanged, .showAlerts: [request]
        }
    }

    /// The roles whose sessions may make a request, according to docs/DAEMON.md.
    static func roles(for request: ClientRequest) -> [ClientRole] {
        switch request {
        case .scan, .stopScan, .connect, .cancelConnection, .peer: [.central]
        case .server, .service: [.peripheral]
        case .channel: [.central, .peripheral]
        case .security, .showAlerts: [.agent]
        case .appPhaseChanged: [.central, .peripheral, .agent]
        case .tester: []
        }
    }
}
