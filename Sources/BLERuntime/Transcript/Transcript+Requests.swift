import BLEHost
import BLEWire

extension Transcript {
    /// Returns the parts of a request's line that follow the name of the call.
    func words(_ request: ClientRequest, of client: Int) -> [String] {
        switch request {
        case .scan(let scan, _): words(scan)
        case .stopScan, .showAlerts: []
        case .connect(let peer, let request): [device(peer)] + words(request)
        case .cancelConnection(let peer): [device(peer)]
        case .peer(let peer, .attribute(let request), _): [device(peer)] + words(request, to: peer)
        case .peer(let peer, .link(.readRSSI), _): [device(peer)]
        case .peer(let peer, .link(.tune(let tuning)), _): [device(peer), tuning.words]
        case .peer(let peer, .openChannel(let psm), _): [device(peer), "PSM \(psm.wire)"]
        case .server(let request): words(request)
        case .service(let request): words(request, of: client)
        case .channel(let channel, let request): ["\(channel.rawValue)", request.operation] + words(request)
        case .security(let request): [request.operation] + words(request)
        case .tester(let request): [request.operation] + words(request)
        case .appPhaseChanged(let phase): [phase.words]
        }
    }

    private func words(_ scan: ScanRequest) -> [String] {
        [
            Self.list(scan.services),
            scan.solicitedServices.isEmpty ? "" : "soliciting \(Self.list(scan.solicitedServices))",
            scan.allowsDuplicates ? "allowing duplicates" : "",
            scan.minimumRSSI.map { "from \($0) dBm" } ?? "",
            scan.namePrefix.map { "named \(Self.plain($0))…" } ?? "",
        ]
    }

    private func words(_ request: ConnectRequest) -> [String] {
        [
            request.startDelay > .zero ? "after \(Self.seconds(request.startDelay))" : "",
            request.reconnects ? "with automatic reconnection" : "",
            request.timeout.map { "within \(Self.seconds($0))" } ?? "",
            request.alerts.isEmpty ? "" : "with alerts",
            request.isRenewal ? "again" : "",
        ]
    }

    private func words(_ request: AttributeRequest, to peer: PeerIdentifier) -> [String] {
        switch request {
        case .discoverServices(let types): [Self.list(types)]
        case .discoverIncludedServices(let range, let types), .discoverCharacteristics(let range, let types):
            ["of", service(range, of: peer), Self.list(types)]
        case .discoverDescriptors(let handle, _): ["of", attribute(handle, of: peer)]
        case .read(let handle): [attribute(handle, of: peer)]
        case .readWithoutPairing(let handle): [attribute(handle, of: peer), "without pairing"]
        case .write(let handle, let value): [attribute(handle, of: peer), Self.octets(value)]
        case .writePart(let handle, let part, let offset):
            [attribute(handle, of: peer), Self.octets(part), "at offset \(offset)"]
        case .writeCommand(let handle, let value):
            [attribute(handle, of: peer), Self.octets(value), "without response"]
        case .subscribe(let subscription, let handle, _): [attribute(handle, of: peer), subscription.words]
        case .forgetDatabase: []
        }
    }

    private func words(_ request: ServerRequest) -> [String] {
        switch request {
        case .startAdvertising(let request):
            [request.localName.map(Self.plain) ?? "", Self.list(request.services), request.broadcast?.words ?? ""]
        case .stopAdvertising: []
        case .setLatency(let peer, let latency): [device(peer), latency.words]
        case .disconnect(let peer): [device(peer)]
        case .publishChannel(let isEncrypted): [isEncrypted ? "with encryption" : ""]
        case .unpublishChannel(let psm): ["PSM \(psm.wire)"]
        }
    }

    private func words(_ request: ServiceRequest, of client: Int) -> [String] {
        switch request {
        case .addService(let service):
            ["\(service.uuid)", Self.list(service.characteristics.map(\.uuid)), service.isPrimary ? "" : "secondary"]
        case .removeService(let id): [attribute(id, of: client)]
        case .removeAllServices: []
        case .respond(let transaction, .success(let value)):
            ["to request \(transaction.rawValue)", "success", value.isEmpty ? "" : Self.octets(value)]
        case .respond(let transaction, .failure(let code)): ["to request \(transaction.rawValue)", "\(code)"]
        case .update(let id, let value, let peers):
            [attribute(id, of: client), Self.octets(value), peers.map { "for \($0.count.withNoun("central"))" } ?? ""]
        case .reportConfirmations(let id): [attribute(id, of: client)]
        }
    }

    private func words(_ request: ChannelRequest) -> [String] {
        switch request {
        case .send(let data): ["\(data.count) octets"]
        case .consumed(let count): ["\(count) octets"]
        case .resize(let mtu, let mps): ["MTU \(mtu), MPS \(mps)"]
        case .close: []
        }
    }

    private func words(_ request: SecurityRequest) -> [String] {
        switch request {
        case .setAgent(let capability): [capability.map { "\($0)" } ?? "no more"]
        case .answer(let peer, let reply): [device(peer), reply.words]
        case .pair(let peer), .removeBond(let peer), .takeOutOfBandData(_, let peer): [device(peer)]
        case .setPolicy(let policy, let everywhere):
            [
                policy.requiresSecureConnections ? "only LE Secure Connections" : "",
                "keys of at least \(policy.leastKeySize) octets", policy.keepsBonds ? "" : "without bonds",
                policy.unattended.map { "unattended pairing \($0)" } ?? "", everywhere ? "for all apps" : "",
            ]
        case .takeTemporaryKey(_, let peer): [peer.map(device) ?? ""]
        case .makeOutOfBandData, .listBonds: []
        }
    }

    private func words(_ request: TesterRequest) -> [String] {
        switch request {
        case .reset, .readLocalAddress, .listen, .stopListening: []
        case .find(let address): ["\(address)"]
        case .startSet(let id, _), .stopSet(let id): ["\(id.rawValue)"]
        case .secure(let peer, let needsAuthentication): [device(peer), needsAuthentication ? "authenticated" : ""]
        }
    }
}

extension LinkTuning {
    /// A description of the requested change of the link.
    var words: String {
        switch self {
        case .parameters: "connection parameters"
        case .physicalLayers(let transmit, let receive): "PHYs \(transmit), \(receive)"
        case .dataLength(let octets): "\(octets) octets a packet"
        }
    }
}

extension AppPhase {
    fileprivate var words: String {
        switch self {
        case .foreground: "foreground"
        case .background: "background"
        case .suspended: "suspended"
        }
    }
}

extension Subscription {
    /// The name of the subscription in a transcript: `off`, `notifications` or `indications`.
    var words: String {
        switch self {
        case .none: "off"
        case .notifications: "notifications"
        case .indications: "indications"
        }
    }
}

extension ConnectionLatency {
    fileprivate var words: String {
        switch self {
        case .low: "low"
        case .medium: "medium"
        case .high: "high"
        }
    }
}

extension BroadcastRequest {
    fileprivate var words: String {
        let parts = [
            manufacturerData.map { "manufacturer data \(Transcript.octets($0))" } ?? "",
            Transcript.list(serviceData.map(\.service)), isConnectable ? "" : "not connectable",
            isExtended ? "extended" : "",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension PairingReply {
    fileprivate var words: String {
        switch self {
        case .confirm(let isYes): isYes ? "yes" : "no"
        case .passkey: "a passkey"
        case .cancel: "cancel"
        }
    }
}
