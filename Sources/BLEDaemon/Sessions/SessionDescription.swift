import BLEHost
import BLERuntime
import BLESession
import BLEWire

/// The description of a session that `ble` shows: its use of the radio, the phase of its app, and its links.
struct SessionDescription: Sendable {
    /// The maximum number of links in the description.
    static let mostLinks = 256

    private var info = SessionInfo()
    private var requestedAlerts = RequestedAlerts()
    /// True if notified values can be sent to the app without being examined.
    private var passesValues = true

    /// True if the app may receive all notified values, because its services are not restricted.
    var receivesAllValues = true { didSet { updatePassesValues() } }

    init(_ hello: Hello, radio: String, of app: AppCredentials?) {
        info.process = app.map { UInt32(bitPattern: $0.process) }
        info.user = app?.user ?? 0
        info.program = ShownText.path(app?.program ?? "")
        info.role = hello.role
        info.restoreIdentifier = hello.restoreIdentifier.map(ShownText.text)
        info.radio = radio
    }

    /// Creates the description of a kept session whose app is not running.
    init(_ key: AppKey, radio: String, keeping state: PreservedState) {
        info.user = key.user
        info.program = ShownText.path(key.program)
        info.role = key.role
        info.phase = .background
        info.restoreIdentifier = ShownText.text(key.identifier)
        info.radio = radio
        info.use = RadioUse(of: state)
        if case .central(let central) = state { info.links = Self.links(of: central) }
    }

    private static func links(of central: PreservedCentral) -> [SessionInfo.Link] {
        central.peers.filter { $0.mtu != nil }.map { SessionInfo.Link(peer: $0.peer, name: $0.name) }
    }

    /// The description to send to `ble`.
    var sessionInfo: SessionInfo { info }

    /// Records a request from the app.
    mutating func note(_ request: ClientRequest) {
        if case .appPhaseChanged(let phase) = request { info.phase = phase }
        info.use.note(request)
        requestedAlerts.note(request)
        updatePassesValues()
    }

    private mutating func updatePassesValues() { passesValues = receivesAllValues && requestedAlerts.isEmpty }

    /// Returns the alert to show for this event, if the app has requested one and is suspended; otherwise `nil`.
    func alert(insteadOf event: ClientEvent) -> ClientAlert? {
        guard let (occasion, peer) = requestedAlerts.occasion(of: event), isAsleep else { return nil }
        let app = info.program.split(separator: "/").last.map(String.init) ?? "An app"
        return ClientAlert(occasion, of: app, with: peer, called: name(of: peer, in: event))
    }

    private var isAsleep: Bool {
        info.phase == .suspended || info.process.map { SystemFile.isHalted(process: $0) } ?? false
    }

    private func name(of peer: PeerIdentifier, in event: ClientEvent) -> String? {
        if case .connected(_, let parameters) = event { return parameters.name }
        return info.links.first { $0.peer == peer }?.name
    }

    /// Returns the line about this event for the journal; `nil` if the event is not worth a line.
    func line(about event: ClientEvent) -> String? {
        switch event {
        case .connected(let peer, let parameters): "link to \(Self.text(peer, parameters.name)) connected"
        case .connectFailed(let peer, let failure): "no link to \(Self.text(peer, nil)): \(failure.words)"
        case .disconnected(let peer, let failure, _):
            "link to \(Self.text(peer, name(of: peer, in: event))) ended"
                + (failure.map { ": \($0.words)" } ?? "")
        case .stateChanged(let state): "radio is \(state)"
        default: nil
        }
    }

    private static func text(_ peer: PeerIdentifier, _ name: String?) -> String {
        var digits = Array(String(peer.rawValue, radix: 16, uppercase: true))
        digits = Array(repeating: "0", count: 32 - digits.count) + digits
        for place in [20, 16, 12, 8] { digits.insert("-", at: place) }
        return name.map { "“\($0)” (\(String(digits)))" } ?? String(digits)
    }

    /// Records a notified value.
    ///
    /// Returns false, without side effects, if the value must be examined first.
    mutating func noteValue() -> Bool {
        guard passesValues else { return false }
        info.use.noteEvent()
        return true
    }

    /// Records an event that the app receives.
    mutating func note(_ event: ClientEvent) {
        if case .restored = event {
            requestedAlerts.note(event)
            updatePassesValues()
        }
        info.use.note(event)
        switch event {
        case .restored(.central(let central)): info.links = Self.links(of: central)
        case .connected(let peer, let parameters):
            guard info.links.count < Self.mostLinks, !info.links.contains(where: { $0.peer == peer }) else { return }
            info.links.append(SessionInfo.Link(peer: peer, name: parameters.name))
        case .peer(let peer, .nameChanged(let name), _):
            for index in info.links.indices where info.links[index].peer == peer { info.links[index].name = name }
        case .disconnected(let peer, _, _): info.links.removeAll { $0.peer == peer }
        case .stateChanged(let state) where state != .poweredOn: info.links = []
        default: break
        }
    }
}

extension Answer {
    /// The maximum length of an answer with sessions, in octets, less than that of a message.
    private static let mostOctetsOfApps = 900_000

    /// Creates an answer with these sessions that fits into a message.
    ///
    /// Each session has an equal share of the space for links; links beyond it are left out.
    static func apps(fitting all: [SessionInfo]) -> Self {
        var apps = all
        for index in apps.indices { apps[index].links = [] }
        let share = (mostOctetsOfApps - Self.apps(apps).encoded.count) / max(1, apps.count)
        for (index, app) in zip(apps.indices, all) {
            var octets = 0
            apps[index].links = Array(
                app.links.prefix { link in
                    // An octet precedes each element of a sequence.
                    octets += 1 + link.encoded.count
                    return octets <= share
                }
            )
        }
        return .apps(apps)
    }
}

extension ClientEvent {
    /// True for notified values, which are the most frequent events.
    var isNotifiedValue: Bool { if case .peer(_, .valueNotified, _) = self { true } else { false } }
}
