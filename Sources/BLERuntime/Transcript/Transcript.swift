package import BLEHost
import BLEWire

/// The words of logs and stories for what apps ask of their managers and hear from them.
///
/// A line has the name of the call or of the delegate's method, the identifier of the device as the app sees it, its
/// name if it is known, and the UUIDs of attributes: `connect 44BEFCB7-9354-84A5-B59A-2EC001542FD0 (Lamp)`. The same
/// calls give the same lines in every run. Passkeys and keys of pairings are left out.
///
/// Names and UUIDs are learnt from the requests and events before, so each of these has to be passed to ``line(_:)`` or
/// ``learn(_:)``, in their order.
package struct Transcript: Sendable {
    /// Devices whose names are remembered; when there are more, all names are forgotten.
    private static let mostNames = 1_024
    /// Attributes whose UUIDs are remembered; when there are more, all are forgotten.
    private static let mostAttributes = 8_192

    /// The length of a line before it is cut.
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

    /// The line for a request of a client, without line breaks.
    package mutating func line(_ request: ClientRequest, of client: Int) -> String {
        learn(request, of: client)
        return Self.joined([request.step] + words(request, of: client))
    }

    /// The line for an event that a client hears, without line breaks.
    package mutating func line(_ event: ClientEvent, to client: Int) -> String {
        learn(event, of: client)
        return Self.joined([event.step] + words(event, of: client))
    }

    // What is learnt.

    /// Learns the UUIDs of what a client publishes.
    package mutating func learn(_ request: ClientRequest, of client: Int) {
        if case .service(.addService(let service)) = request { learn(service, of: client) }
    }

    /// Learns the names of devices and the UUIDs of their attributes.
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
                for event in peer.learnt { learn(event, of: peer.peer) }
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

    // The words for parts of lines.

    /// A device: its identifier, and its name if that is known.
    func device(_ peer: PeerIdentifier) -> String {
        names[peer].map { "\(peer.text) (\(Self.plain($0)))" } ?? peer.text
    }

    /// An attribute of a peer: its UUID if it was discovered, else its handle.
    func attribute(_ handle: AttributeHandle, of peer: PeerIdentifier) -> String {
        remote[RemoteAttribute(peer: peer, handle: handle.wire)].map { "\($0)" }
            ?? "handle 0x" + Self.hexadecimal(handle.wire)
    }

    /// A service of a peer, which has these handles.
    func service(_ range: AttributeHandleRange, of peer: PeerIdentifier) -> String {
        range == .all ? "all services" : attribute(range.start, of: peer)
    }

    /// An attribute that a client publishes.
    func attribute(_ id: LocalAttributeID, of client: Int) -> String {
        local[LocalAttribute(client: client, id: id)].map { "\($0)" } ?? "attribute \(id.rawValue)"
    }

    private static func joined(_ words: [String]) -> String {
        let line = words.filter { !$0.isEmpty }.joined(separator: " ")
        return line.count > mostCharacters ? "\(line.prefix(mostCharacters))…" : line
    }

    /// A text of a stranger, short, and without what would steer a terminal.
    static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(64).map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Octets as hexadecimal digits, as many as a line has room for.
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

    /// What went wrong, behind what it happened to.
    static func error(_ failure: Failure?) -> String { failure.map { "error: \($0.words)" } ?? "" }
}

extension PeerIdentifier {
    /// The UUID that apps see.
    package var text: String { "\(BluetoothUUID.full(rawValue))" }
}

extension Failure {
    /// The reason in words.
    var words: String {
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
