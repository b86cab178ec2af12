import BLEHost
import BLEWire

extension Transcript {
    /// Returns the parts of an event's line that follow the name of the delegate's method.
    func words(_ event: ClientEvent, of client: Int) -> [String] {
        switch event {
        case .restored(.central(let state)):
            [state.scan == nil ? "" : "scanning", state.peers.map { device($0.peer) }.joined(separator: ", ")]
        case .restored(.peripheral(let state)):
            [Self.list(state.services.map(\.uuid)), state.advertisement == nil ? "" : "advertising"]
        case .stateChanged(let state): [state.words]
        case .featuresChanged(let features): [features.contains(.extendedScanAndConnect) ? "extended scan" : ""]
        case .knownPeers(let peers): ["\(peers.count)"]
        case .systemLinks(let links): [links.map { device($0.peer) }.joined(separator: ", ")]
        case .scanBegan(let number): ["\(number)"]
        case .discovered(let report): words(report)
        case .connected(let peer, _): [device(peer)]
        case .connectFailed(let peer, let failure): [device(peer), Self.error(failure)]
        case .disconnected(let peer, let failure, let isReconnecting):
            [device(peer), Self.error(failure), isReconnecting ? "reconnecting" : ""]
        case .peer(let peer, let event, _): [device(peer)] + words(event, of: peer)
        case .server(let event): words(event, of: client)
        case .security(let event): [event.operation] + words(event)
        case .tester(let event): [event.operation] + words(event)
        case .channel(let channel, let event): ["\(channel.rawValue)", event.operation] + words(event)
        case .alert(let alert): [Self.plain(alert.app), alert.occasion.words, device(alert.peer)]
        }
    }

    private func words(_ report: AdvertisementReport) -> [String] {
        [
            device(report.peer), "\(report.rssi)", report.isConnectable ? "" : "not connectable",
            Self.octets(Array(report.octets.advertisement)),
            report.octets.scanResponse.isEmpty ? "" : "scan response \(Self.octets(Array(report.octets.scanResponse)))",
        ]
    }

    private func words(_ event: PeerEvent, of peer: PeerIdentifier) -> [String] {
        switch event {
        case .mtuChanged(let mtu): ["\(mtu)"]
        case .nameChanged(let name): [Self.plain(name)]
        case .linkChanged(let details): [details.security.words]
        case .tuned(let tuning, let failure): [tuning.words, Self.error(failure)]
        case .rssiRead(let result): [Self.outcome(result) { "\($0)" }]
        case .servicesDiscovered(let result): [Self.outcome(result) { Self.list($0.map(\.uuid)) }]
        case .includedServicesDiscovered(let range, let result):
            ["of", service(range, of: peer), Self.outcome(result) { Self.list($0.map(\.uuid)) }]
        case .characteristicsDiscovered(let range, let result):
            ["of", service(range, of: peer), Self.outcome(result) { Self.list($0.map(\.uuid)) }]
        case .descriptorsDiscovered(let handle, let result):
            ["of", attribute(handle, of: peer), Self.outcome(result) { Self.list($0.map(\.uuid)) }]
        case .valueRead(let handle, let result): [attribute(handle, of: peer), Self.outcome(result, Self.octets)]
        case .valueWritten(let handle, let failure): [attribute(handle, of: peer), Self.error(failure)]
        case .writeCommandsTaken(let count): ["\(count)"]
        case .subscriptionChanged(let handle, let subscription, let failure):
            [attribute(handle, of: peer), subscription.words, Self.error(failure)]
        case .valueNotified(let handle, let value): [attribute(handle, of: peer), Self.octets(value), "notified"]
        case .servicesModified(let range):
            range == .all ? [] : ["0x\(Self.hexadecimal(range.start.wire)) to 0x\(Self.hexadecimal(range.end.wire))"]
        case .databaseForgotten(let failure): [Self.error(failure)]
        case .channelOpened(let psm, let result):
            ["PSM \(psm.wire)", Self.outcome(result) { "channel \($0.id.rawValue)" }]
        }
    }

    /// Returns a description of the result of a request: its value, or its error.
    private static func outcome<Value>(_ result: Result<Value, Failure>, _ words: (Value) -> String) -> String {
        switch result {
        case .success(let value): words(value)
        case .failure(let failure): error(failure)
        }
    }

