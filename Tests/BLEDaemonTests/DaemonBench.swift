import BLEHost
import BLERuntime
import BLESession
import BLESimulation
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

/// A daemon with a simulated world in real time, and apps that reach it over its socket.
final class DaemonBench {
    let path: String
    private let directory: String
    private var daemon: Daemon?
    private let radios: Radios
    private let launcher: AppLauncher
    /// Where sessions outlive the daemon.
    private let file: KeptFile

    /// Starts the daemon with a simulated world.
    convenience init(
        _ world: Scenario = .demo,
        limits: Daemon.Limits = .init(),
        under policy: AppPolicy = .none,
        launcher: AppLauncher = AppLauncher()
    ) throws {
        let phone = world.makeWorld()
        phone.runInRealTime()
        try self.init(Radios([("world", phone.machine("phone"))]), limits: limits, under: policy, launcher: launcher)
    }

    /// Starts the daemon with these radios.
    init(
        _ radios: Radios,
        limits: Daemon.Limits = .init(),
        under policy: AppPolicy = .none,
        launcher: AppLauncher = AppLauncher()
    ) throws {
        self.launcher = launcher
        self.radios = radios
        // Short, since the path of a socket has at most 107 octets.
        let pattern = "/tmp/bled-" + String(repeating: "X", count: 6)
        var name = Array(pattern.utf8CString)
        directory = try #require(mkdtemp(&name).map { String(cString: $0) })
        path = directory + "/socket"
        file = KeptFile(path: directory + "/sessions")
        try start(limits: limits, under: policy)
    }

    deinit {
        stop()
        for name in ["socket", "sessions", "sessions.lock", "off", "off.lock"] { unlink(directory + "/" + name) }
        rmdir(directory)
    }

    /// The daemon as it runs now.
    var current: Daemon { get throws { try #require(daemon) } }

    func start(limits: Daemon.Limits = .init(), under policy: AppPolicy = .none) throws {
        let daemon = Daemon(
            radios,
            limits: limits,
            under: policy,
            keeping: file,
            switches: directory + "/off",
            launcher: launcher
        )
        try daemon.listen(at: path)
        self.daemon = daemon
    }

    func stop() {
        daemon?.stop()
        file.flush()
        daemon = nil
    }

    /// A central manager of an app of its own.
    func central(radio: String = "") -> CBCentralManager { Self.central(at: path, radio: radio) }

    /// The same for a daemon that listens at `path`.
    static func central(at path: String, radio: String = "") -> CBCentralManager {
        Bluetooth.$link.withValue(DaemonLink(to: path, radio: radio)) {
            CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        }
    }
}

extension CBManager {
    /// The present state of the manager and those that it comes to from now on.
    var states: AsyncStream<CBManagerState> {
        let (stream, continuation) = AsyncStream.makeStream(of: CBManagerState.self)
        _ = observers.add { event in
            guard case .stateChanged(let state) = event else { return }
            continuation.yield(CBManagerState(rawValue: Int(state.wire)) ?? .unknown)
        }
        // One that is missed here has been heard of, and one that is heard of twice does no harm.
        continuation.yield(state)
        return stream
    }

    /// Returns when the manager has come to a state.
    func reach(_ wanted: CBManagerState) async {
        for await state in states where state == wanted { return }
    }
}
