import BLEHost
import BLESession
import BLEWire

/// A filter between an app's session and the host, which lets through what the session's role and the app's grant
/// allow.
///
/// A value without I/O. For a request, it returns the reason for a refusal, if there is one. For an event, it returns
/// the part that the app may see. It also produces withdrawals: requests to the host that end activities which the
/// grant does not allow, or no longer allows.
struct SessionFilter: Sendable {
    /// The maximum number of services, including solicited ones, in the filter of a scan.
    ///
    /// Every advertisement is compared with all of them.
    static let mostScannedServices = 512
    /// The maximum length of the name prefix of a scan, in octets: that of a device name.
    ///
    /// Core 6.0, Vol 3, Part C, 12.1.
    static let mostNamePrefix = 248

    private var grant: Grant
    /// The role of the session; `nil` if the app has not opened a session yet.
    private let role: ClientRole?
    private var serviceFilter: ServiceFilter
    private var resources = SessionResources()
    /// The withdrawals that have not been sent to the host.
    private var withdrawals: [ClientRequest] = []

    init(_ grant: Grant, for role: ClientRole?) {
        self.grant = grant
        self.role = role
        serviceFilter = ServiceFilter(allowing: grant.services)
    }

    /// True if only some services are allowed; each notified value must then be checked.
    var isRestricted: Bool { serviceFilter.isRestricted }

    /// Sets new permissions, and returns the events that tell the app what it has lost.
    mutating func apply(_ new: Grant) -> [ClientEvent] {
        grant = new
        withdrawals += resources.restrict(to: new)
        let losses = serviceFilter.allow(new.services)
        for loss in losses {
            withdrawals += loss.subscribed.map { .peer(loss.peer, .subscribe(.none, to: $0, in: nil)) }
        }
        return losses.flatMap { loss in loss.ranges.map { .peer(loss.peer, .servicesModified($0)) } }
    }

    /// Removes and returns the withdrawals: requests that end activities which are not allowed.
    mutating func takeWithdrawals() -> [ClientRequest] {
        guard !withdrawals.isEmpty else { return [] }
        defer { withdrawals = [] }
        return withdrawals
    }

    /// Returns the reason for refusing a request; `nil` to pass the request on to the host.
    func refusal(of request: ClientRequest) -> String? {
        if let sentence = refusal(byRoleOf: request) { return sentence }
        return switch request {
        case .peer(let peer, let request, _): refusal(of: request, at: peer)
        case .server(let request): refusal(of: request)
        case .service(let request): refusal(of: request)
        case .channel(_, let request): refusal(of: request)
        case .security(let request): refusal(of: request)
        case .scan(let scan, _): refusal(of: scan)
        case .stopScan, .connect, .cancelConnection, .tester, .appPhaseChanged, .showAlerts: nil
        }
    }

    /// Returns the reason for a refusal if the session's role does not allow a request, or if the app may no longer
    /// have that role; otherwise `nil`.
    private func refusal(byRoleOf request: ClientRequest) -> String? {
        let roles = request.roles
        if let role, roles.contains(role) { return grant.refusal(of: role) }
        let refusals = roles.map { grant.refusal(of: $0) }
        if let sentence = refusals.first, refusals.allSatisfy({ $0 != nil }) { return sentence }
        let names = roles.map(\.name).joined(separator: " or ")
        return "this request needs a session with the role \(names)"
    }

    private func refusal(of request: PeerRequest, at peer: PeerIdentifier) -> String? {
        switch request {
        case .attribute(let request): refusal(of: request, at: peer)
        case .link: nil
        case .openChannel: channelRefusal
        }
    }

    private func refusal(of request: AttributeRequest, at peer: PeerIdentifier) -> String? {
        let handle: AttributeHandle, isInside: Bool
        switch request {
        case .discoverServices, .forgetDatabase: return nil
        case .discoverIncludedServices(let range, _), .discoverCharacteristics(let range, _):
            (handle, isInside) = (range.start, serviceFilter.contains(range, at: peer))
        case .discoverDescriptors(let place, let range), .subscribe(_, let place, let range):
            let isRangeInside = range.map { serviceFilter.contains($0, at: peer) } ?? true
            (handle, isInside) = (place, serviceFilter.contains(place, at: peer) && isRangeInside)
        case .read(let place), .readWithoutPairing(let place), .write(let place, _), .writePart(let place, _, _),
            .writeCommand(let place, _):
            (handle, isInside) = (place, serviceFilter.contains(place, at: peer))
        }
        return isInside ? nil : "\(grant.origin) does not allow the service with handle \(handle)"
    }

    private func refusal(of scan: ScanRequest) -> String? {
        if scan.services.count + scan.solicitedServices.count > Self.mostScannedServices {
            return "a scan can look for at most \(Self.mostScannedServices) services"
        }
        if let prefix = scan.namePrefix, prefix.utf8.count > Self.mostNamePrefix {
            return "the name prefix of a scan can have at most \(Self.mostNamePrefix) octets"
        }
        return nil
    }

    private func refusal(of request: ServerRequest) -> String? {
        switch request {
        case .publishChannel: channelRefusal
        case .startAdvertising, .stopAdvertising, .setLatency, .disconnect, .unpublishChannel: nil
        }
    }

