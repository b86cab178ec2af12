import BLEWire
import Glibc

/// Lets monitors of the same user, and of root, see what passes between a host and its controller.
///
/// Sendable because everything happens on the thread of the host's loop.
final class MonitorDoor: @unchecked Sendable {
    /// How many may watch at once.
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

    /// Where it is; `nil` if there is no place for it.
    private(set) var socket: HostSocket?

    /// Opens the door.
    ///
    /// - Parameters:
    ///   - source: Between whom the packets pass.
    ///   - loop: Where everything happens.
    ///   - admits: Whether the user with this number may watch.
    ///   - changed: Called on the thread of `loop` when a monitor has come or gone.
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

    /// Whether anybody watches.
    var isWatched: Bool { !monitors.isEmpty }

    /// Shows a packet to all who watch.
    func show(_ record: PacketRecord) {
        let time = clock.time(of: record.time)
        show(CaptureFormat.pcapng.record(record.bytes, record.direction, of: 0, at: time, comments: []))
    }

    /// Shows what an app asked for or heard.
    func show(_ comment: String, at now: Instant) {
        let comments = [CaptureFormat.comment(comment)]
        show(CaptureFormat.pcapng.statement(comments: comments, of: 0, at: clock.time(of: now)))
    }

    private func show(_ octets: [UInt8]) {
        for index in monitors.indices {
            monitors[index].feed.add(octets, pending: monitors[index].stream.pendingOctets)
        }
    }

    /// Sends what was shown in this turn of the loop.
    func turnEnded() {
        // Writing to one that is gone takes it out of the list.
        for index in monitors.indices.reversed() {
            let stream = monitors[index].stream, octets = monitors[index].feed.take(pending: stream.pendingOctets)
            if !octets.isEmpty { stream.write(octets.span) }
        }
    }

    /// Lets nobody watch any more.
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
            return CaptureFormat.pcapng.statement(comments: [], lost: lost, of: 0, at: now)
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
