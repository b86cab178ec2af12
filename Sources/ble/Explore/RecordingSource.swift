import BLEExplain
import BLERuntime
import BLESimulation
import BLEWire
import Foundation

/// A recording of the packets and calls of a session, which the page of `ble explore` shows on its tracks.
protocol RecordingSource: Sendable {
    /// True if the recorded times count from the beginning of a simulated world.
    var isWorld: Bool { get }
    /// Moves the events that were recorded since the last call to `live`; returns true if there were any.
    func record(to live: inout LiveTimeline) -> Bool
    /// Records a line of the session, if the calls and callbacks themselves cannot be recorded.
    func note(_ fact: Fact)
}

/// The recording of a whole world, with the packets on the air.
struct WorldRecording: RecordingSource {
    private let world: World
    let isWorld = true

    /// Starts to record.
    init(of world: World) {
        self.world = world
        world.recordPage(reading: ValueFormat.reading)
    }

    func record(to live: inout LiveTimeline) -> Bool { world.record(to: &live) }

    func note(_ fact: Fact) {}
}

/// The recording of this process's host or, if the process uses a daemon, of the daemon's hosts.
///
/// Only root and the daemon's user can record a daemon's hosts, and even they cannot record a simulated world in the
/// daemon. The recording contains the packets and calls of all apps. If recording is not possible, the lines of the
/// session take the place of calls and callbacks.
final class HostRecording: RecordingSource {
    /// The events that the monitor has received.
    private final class Recording: Sendable {
        let builder = Locked(TimelineBuilder(reading: ValueFormat.reading))
        /// True once the monitor has been attached to a host.
        let isAttached = Locked(false)
    }

    /// The source under which the lines of the session are recorded.
    private static let session = PacketSource(machine: "session")

    private let recording: Recording
    private let monitor: HostMonitor
    private let usesDaemon: Bool
    let isWorld = false

    /// Starts to record.
    ///
    /// - Parameter daemon: The path of the daemon's socket; `nil` if the host is in this process.
    init(ofDaemonAt daemon: String?) {
        let socket = daemon.flatMap { try? SocketAddress.unix(path: $0).connect() }
        // No process has the ID 0, so nothing is recorded if the daemon's process is unknown.
        let process = daemon == nil ? getpid() : socket?.peer?.process ?? 0
        usesDaemon = daemon != nil
        let recording = Recording()
        self.recording = recording
        monitor = HostMonitor(of: [process]) { event in
            switch event {
            case .attached: recording.isAttached.withLock { $0 = true }
            case .item(let item, _): recording.builder.withLock { $0.add(item) }
            case .refused, .gone: break
            }
        }
        monitor.start()
    }

    func record(to live: inout LiveTimeline) -> Bool {
        recording.builder.withLock { live.take(from: &$0, until: Instant(nanoseconds: .max)) }
    }

    func note(_ fact: Fact) {
        guard usesDaemon, !recording.isAttached.withLock({ $0 }) else { return }
        let keys = ["command", "name", "identifier", "characteristic", "reading", "value"]
        var words = keys.compactMap { fact.fields[$0] as? String }
        if let error = fact.fields["error"] as? String { words.append("error: \(error)") }
        let text = "app 0 receives: \(([fact.event] + words).joined(separator: " "))"
        let now = Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
        recording.builder.withLock { builder in
            builder.add(text: text, of: Self.session, at: now)
            if let rssi = fact.fields["rssi"] as? Int, let name = fact.fields["name"] as? String {
                builder.sample("RSSI, \(name)", unit: "dBm", Double(rssi), at: now)
            }
        }
    }

    deinit { monitor.stop() }
}