    private func words(_ event: ServerEvent, of client: Int) -> [String] {
        switch event {
        case .serviceAdded(let id, let failure): [attribute(id, of: client), Self.error(failure)]
        case .advertisingStarted(let failure): [Self.error(failure)]
        case .subscribed(let central, let id): [device(central.peer), "to", attribute(id, of: client)]
        case .unsubscribed(let central, let id): [device(central.peer), "from", attribute(id, of: client)]
        case .readRequested(let transaction, let central, let id, let offset):
            [
                "request \(transaction.rawValue)", device(central.peer), attribute(id, of: client),
                offset == 0 ? "" : "from \(offset)",
            ]
        case .writeRequested(let transaction, let central, let parts):
            [transaction.map { "request \($0.rawValue)" } ?? "", device(central.peer)]
                + parts.prefix(4).flatMap { [attribute($0.attribute, of: client), Self.octets($0.value)] }
                + [parts.count > 4 ? "…" : ""]
        case .updatesTaken(let count): ["\(count)"]
        case .confirmed(let central, let id): [device(central.peer), attribute(id, of: client)]
        case .centralChanged(let central): [device(central.peer), "MTU \(central.mtu)"]
        case .centralsConnected(let centrals): [centrals.map { device($0.central.peer) }.joined(separator: ", ")]
        case .channelPublished(let psm, let failure), .channelUnpublished(let psm, let failure):
            ["PSM \(psm.wire)", Self.error(failure)]
        case .channelOpened(let channel, let central):
            [device(central.peer), "PSM \(channel.psm.wire)", "channel \(channel.id.rawValue)"]
        }
    }

    private func words(_ event: ChannelEvent) -> [String] {
        switch event {
        case .received(let data): ["\(data.count) octets"]
        case .sent(let count): ["\(count) octets"]
        case .resized(let failure), .closed(let failure): [Self.error(failure)]
        }
    }

    private func words(_ event: SecurityEvent) -> [String] {
        switch event {
        case .asked(let inquiry): [device(inquiry.peer), inquiry.question.words, inquiry.cause.words]
        case .withdrawn(let peer): [device(peer)]
        case .paired(let peer, let method, let isBonded): [device(peer), method.words, isBonded ? "bonded" : ""]
        case .failed(let peer, let failure): [device(peer), failure.words]
        case .secured(let peer, let strength, let isBonded):
            [
                device(peer), "\(strength.keySize) octets", strength.isAuthenticated ? "authenticated" : "",
                isBonded ? "bonded" : "",
            ]
        case .bonds(let bonds): [bonds.map { device($0.peer) }.joined(separator: ", ")]
        case .outOfBandDataMade: []
        }
    }

    private func words(_ event: TesterEvent) -> [String] {
        switch event {
        case .localAddress(let address): ["\(address)"]
        case .found(let peer, let address): [device(peer), "\(address)"]
        case .setStarted(let id, let failure): ["\(id.rawValue)", Self.error(failure)]
        case .setEnded(let id): ["\(id.rawValue)"]
        case .listening(let failure): [Self.error(failure)]
        case .received(let packet): ["\(packet.address)", "\(packet.rssi)", Self.octets(packet.data)]
        case .linkMade(let link): [device(link.peer), "\(link.address)", "handle \(link.handle.wire)"]
        case .linkEnded(let handle, let status): ["handle \(handle.wire)", "\(status)"]
        }
    }
}

extension HostState {
    /// The name of the state in Core Bluetooth.
    fileprivate var words: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        }
    }
}

extension LinkSecurity {
    fileprivate var words: String {
        switch self {
        case .unencrypted: "not encrypted"
        case .encrypted: "encrypted"
        case .authenticated: "encrypted, authenticated"
        }
    }
}

extension ClientAlert.Occasion {
    fileprivate var words: String {
        switch self {
        case .connection: "connected to"
        case .disconnection: "lost"
        case .notification: "notified by"
        }
    }
}

extension PairingQuestion {
    /// The kind of question, without the digits to show or compare.
    fileprivate var words: String {
        switch self {
        case .consent(let replacesBond): replacesBond ? "consent to replacing the bond" : "consent"
        case .display: "show a passkey"
        case .enterPasskey: "enter a passkey"
        case .compare: "compare numbers"
        }
    }
}

extension PairingInquiry.Cause {
    fileprivate var words: String {
        switch self {
        case .peer: "requested by the peer"
        case .refusal: "because the peer refused a request"
        case .request: "requested by an app"
        }
    }
}

extension PairingMethod {
    fileprivate var words: String {
        switch self {
        case .justWorks: "by Just Works"
        case .passkeyEntry: "by passkey"
        case .numericComparison: "by numeric comparison"
        case .outOfBand: "out of band"
        }
    }
}

extension PairingFailure {
    fileprivate var words: String {
        func reason(_ reason: SMP.Reason) -> String { "reason 0x\(Transcript.hexadecimal(UInt16(reason.wire)))" }
        return switch self {
        case .refused(let code): "refused, \(reason(code))"
        case .refusedByPeer(let code): "refused by the peer, \(reason(code))"
        case .timedOut: "timed out"
        case .encryptionFailed: "encryption failed"
        case .disconnected: "disconnected"
        case .tooSoon: "too soon after a failure"
        case .cannotAuthenticate: "cannot authenticate"
        case .noAgent: "no agent to ask the user"
        }
    }
}