    private func refusal(of request: ServiceRequest) -> String? {
        switch request {
        case .addService(let service):
            grant.allows(service.uuid) ? nil : "\(grant.origin) does not allow the service \(service.uuid)"
        case .removeService, .removeAllServices, .respond, .update, .reportConfirmations: nil
        }
    }

    private func refusal(of request: ChannelRequest) -> String? {
        switch request {
        case .send, .consumed, .resize: channelRefusal
        case .close: nil
        }
    }

    private func refusal(of request: SecurityRequest) -> String? {
        switch request {
        case .setPolicy(let policy, _) where policy.unattended.map { $0 > grant.unattendedPairing } ?? false:
            "unattendedPairing is limited to “\(grant.unattendedPairing)”; the daemon's policy can raise the limit"
        case .setPolicy(_, everywhere: true):
            grant.isAdministrator
                ? nil
                : "only administrators may set a pairing policy for all apps; this app is not one (\(grant.origin))"
        // The host checks whether these requests are about links and bonds of the app.
        case .setPolicy, .setAgent, .answer, .pair, .makeOutOfBandData, .takeOutOfBandData, .takeTemporaryKey,
            .listBonds,
            .removeBond:
            nil
        }
    }

    private var channelRefusal: String? {
        isRestricted ? "\(grant.origin) allows only certain services, and no L2CAP channels" : nil
    }

    /// Records a request that was allowed.
    mutating func note(_ request: ClientRequest) {
        if case .service(let request) = request { resources.note(request) }
    }

    /// Returns the event as the app may see it; `nil` if the app may not see it at all.
    mutating func filter(_ event: ClientEvent) -> ClientEvent? {
        resources.note(event)
        let inside = filterAllowed(event)
        if isRestricted { withdrawals += resources.restrict(to: grant) }
        return grant.seesAddresses ? inside : inside?.withoutAddresses
    }

    private mutating func filterAllowed(_ event: ClientEvent) -> ClientEvent? {
        switch event {
        case .disconnected(let peer, _, _): serviceFilter.forget(peer)
        case .peer(let peer, let event, let number):
            return filter(event, of: peer).map { .peer(peer, $0, answering: number) }
        case .systemLinks(var links) where isRestricted:
            for index in links.indices { links[index].services.removeAll { !grant.allows($0) } }
            return .systemLinks(links)
        case .restored(.central(let central)):
            return .restored(.central(PreservedCentral(scan: central.scan, peers: central.peers.map { filter($0) })))
        case .restored(.peripheral(let peripheral)) where isRestricted:
            return .restored(.peripheral(peripheral.keeping { grant.allows($0.uuid) }))
        case .channel(_, .received) where isRestricted, .server(.channelOpened) where isRestricted: return nil
        default: break
        }
        return event
    }

    /// Returns an event about a peer as the app may see it; `nil` if the app may not see it at all.
    private mutating func filter(_ event: PeerEvent, of peer: PeerIdentifier) -> PeerEvent? {
        switch event {
        case .servicesModified(let range): serviceFilter.forget(range, at: peer)
        case .servicesDiscovered(.success(let found)):
            return .servicesDiscovered(.success(serviceFilter.filter(found, at: peer)))
        case .includedServicesDiscovered(let range, .success(let found)) where isInside(event, at: peer):
            return .includedServicesDiscovered(in: range, .success(serviceFilter.filter(found, at: peer)))
        case .subscriptionChanged(let handle, let subscription, _):
            guard !serviceFilter.note(subscription, to: handle, at: peer), subscription != .none else { break }
            withdrawals.append(.peer(peer, .subscribe(.none, to: handle, in: nil)))
            return .subscriptionChanged(handle, .none, .notFound)
        case .channelOpened(let psm, .success) where isRestricted: return .channelOpened(psm, .failure(.notSupported))
        default: return isInside(event, at: peer) ? event : event.asNotFound
        }
        return event
    }

    /// Returns the preserved state of a peer as the app may see it when the app is launched.
    private mutating func filter(_ kept: PreservedPeer) -> PreservedPeer {
        let validEvents = kept.validEvents.compactMap { event -> PeerEvent? in
            guard case .peer(_, let admitted, _)? = filter(.peer(kept.peer, event)) else { return nil }
            return isInside(admitted, at: kept.peer) ? admitted : nil
        }
        return PreservedPeer(
            peer: kept.peer,
            request: kept.request,
            name: kept.name,
            mtu: kept.mtu,
            validEvents: validEvents
        )
    }

    /// Returns true unless an event about a peer concerns a service that is not allowed.
    private func isInside(_ event: PeerEvent, at peer: PeerIdentifier) -> Bool {
        switch event {
        case .characteristicsDiscovered(let range, _), .includedServicesDiscovered(let range, _):
            serviceFilter.contains(range, at: peer)
        case .descriptorsDiscovered(let handle, _), .subscriptionChanged(let handle, _, _), .valueRead(let handle, _),
            .valueNotified(let handle, _):
            serviceFilter.contains(handle, at: peer)
        default: true
        }
    }
}

extension PeerEvent {
    /// The failure `notFound` that replaces this result if the app may not see the attributes; `nil` if this event is
    /// not the result of a discovery or a read.
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
    /// Returns the state with only the services for which `isKept` returns true, and their subscribers.
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
    /// The event with all addresses of devices removed.
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
