import BLEHost
import BLEWire

/// What passes between an app and a host, as far as the app's grant goes.
///
/// A value: requests in, and why they come to nothing out; events in, and what the app may hear of them out. What the
/// grant does not allow any more, or not, although it has begun, the gate has the host end.
struct SessionGate: Sendable {
    private var grant: Grant
    private var fence: ServiceFence
    private var holdings = SessionHoldings()
    /// What is to be asked of the host.
    private var due: [ClientRequest] = []

    init(_ grant: Grant) {
        self.grant = grant
        fence = ServiceFence(around: grant.services)
    }

    /// Whether the app may use some services alone, so that each value that it hears has to be looked at.
    var isFenced: Bool { fence.isClosed }

    /// Another grant counts from now on; returns what the app is to hear of it.
    mutating func obey(_ new: Grant) -> [ClientEvent] {
        if grant.refusal(of: .agent) == nil, new.refusal(of: .agent) != nil { due.append(.security(.attend(nil))) }
        grant = new
        due += holdings.surrender(to: new)
        let losses = fence.move(around: new.services)
        for loss in losses { due += loss.subscribed.map { .peer(loss.peer, .subscribe(.none, to: $0, in: nil)) } }
        return losses.flatMap { loss in loss.ranges.map { .peer(loss.peer, .servicesModified($0)) } }
    }

    /// Hands out what the host is to end, which the grant does not allow.
    mutating func takeWithdrawals() -> [ClientRequest] {
        guard !due.isEmpty else { return [] }
        defer { due = [] }
        return due
    }

    /// Why a request comes to nothing; `nil` if it is for the host.
    func refusal(of request: ClientRequest) -> String? {
        switch request {
        case .security where !grant.pairs: "\(grant.origin) does not allow it to pair"
        case .security(.insist(let policy)) where policy.unattended.map { $0 > grant.unattendedPairing } ?? false:
            "\(grant.origin) does not allow it to have devices paired that nobody asked for (unattendedPairing)"
        case .security(.attend), .security(.answer): grant.refusal(of: .agent)
        case .peer(let peer, let request, _) where !isInside(request, at: peer):
            "\(grant.origin) allows it other services alone"
        case .service(.addService(let service)) where !grant.allows(service.uuid):
            "\(grant.origin) does not allow it the service \(service.uuid)"
        case .channel(_, .close): nil
        case .server(.publishChannel) where isFenced, .channel where isFenced:
            "\(grant.origin) allows it services alone, and no channels"
        default: nil
        }
    }

    /// A request is for the host.
    mutating func note(_ request: ClientRequest) {
        if case .service(let request) = request { holdings.note(request) }
    }

    /// What the app hears of an event; `nil` for nothing.
    mutating func admit(_ event: ClientEvent) -> ClientEvent? {
        holdings.note(event)
        let inside = admitInside(event)
        if isFenced { due += holdings.surrender(to: grant) }
        return grant.seesAddresses ? inside : inside?.withoutAddresses
    }

    private mutating func admitInside(_ event: ClientEvent) -> ClientEvent? {
        switch event {
        case .disconnected(let peer, _, _): fence.forget(peer)
        case .peer(let peer, let event, let number):
            return admit(event, of: peer).map { .peer(peer, $0, answering: number) }
        case .systemLinks(var links) where isFenced:
            for index in links.indices { links[index].services.removeAll { !grant.allows($0) } }
            return .systemLinks(links)
        case .restored(.central(let central)):
            return .restored(.central(PreservedCentral(scan: central.scan, peers: central.peers.map { admit($0) })))
        case .restored(.peripheral(let peripheral)) where isFenced:
            return .restored(.peripheral(peripheral.keeping { grant.allows($0.uuid) }))
        case .channel(_, .received) where isFenced, .server(.channelOpened) where isFenced: return nil
        default: break
        }
        return event
    }

    /// What the app hears of a peer.
    private mutating func admit(_ event: PeerEvent, of peer: PeerIdentifier) -> PeerEvent? {
        switch event {
        case .servicesModified(let range): fence.forget(range, at: peer)
        case .servicesDiscovered(.success(let found)):
            return .servicesDiscovered(.success(fence.admit(found, at: peer)))
        case .includedServicesDiscovered(let range, .success(let found)) where isInside(event, at: peer):
            return .includedServicesDiscovered(in: range, .success(fence.admit(found, at: peer)))
        case .subscriptionChanged(let handle, let subscription, _):
            guard !fence.note(subscription, to: handle, at: peer), subscription != .none else { break }
            due.append(.peer(peer, .subscribe(.none, to: handle, in: nil)))
            return .subscriptionChanged(handle, .none, .notFound)
        case .channelOpened(let psm, .success) where isFenced: return .channelOpened(psm, .failure(.notSupported))
        default: return isInside(event, at: peer) ? event : event.asNotFound
        }
        return event
    }

    /// What a launched app is told of a peer, from which it goes on without discovering again.
    private mutating func admit(_ kept: PreservedPeer) -> PreservedPeer {
        let learnt = kept.learnt.compactMap { event -> PeerEvent? in
            guard case .peer(_, let admitted, _)? = admit(.peer(kept.peer, event)) else { return nil }
            return isInside(admitted, at: kept.peer) ? admitted : nil
        }
        return PreservedPeer(peer: kept.peer, request: kept.request, name: kept.name, mtu: kept.mtu, learnt: learnt)
    }

    /// Whether what is told of a peer is about services that the app may use.
    private func isInside(_ event: PeerEvent, at peer: PeerIdentifier) -> Bool {
        switch event {
        case .characteristicsDiscovered(let range, _), .includedServicesDiscovered(let range, _):
            fence.contains(range, at: peer)
        case .descriptorsDiscovered(let handle, _), .subscriptionChanged(let handle, _, _), .valueRead(let handle, _),
            .valueNotified(let handle, _):
            fence.contains(handle, at: peer)
        default: true
        }
    }

    private func isInside(_ request: PeerRequest, at peer: PeerIdentifier) -> Bool {
        switch request {
        case .attribute(let request): isInside(request, at: peer)
        case .link: true
        case .openChannel: !isFenced
        }
    }

    private func isInside(_ request: AttributeRequest, at peer: PeerIdentifier) -> Bool {
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

extension PeerEvent {
    /// What answers in its place if it is about what the app may not use; `nil` if nobody waits for it.
    fileprivate var asNotFound: PeerEvent? {
        switch self {
        case .characteristicsDiscovered(let range, _): .characteristicsDiscovered(in: range, .failure(.notFound))
        case .includedServicesDiscovered(let range, _): .includedServicesDiscovered(in: range, .failure(.notFound))
        case .descriptorsDiscovered(let handle, _): .descriptorsDiscovered(of: handle, .failure(.notFound))
        case .valueRead(let handle, _): .valueRead(handle, .failure(.notFound))
        default: nil
        }
    }
}

extension PreservedPeripheral {
    /// What is left of it with some of its services.
    fileprivate func keeping(_ isKept: (ServiceDefinition) -> Bool) -> Self {
        let left = services.filter(isKept), characteristics = Set(left.flatMap(\.characteristics).map(\.id))
        return Self(
            services: left,
            advertisement: advertisement,
            subscribers: subscribers.filter { characteristics.contains($0.characteristic) }
        )
    }
}

extension ClientEvent {
    /// The event without where devices were reached.
    fileprivate var withoutAddresses: Self {
        switch self {
        case .discovered(let report): return .discovered(report.withoutAddress)
        case .peer(let peer, .linkChanged(var details), let number):
            details.address = .none
            return .peer(peer, .linkChanged(details), answering: number)
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
