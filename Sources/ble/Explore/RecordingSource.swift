import BLEExplain
import BLERuntime
import BLESimulation
import BLEWire
import Glibc

/// A recording of the packets and calls of the session, for the tracks of its page.
protocol RecordingSource: Sendable {
    /// True if times count from the beginning of a world.
    var isWorld: Bool { get }
    /// Moves what was recorded since the last call to a timeline; returns true if there are new events.
    func record(to live: inout LiveTimeline) -> Bool
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
}

/// The recording of the host of this process, or of the daemon that it uses.
///
/// The hosts of a daemon can be recorded only by root and by the daemon's user. Such a recording contains all apps.
final class HostRecording: RecordingSource {
    /// What the monitor has received.
    private final class Recording: Sendable {
        let builder = Locked(TimelineBuilder(reading: ValueFormat.reading))
    }

    private let recording: Recording
    private let monitor: HostMonitor
    let isWorld = false

    /// Starts to record.
    ///
    /// - Parameter daemon: The path of the daemon's socket; `nil` if the host is in this process.
    init(ofDaemonAt daemon: String?) {
        var processes: Set = [getpid()]
        if let daemon, let socket = try? SocketAddress.unix(path: daemon).connect(), let peer = socket.peer {
            processes.insert(peer.process)
        }
        let recording = Recording()
        self.recording = recording
        monitor = HostMonitor(of: processes) { event in
            if case .item(let item, _) = event { recording.builder.withLock { $0.add(item) } }
        }
        monitor.start()
    }

    func record(to live: inout LiveTimeline) -> Bool {
        recording.builder.withLock { live.take(from: &$0, until: Instant(nanoseconds: .max)) }
    }

    deinit { monitor.stop() }
}
