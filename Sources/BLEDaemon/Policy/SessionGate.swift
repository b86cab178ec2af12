import BLEHost
import BLEWire

/// What passes between an app and a host, as far as the app's grant goes.
///
/// A value: requests in, and why they come to nothing out; events in, and what the app may hear of them out.
struct SessionGate: Sendable {
    private let grant: Grant
    private var fence: ServiceFence?

    init(_ grant: Grant) {
        self.grant = grant
        fence = grant.services.map(ServiceFence.init)
    }

    /// Why a request comes to nothing; `nil` if it is for the host.
    func refusal(of request: ClientRequest) -> String? {
        switch request {
        case .security where !grant.pairs: "\(grant.origin) does not allow it to pair"
        case .security(.attend), .security(.answer): grant.refusal(of: .agent)
        case .peer(let peer, let request, _) where !isInside(request, at: peer):
            "\(grant.origin) allows it other services alone"
        case .service(.addService(let service)) where !grant.allows(service.uuid):
            "\(grant.origin) does not allow it the service \(service.uuid)"
        case .server(.publishChannel) where fence != nil: "\(grant.origin) allows it services alone, and no channels"
        default: nil
        }
    }

    /// What the app hears of an event.
    mutating func admit(_ event: ClientEvent) -> ClientEvent {
        switch event {
        case .disconnected(let peer, _, _), .peer(let peer, .servicesModified, _): fence?.forget(peer)
        case .peer(let peer, .servicesDiscovered(.success(let found)), let number):
            guard let inside = fence?.admit(found, at: peer) else { break }
            return .peer(peer, .servicesDiscovered(.success(inside)), answering: number)
        case .peer(let peer, .includedServicesDiscovered(let range, .success(let found)), let number):
            guard let inside = fence?.admit(found, at: peer) else { break }
            return .peer(peer, .includedServicesDiscovered(in: range, .success(inside)), answering: number)
        case .systemLinks(var links) where fence != nil:
            for index in links.indices { links[index].services.removeAll { !grant.allows($0) } }
            return .systemLinks(links)
        case .restored(.central(let central)) where fence != nil || !grant.seesAddresses:
            return .restored(.central(PreservedCentral(scan: central.scan, peers: central.peers.map { admit($0) })))
        default: break
        }
        return grant.seesAddresses ? event : event.withoutAddresses
    }

    /// What a launched app is told of a peer, from which it goes on without discovering again.
    private mutating func admit(_ kept: PreservedPeer) -> PreservedPeer {
        let learnt = kept.learnt.compactMap { event -> PeerEvent? in
            guard case .peer(_, let admitted, _) = admit(.peer(kept.peer, event)) else { return nil }
            return isInside(admitted, at: kept.peer) ? admitted : nil
        }
        return PreservedPeer(peer: kept.peer, request: kept.request, name: kept.name, mtu: kept.mtu, learnt: learnt)
    }

    /// Whether what was learnt of a peer is about services that the app may use.
    private func isInside(_ event: PeerEvent, at peer: PeerIdentifier) -> Bool {
        guard let fence else { return true }
        return switch event {
        case .characteristicsDiscovered(let range, _), .includedServicesDiscovered(let range, _):
            fence.contains(range, at: peer)
        case .descriptorsDiscovered(let handle, _), .subscriptionChanged(let handle, _, _):
            fence.contains(handle, at: peer)
        default: true
        }
    }

    private func isInside(_ request: PeerRequest, at peer: PeerIdentifier) -> Bool {
        guard let fence else { return true }
        return switch request {
        case .attribute(let request): isInside(request, at: peer, fence)
        case .link: true
        case .openChannel: false
        }
    }

    private func isInside(_ request: AttributeRequest, at peer: PeerIdentifier, _ fence: ServiceFence) -> Bool {
        switch request {
        case .discoverServices, .forgetDatabase: true
        case .discoverIncludedServices(let range, _), .discoverCharacteristics(let range, _):
            fence.contains(range, at: peer)
        case .discoverDescriptors(let handle, let range), .subscribe(_, let handle, let range):
            fence.contains(handle, at: peer) && range.map { fence.contains($0, at: peer) } ?? true
        case .read(let handle), .write(let handle, _), .writeCommand(let handle, _): fence.contains(handle, at: peer)
        }
    }
}

extension ClientEvent {
    /// The event without where devices were reached.
    fileprivate var withoutAddresses: Self {
        switch self {
        case .discovered(let report): return .discovered(report.withoutAddress)
        case .peer(let peer, .linkChanged(var details), _):
            details.address = .none
            return .peer(peer, .linkChanged(details))
        case .server(.centralsConnected(var centrals)):
            for index in centrals.indices { centrals[index].address = .none }
            return .server(.centralsConnected(centrals))
        case .security(.bonds(let bonds)):
            let masked = bonds.map {
                BondedPeer(peer: $0.peer, name: $0.name, identity: .none, strength: $0.strength)
            }
            return .security(.bonds(masked))
        default: return self
        }
    }
}
