import BLEHost
import BLERuntime
import BLESession

/// The kept sessions, and their storage.
///
/// A session with a restore identifier stays here from the end of its app to its next launch. Its events are held, and
/// launch the app if it has declared that. With a file, sessions also outlive the daemon.
///
/// Sendable because everything happens on the thread of the daemon's loop.
final class KeptApps: @unchecked Sendable {
    /// The maximum number of kept sessions.
    ///
    /// Further ones end with their apps.
    static let most = 256

    private let file: KeptFile?
    private let launcher: AppLauncher
    private var apps: [KeptApp] = []
    private let radios: Radios
    private var policy: AppPolicy
    private let log: DaemonLog
    private let later: (Duration, @escaping @Sendable () -> Void) -> Void
    private var isOutdated = false

    /// Creates the sessions stored in `file`, on hosts that do not have them.
    ///
    /// `later` is called on the thread of the loop, and calls there what it is given after so long.
    init(
        _ file: KeptFile?,
        launcher: AppLauncher,
        radios: Radios,
        under policy: AppPolicy,
        noting log: DaemonLog,
        wake: @escaping @Sendable () -> Void,
        later: @escaping (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        self.later = later
        self.file = file
        self.launcher = launcher
        self.radios = radios
        self.policy = policy
        self.log = log
        for record in file?.read() ?? [] where apps.count < Self.most {
            guard let link = radios[record.key.radio], record.key.role == record.state.role, isAllowed(record.key)
            else { continue }
            let session = ServedSession(wake: wake)
            let app = KeptApp(record, session)
            app.apply(grant(to: record.key))
            apps.append(app)
            session.open(record.key.role, for: owner(of: record.key), on: link)
            session.perform(.appMoved(to: .background))
        }
    }

    /// Sets a new policy; what it does not allow is ended.
    func apply(_ policy: AppPolicy) {
        self.policy = policy
        for app in apps where !app.hasApp {
            if isAllowed(app.key) { app.apply(grant(to: app.key)) } else { forget(app) }
        }
    }

    /// The app of a session as long as it does not run.
    private func owner(of key: AppKey) -> ClientOwner {
        ClientOwner(AppCredentials(of: key), under: grant(to: key))
    }

    /// The app of a session has ended.
    func appEnded(_ app: KeptApp) {
        app.session.give(to: owner(of: app.key))
        app.appEnded()
    }

    private func grant(to key: AppKey) -> Grant { policy.grant(to: AppCredentials(of: key)) }

    /// The descriptions of the sessions that wait for their apps, for people.
    var facts: [AppFact] {
        apps.filter { !$0.hasApp }.map { $0.fact(radio: radios.name(of: $0.key.radio) ?? $0.key.radio) }
    }

    private func isAllowed(_ key: AppKey) -> Bool {
        grant(to: key).refusal(of: key.role, on: radios.name(of: key.radio) ?? key.radio) == nil
    }

    /// Ends the link to a peer, or all links, of apps that are not running and whose user `isMeant`; returns the number
    /// of apps.
    func endLinks(to peer: PeerIdentifier?, _ isMeant: (UInt32) -> Bool) -> Int {
        apps.count { !$0.hasApp && isMeant($0.key.user) && $0.endLinks(to: peer) }
    }

    /// The number of sessions that wait for their apps.
    var waitingCount: Int { apps.count { !$0.hasApp } }

    /// Removes and returns the kept session of an app; `nil` if there is none, or if another process has it.
    func take(_ key: AppKey, _ description: AppDescription?) -> KeptApp? {
        let launch = AppLaunch(key, description)
        let app = apps.first { $0.key == key && $0.launch.isSameApp(as: launch) && !$0.hasApp }
        if let app { launcher.launched(app.launch) }
        return app
    }

    /// Keeps a new session, if there is room and the identifier is not in use.
    func keep(_ key: AppKey, _ description: AppDescription?, _ session: ServedSession) -> KeptApp? {
        let app = KeptApp(key, description, session)
        guard apps.count < Self.most, !apps.contains(where: { $0.key == key && $0.launch.isSameApp(as: app.launch) })
        else { return nil }
        apps.append(app)
        return app
    }

    /// Ends all sessions in this process.
    ///
    /// Their records remain for the next daemon.
    func stop() {
        for app in apps { app.session.close() }
        apps = []
    }

    /// Drops a session that its app has closed or never used.
    func forget(_ app: KeptApp) {
        apps.removeAll { $0 === app }
        app.session.close()
        isOutdated = true
    }

    /// Processes the events of sessions without apps, and stores changes.
    func takeTurn() {
        var events: [ClientEvent] = []
        for app in apps where !app.hasApp {
            app.session.take(into: &events)
            guard !events.isEmpty else { continue }
            var launches = false
            let canLaunch = launcher.canLaunch(app.launch)
            for event in events where !app.isGivenUp {
                if app.receive(event, canLaunch: canLaunch, { _ in }) { launches = true }
            }
            events.removeAll(keepingCapacity: true)
            if launches { launch(app) }
        }
        for app in apps where app.isGivenUp { forget(app) }
        guard isOutdated || apps.contains(where: \.isChanged) else { return }
        isOutdated = false
        file?.write(apps.map { $0.takeRecord() })
    }

    /// Launches an app for its waiting sessions.
    private func launch(_ app: KeptApp) {
        let waiting = apps.filter { !$0.hasApp && $0.launch.isSameApp(as: app.launch) }.map(\.key)
        let credentials = AppCredentials(
            user: app.key.user,
            groups: [],
            process: 0,
            program: app.launch.program
        )
        let radio = radios.name(of: app.key.radio) ?? app.key.radio
        let begun = launcher.launch(app.launch, restoring: waiting, on: radio) { [log] end in
            var ended = credentials
            ended.process = end.process
            log.note("“\(end.command)” \(end.words)", of: ended)
        }
        guard let begun else { return }
        log.note(begun ? "launched to restore “\(app.key.identifier)”" : "could not be launched", of: credentials)
        guard begun else { return }
        later(AppLauncher.patience) { [launcher, log, launch = app.launch] in
            guard launcher.isAwaited(launch) else { return }
            log.note("did not restore its session within \(AppLauncher.patience) after its launch", of: credentials)
        }
    }
}

extension PreservedState {
    /// The role of the preserved state.
    fileprivate var role: ClientRole {
        switch self {
        case .central: .central
        case .peripheral: .peripheral
        }
    }
}
