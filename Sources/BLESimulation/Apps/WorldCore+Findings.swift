import BLEHost
import BLERuntime
import BLEWire

// Findings: behaviour that works here and would not work on an iPhone.
extension WorldCore {
    /// The time for which a background app may work after it was woken.
    static let wakeTime = Duration.seconds(10)
    /// The maximum number of findings.
    private static let mostFindings = 1_024

    /// Returns the rules that a request breaks.
    ///
    /// Called before the request is carried out.
    func possibleFindings(of request: ClientRequest, for client: ClientID) -> [PossibleFinding] {
        guard case .app(let session) = clients[client.rawValue] else { return [] }
        let station = stations[session.machine]
        guard station.backgroundModes != nil, session.role != .agent else { return [] }
        var result: [PossibleFinding] = []
        if case .scan(let scan, _) = request, station.backgroundModes?.contains(.liveActivity) != true {
            if scan.services.isEmpty {
                let sentence = "a scan in the background without services finds nothing"
                result.append(PossibleFinding(rule: .backgroundScan, sentence: sentence))
            }
            if scan.allowsDuplicates {
                let sentence = "a scan in the background reports no duplicates"
                result.append(PossibleFinding(rule: .backgroundDuplicates, sentence: sentence))
            }
        }
        if let overtime = overtime(of: session) {
            let sentence = "\(request.methodName) was called \(overtime.inMilliseconds) after the app was woken"
            result.append(PossibleFinding(rule: .backgroundTime, sentence: sentence))
        }
        return result
    }

    /// Returns the time since a background app was woken, if it exceeds ``wakeTime`` and no background task is running;
    /// otherwise `nil`.
    private func overtime(of session: WorldSession) -> Duration? {
        let station = stations[session.machine]
        guard station.phase(of: session.role) == .background, station.backgroundTasks.isEmpty,
            let woken = station.apps[session.app].lastWake, now - woken > Self.wakeTime
        else { return nil }
        return now - woken
    }

    /// Returns whether a rule applies to a session.
    ///
    /// A delegate method that is missing is a finding only while the app runs in the background, with the background
    /// mode for the session's role.
    func applies(_ rule: World.Finding.Rule, to session: WorldSession) -> Bool {
        rule != .missingMethod || stations[session.machine].phase(of: session.role) == .background
    }

    /// Records a finding, unless it is already known.
    ///
    /// Ends the apps of the machine if they have worked too long in the background and ``Machine/endsLateApps`` is set.
    mutating func find(_ suspicion: PossibleFinding, machine: Int, app: Int) {
        let station = stations[machine], name = station.apps[app].name
        let isKnown = findings.contains {
            $0.rule == suspicion.rule && $0.machine == station.name && $0.app == name
                && (suspicion.rule != .missingMethod || $0.sentence == suspicion.sentence)
        }
        if !isKnown, findings.count < Self.mostFindings {
            findings.append(
                World.Finding(
                    rule: suspicion.rule,
                    sentence: suspicion.sentence,
                    machine: station.name,
                    app: name,
                    time: now - Instant()
                )
            )
        }
        guard station.endsLateApps, [.backgroundTime, .backgroundTask].contains(suspicion.rule) else { return }
        story.add(.remark("the system ends the apps: \(suspicion.sentence)", machine: machine), at: now)
        endApps(of: machine, .terminatedBySystem)
    }

    /// Records that an app is called; its limited time in the background then starts again.
    mutating func wakeApp(of session: WorldSession) {
        stations[session.machine].apps[session.app].lastWake = now
    }

    /// Removes a background task that was not ended in time, and records a finding if the apps are in the background.
    mutating func expireTask(_ number: Int, on index: Int) {
        guard stations[index].backgroundTasks.contains(number) else { return }
        stations[index].backgroundTasks.removeAll { $0 == number }
        guard stations[index].backgroundModes != nil else { return }
        let suspicion = PossibleFinding(rule: .backgroundTask, sentence: "a background task was not ended in time")
        find(suspicion, machine: index, app: 0)
    }

    /// The connections of all apps in the world, as findings.
    var openConnections: [World.Finding] {
        connections.map { connection in
            let station = stations[connection.machine]
            let peer = station.names[connection.peer].map { "“\($0)”" } ?? "an unnamed device"
            return World.Finding(
                rule: .endlessConnection,
                sentence: "the connection to \(peer) was never cancelled",
                machine: station.name,
                app: station.apps[connection.app].name,
                time: now - Instant()
            )
        }
    }

    /// Updates the list of connections from an event that an app receives.
    mutating func countConnections(_ event: ClientEvent, _ session: WorldSession) {
        switch event {
        case .connected(let peer, _):
            connections.append(
                AppConnection(client: session.client, peer: peer, machine: session.machine, app: session.app)
            )
        case .disconnected(let peer, _, _):
            connections.removeAll { $0.client == session.client && $0.peer == peer }
        case .stateChanged(let state):
            if state != .poweredOn { connections.removeAll { $0.client == session.client } }
        default: break
        }
    }
}

/// A connection that was reported to an app and has not ended.
struct AppConnection {
    let client: ClientID
    let peer: PeerIdentifier
    let machine: Int
    let app: Int
}
