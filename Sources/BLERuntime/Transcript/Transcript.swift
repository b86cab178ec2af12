package import BLEHost
import BLEWire

/// A translator of requests and events into lines for logs and for the reports of simulations.
///
/// A line has the name of the called method, the identifier by which the app knows the device, the device's name, and
/// the UUIDs of attributes, for example `connect 44BEFCB7-9354-84A5-B59A-2EC001542FD0 (Lamp)`. The same calls give the
/// same lines in every run. Passkeys and keys of pairings are left out.
///
/// Names and UUIDs come from earlier requests and events. So each request and event has to be passed to this value, in
/// order: to a `line` method, or to a `learn` method if it needs no line.
package struct Transcript: Sendable {
    /// The maximum number of devices whose names are stored.
    ///
    /// If there are more, all names are dropped.
    private static let mostNames = 1_024
    /// The maximum number of attributes whose UUIDs are stored.
    ///
    /// If there are more, all UUIDs are dropped.
    private static let mostAttributes = 8_192

    /// The length in characters at which a line is cut.
    private static let mostCharacters = 200

    private struct RemoteAttribute: Hashable, Sendable {
        let peer: PeerIdentifier
        let handle: UInt16
    }

    private struct LocalAttribute: Hashable, Sendable {
        let client: Int
        let id: LocalAttributeID
    }

    private var names: [PeerIdentifier: String] = [:]
    private var remote: [RemoteAttribute: BluetoothUUID] = [:]
    private var local: [LocalAttribute: BluetoothUUID] = [:]

    package init() {}

    /// Returns the line for a request from a client.
    ///
    /// The line contains no line breaks.
    package mutating func line(_ request: ClientRequest, of client: Int) -> String {
        learn(request, of: client)
        return Self.joined([request.methodName] + words(request, of: client))
    }

    /// Returns the line for an event that a client receives.
    ///
    /// The line contains no line breaks.
    package mutating func line(_ event: ClientEvent, to client: Int) -> String {
        learn(event, of: client)
        return Self.joined([event.methodName] + words(event, of: client))
    }

    // Learning names and UUIDs.

    /// Stores the UUIDs of attributes that a client publishes with this request.
    package mutating func learn(_ request: ClientRequest, of client: Int) {
        if case .service(.addService(let service)) = request { learn(service, of: client) }
    }

    /// Stores the names of devices and the UUIDs of attributes that an event contains.
    package mutating func learn(_ event: ClientEvent, of client: Int) {
        switch event {
        case .discovered(let report): learn(report.name, of: report.peer)
        case .connected(let peer, let link): learn(link.name, of: peer)
        case .knownPeers(let known): for one in known { learn(one.name, of: one.peer) }
        case .systemLinks(let links): for link in links { learn(link.name, of: link.peer) }
        case .peer(let peer, let event, _): learn(event, of: peer)
        case .restored(.central(let state)):
            for peer in state.peers {
                learn(peer.name, of: peer.peer)
                for event in peer.validEvents { learn(event, of: peer.peer) }
            }
        case .restored(.peripheral(let state)): for service in state.services { learn(service, of: client) }
        case .security(.asked(let inquiry)): learn(inquiry.name, of: inquiry.peer)
        case .security(.bonds(let bonds)): for bond in bonds { learn(bond.name, of: bond.peer) }
        case .alert(let alert): learn(alert.name, of: alert.peer)
        case .stateChanged, .featuresChanged, .scanBegan, .connectFailed, .disconnected, .server, .security, .tester,
            .channel:
            break
        }
    }

    private mutating func learn(_ event: PeerEvent, of peer: PeerIdentifier) {
        switch event {
        case .nameChanged(let name): learn(name, of: peer)
        case .servicesDiscovered(.success(let found)), .includedServicesDiscovered(_, .success(let found)):
            for service in found { learn(service.uuid, of: service.range.start, of: peer) }
        case .characteristicsDiscovered(_, .success(let found)):
            for one in found { learn(one.uuid, of: one.value, of: peer) }
        case .descriptorsDiscovered(_, .success(let found)):
            for one in found { learn(one.uuid, of: one.handle, of: peer) }
        default: break
        }
    }

    private mutating func learn(_ name: String?, of peer: PeerIdentifier) {
        guard let name, !name.isEmpty, names[peer] != name else { return }
        if names.count >= Self.mostNames { names = [:] }
        names[peer] = name
    }

    private mutating func learn(_ uuid: BluetoothUUID, of handle: AttributeHandle, of peer: PeerIdentifier) {
        if remote.count >= Self.mostAttributes { remote = [:] }
        remote[RemoteAttribute(peer: peer, handle: handle.wire)] = uuid
    }

    private mutating func learn(_ service: ServiceDefinition, of client: Int) {
        if local.count >= Self.mostAttributes { local = [:] }
        local[LocalAttribute(client: client, id: service.id)] = service.uuid
        for characteristic in service.characteristics {
            local[LocalAttribute(client: client, id: characteristic.id)] = characteristic.uuid
        }
    }

    // Words for the parts of lines.

    /// Returns a device's identifier, followed by its name if that is known.
    func device(_ peer: PeerIdentifier) -> String {
        names[peer].map { "\(peer.text) (\(Self.plain($0)))" } ?? peer.text
    }

    /// Returns the UUID of a peer's attribute, or its handle if the attribute has not been discovered.
    func attribute(_ handle: AttributeHandle, of peer: PeerIdentifier) -> String {
        remote[RemoteAttribute(peer: peer, handle: handle.wire)].map { "\($0)" }
            ?? "handle 0x" + Self.hexadecimal(handle.wire)
    }

    /// Returns the UUID of a peer's service with these handles, or its first handle if the service has not been
    /// discovered.
    ///
    /// Returns `all services` for the range of all handles.
    func service(_ range: AttributeHandleRange, of peer: PeerIdentifier) -> String {
        range == .all ? "all services" : attribute(range.start, of: peer)
    }

    /// Returns the UUID of an attribute that a client has published, or its number if the UUID is unknown.
    func attribute(_ id: LocalAttributeID, of client: Int) -> String {
        local[LocalAttribute(client: client, id: id)].map { "\($0)" } ?? "attribute \(id.rawValue)"
    }

    private static func joined(_ words: [String]) -> String {
        let line = words.filter { !$0.isEmpty }.joined(separator: " ")
        return line.count > mostCharacters ? "\(line.prefix(mostCharacters))…" : line
    }

    /// Returns the first 64 Unicode scalars of an untrusted string, with those that could control a terminal replaced
    /// by U+FFFD.
    static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(64).map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Returns octets as hexadecimal digits, shortened to fit into a line.
    static func octets(_ value: [UInt8]) -> String {
        let shown = value.prefix(20).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return value.isEmpty ? "(empty)" : value.count > 20 ? "\(shown)… (\(value.count) octets)" : shown
    }

    static func list(_ uuids: [BluetoothUUID]) -> String {
        uuids.isEmpty
            ? "" : "[\(uuids.prefix(8).map { "\($0)" }.joined(separator: ", "))\(uuids.count > 8 ? ", …" : "")]"
    }

    static func hexadecimal(_ number: UInt16) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    static func seconds(_ time: Duration) -> String {
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }

    /// Returns a description of a failure, as a part of a line; empty if there is no failure.
    static func error(_ failure: Failure?) -> String { failure.map { "error: \($0.words)" } ?? "" }
}

extension PeerIdentifier {
    /// The UUID that apps know the peer by.
    package var text: String { "\(BluetoothUUID.full(rawValue))" }
}

extension Failure {
    /// The reason for the failure as a phrase, such as `timed out`.
    package var words: String {
        switch self {
        case .att(let code): "ATT \(code)"
        case .invalidResponse: "invalid response"
        case .hci(let status): "\(status)"
        case .channel(let result): "the peer refused the channel (result 0x\(Transcript.hexadecimal(result.wire)))"
        case .peerMisbehaved: "the peer violated the channel protocol"
        case .timedOut: "timed out"
        case .encryptionTimedOut: "encryption timed out"
        case .notConnected: "not connected"
        case .cancelled: "cancelled"
        case .poweredOff: "powered off"
        case .notFound: "not found"
        case .invalidParameters: "invalid parameters"
        case .notSupported: "not supported"
        case .uuidNotAllowed: "UUID not allowed"
        case .alreadyInProgress: "already in progress"
        case .limitReached: "limit reached"
        }
    }
}
