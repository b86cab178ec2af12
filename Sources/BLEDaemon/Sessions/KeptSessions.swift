import BLEHost
import BLERuntime
import BLESession

/// All kept sessions, and their storage.
///
/// A session with a restore identifier continues when its app ends, and the next launch of the app takes the session
/// over. Its events are held back, and cause a launch if the app has declared how it is launched. With a file, sessions
/// also survive restarts of the daemon.
///
/// Sendable because everything happens on the thread of the daemon's loop.
final class KeptSessions: @unchecked Sendable {
    /// The maximum number of kept sessions.
    ///
    /// Further sessions end with their apps.
    static let most = 256
    /// The maximum number of kept sessions per user.
    static let mostPerUser = 64

    private let file: KeptFile?
    private let launcher: AppLauncher
    private var apps: [KeptSessionEntry] = []
    private let radios: Radios
    private var policy: AppPolicy
    private let log: DaemonLog
    private let later: (Duration, @escaping @Sendable () -> Void) -> Void
    private var isOutdated = false

    /// Opens the sessions that are stored in `file`.
    ///
    /// `wake` is called on any thread when a session has events to process. `later` is called on the loop's thread with
    /// a delay and a function, and must call the function on that thread after the delay.
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
            let session = RemoteAppSession(wake: wake)
            let app = KeptSessionEntry(record, session)
            app.apply(grant(to: record.key))
            apps.append(app)
            session.open(record.key.role, for: owner(of: record.key), on: link)
            session.perform(.appPhaseChanged(to: .background))
        }
    }

    /// Sets a new policy.
    ///
    /// For apps that are not running, ends everything that the policy does not allow.
    func apply(_ policy: AppPolicy) {
        self.policy = policy
        for app in apps where !app.hasApp {
            if isAllowed(app.key) { app.apply(grant(to: app.key)) } else { forget(app) }
        }
    }

    /// Returns the owner that represents a session's app in the host while the app is not running.
    private func owner(of key: AppKey) -> ClientOwner {
        ClientOwner(AppCredentials(of: key), under: grant(to: key))
    }

    /// Records that the app of a session has ended.
    func appEnded(_ app: KeptSessionEntry) {
        app.session.transfer(to: owner(of: app.key))
        app.appEnded()
    }

    private func grant(to key: AppKey) -> Grant { policy.grant(to: AppCredentials(of: key)) }

    /// Descriptions of the sessions whose apps are not running, as `ble` shows them.
    var sessionInfos: [SessionInfo] {
        apps.filter { !$0.hasApp }.map { $0.sessionInfo(radio: radios.name(of: $0.key.radio) ?? $0.key.radio) }
    }

    private func isAllowed(_ key: AppKey) -> Bool {
        grant(to: key).refusal(of: key.role, on: radios.name(of: key.radio) ?? key.radio) == nil
    }

    /// Ends links of apps that are not running: those to a peer or, if `peer` is `nil`, all of them; returns the number
    /// of sessions that had such links.
    ///
    /// Only apps whose user satisfies `isMeant` are affected.
    func endLinks(to peer: PeerIdentifier?, _ isMeant: (UInt32) -> Bool) -> Int {
        apps.count { !$0.hasApp && isMeant($0.key.user) && $0.endLinks(to: peer) }
    }

    /// The number of sessions whose apps are not running.
    var waitingCount: Int { apps.count { !$0.hasApp } }

    /// Returns the kept session of an app that has been launched again; `nil` if there is none, or a running app has
    /// it.
    func take(_ key: AppKey, _ description: AppDescription?) -> KeptSessionEntry? {
        let launch = AppLaunch(key, description)
        let app = apps.first { isSame($0.key, key) && $0.launch.isSameApp(as: launch) && !$0.hasApp }
        if let app { launcher.endLaunch(of: app.launch) }
        return app
    }

    /// Keeps a new session; returns `nil` if there are too many sessions, or the app already has one with this
    /// identifier.
    func add(_ key: AppKey, _ description: AppDescription?, _ session: RemoteAppSession) -> KeptSessionEntry? {
        let app = KeptSessionEntry(key, description, session)
        guard apps.count < Self.most, apps.count(where: { $0.key.user == key.user }) < Self.mostPerUser,
            !apps.contains(where: { isSame($0.key, key) && $0.launch.isSameApp(as: app.launch) })
        else { return nil }
        apps.append(app)
        return app
    }

    /// Returns whether two keys stand for the same session.
    ///
    /// An app that names no radio uses the first one. When the daemon launches the app, `BLUETOOTH_HOST` names that
    /// radio, and the app must still find its session.
    private func isSame(_ one: AppKey, _ other: AppKey) -> Bool {
        var named = one
        named.radio = other.radio
        return named == other && isSameRadio(one, other)
    }

    private func isSameRadio(_ one: AppKey, _ other: AppKey) -> Bool {
        one.radio == other.radio || radios.name(of: one.radio) == radios.name(of: other.radio)
    }

    /// Closes all sessions, because the daemon is stopping.
    ///
    /// Their records remain in the file, for the next run of the daemon.
    func stop() {
        for app in apps { app.session.close() }
        apps = []
    }

    /// Closes an app's session, and leaves it out when the file is next written.
    ///
    /// If the app has no other session to restore, its launch ends, because systemd would start its unit again and
    /// again while the launch file exists.
    func forget(_ app: KeptSessionEntry) {
        apps.removeAll { $0 === app }
        app.session.close()
        isOutdated = true
        let launch = app.launch
        if !apps.contains(where: { !$0.hasApp && $0.launch.isSameApp(as: launch) }) { launcher.endLaunch(of: launch) }
    }

    /// Processes the events of sessions whose apps are not running, and stores changed sessions.
    func takeTurn() {
        var events: [ClientEvent] = []
        for app in apps where !app.hasApp {
            app.session.take(into: &events)
            guard !events.isEmpty else { continue }
            var launches = false
            let canLaunch = launcher.canLaunch(app.launch)
            for event in events where !app.mustBeDropped {
                if app.receive(event, canLaunch: canLaunch, { _ in }) { launches = true }
            }
            events.removeAll(keepingCapacity: true)
            if launches { launch(app) }
        }
        for app in apps where app.mustBeDropped { forget(app) }
        guard isOutdated || apps.contains(where: \.isChanged) else { return }
        isOutdated = false
        file?.write(apps.map { $0.takeRecord() })
    }

    /// Launches an app to restore all of its sessions on the radio of the given session.
    private func launch(_ app: KeptSessionEntry) {
        let waiting = apps.filter {
            !$0.hasApp && $0.launch.isSameApp(as: app.launch) && isSameRadio($0.key, app.key)
        }.map(\.key)
        let credentials = AppCredentials(
            user: app.key.user,
            groups: [],
            process: 0,
            program: app.launch.program
        )
        let radio = radios.name(of: app.key.radio) ?? app.key.radio
        do throws(LaunchFailure) {
            let isLaunched = try launcher.launch(app.launch, restoring: waiting, on: radio) { [log] end in
                var ended = credentials
                ended.process = end.process
                log.note("“\(end.command)” \(end.words)", of: ended)
            }
            guard isLaunched else { return }
        } catch {
            return log.note("could not be launched (\(error.reason))", of: credentials)
        }
        log.note("launched to restore “\(app.key.identifier)”", of: credentials)
        later(AppLauncher.restoreTimeout) { [launcher, log, launch = app.launch] in
            guard launcher.isAwaited(launch) else { return }
            log.note(
                "did not restore its session within \(AppLauncher.restoreTimeout) of its launch",
                of: credentials
            )
        }
    }
}

extension PreservedState {
    /// The role of the app that the state belongs to.
    fileprivate var role: ClientRole {
        switch self {
        case .central: .central
        case .peripheral: .peripheral
        }
    }
}
