import BLEWire
import Glibc

/// A server that sends a host's packets to monitors that are run by the same user or by root.
///
/// Sendable because everything happens on the host's loop thread.
final class MonitorServer: @unchecked Sendable {
    /// The maximum number of monitors.
    static let mostMonitors = 4

    private struct Monitor {
        let stream: SocketStream
        var feed: PacketFeed
    }

    private let source: PacketSource
    private let clock: WallClock
    private let admits: (UInt32) -> Bool
    private let changed: () -> Void
    private var listener: SocketListener?
    private var monitors: [Monitor] = []
    private var isClosed = false

    /// The socket that the server listens on; `nil` if no socket was free.
    private(set) var socket: HostSocket?

    /// Opens a socket and listens on it.
    ///
    /// - Parameters:
    ///   - source: The source of the packets, as monitors see it.
    ///   - loop: The loop on which everything runs.
    ///   - admits: Returns whether the user with this ID may monitor the host.
    ///   - changed: Called on the loop's thread when a monitor has connected or disconnected.
    init(
        to source: PacketSource,
        on loop: EventLoop,
        admits: @escaping @Sendable (UInt32) -> Bool = { HostSocket.shows(to: $0, owner: geteuid()) },
        changed: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.admits = admits
        self.changed = changed
        clock = WallClock(at: loop.clock.now)
        for number in HostSocket.numbers where listener == nil {
            let place = HostSocket(process: getpid(), number: number)
            listener = try? SocketListener(at: place.address, on: loop) { [weak self] in self?.admit($0) }
            if listener != nil { socket = place }
        }
    }

    /// True if at least one monitor is connected.
    var isWatched: Bool { !monitors.isEmpty }

    /// Queues a packet for all monitors, to which ``turnEnded()`` sends it.
    func send(_ record: PacketRecord) {
        let time = clock.time(of: record.time)
        send(CaptureFormat.pcapng.record(record.bytes, record.direction, of: 0, at: time, comments: []))
    }

    /// Queues the text of an app's request or event for all monitors, to which ``turnEnded()`` sends it.
    func send(_ comment: String, at now: Instant) {
        let comments = [CaptureFormat.comment(comment)]
        send(CaptureFormat.pcapng.statistics(comments: comments, of: 0, at: clock.time(of: now)))
    }

    private func send(_ octets: [UInt8]) {
        for index in monitors.indices {
            monitors[index].feed.add(octets, pending: monitors[index].stream.pendingOctets)
        }
    }

    /// Sends everything that was collected during this turn of the loop.
    func turnEnded() {
        // A failed write removes the monitor from the list.
        for index in monitors.indices.reversed() {
            let stream = monitors[index].stream, octets = monitors[index].feed.take(pending: stream.pendingOctets)
            if !octets.isEmpty { stream.write(octets.span) }
        }
    }

    /// Closes the socket, and disconnects all monitors.
    func close() {
        isClosed = true
        listener = nil
        for monitor in monitors { monitor.stream.close() }
        monitors = []
        changed()
    }

    private func admit(_ stream: SocketStream) {
        guard !isClosed, let peer = stream.peer, admits(peer.user), monitors.count < Self.mostMonitors else { return }
        let header = CaptureFormat.pcapng.header + CaptureFormat.pcapng.introduction(of: source)
        let feed = PacketFeed(beginning: header) { lost in
            let now = WallClock(at: Instant()).time(of: Instant())
            return CaptureFormat.pcapng.statistics(comments: [], lost: lost, of: 0, at: now)
        }
        monitors.append(Monitor(stream: stream, feed: feed))
        stream.start { _ in
        } closed: { [weak self, weak stream] _ in
            guard let self else { return }
            monitors.removeAll { $0.stream === stream }
            changed()
        }
        changed()
    }
}
