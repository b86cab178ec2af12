import BLEWire
import Glibc

/// A monitor of all hosts on this machine that allow it, including hosts that start later.
///
/// It reads a capture from the socket of each host, and reports the packets, new hosts, and hosts that disappear.
///
/// Sendable because everything happens on its loop's thread.
package final class HostMonitor: @unchecked Sendable {
    package enum Event: Sendable {
        /// The monitor has attached to a host.
        case attached(HostSocket)
        /// A host does not allow this user to monitor it, or has too many monitors; the text is the reason. This
        /// monitor keeps trying to attach to the host.
        case refused(HostSocket, String)
        /// A host has sent a packet, a comment or the number of lost packets.
        case item(CaptureReader.Item, at: HostSocket)
        /// The monitor is no longer attached to a host, because the host has ended or has sent invalid data.
        ///
        /// The failure describes the invalid data; it is `nil` if the host has ended.
        case gone(HostSocket, CaptureReader.Failure?)
    }

    /// The interval between searches for new hosts.
    private static let period = Duration.milliseconds(100)

    private struct Attachment {
        let stream: SocketStream
        var reader = CaptureReader()
        var hasReceivedData = false
    }

    private let loop = EventLoop("ble-monitor")
    private let processes: Set<Int32>
    private let find: @Sendable () -> [HostSocket]
    private let report: @Sendable (Event) -> Void
    private var attachments: [HostSocket: Attachment] = [:]
    private var refused: Set<HostSocket> = []
    /// The hosts that have sent invalid data and are therefore ignored.
    private var broken: Set<HostSocket> = []
    private var nextSearch = Instant()
    private var isStopped = false

    /// Creates a monitor; call ``start()`` to start it.
    ///
    /// - Parameters:
    ///   - processes: The process IDs of the hosts to monitor; empty for all hosts.
    ///   - find: Returns the hosts that can be monitored.
    ///   - report: Called on the loop's thread with each event, in order. Nothing is read during a call, so if calls
    ///     take too long, hosts drop packets.
    package init(
        of processes: Set<Int32> = [],
        find: @escaping @Sendable () -> [HostSocket] = { HostSocket.listening },
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.processes = processes
        self.find = find
        self.report = report
    }

    package func start() {
        loop.start { [weak self] in self?.takeTurn() }
        loop.wake()
    }

    /// Detaches from all hosts.
    ///
    /// Returns immediately. Events may still follow until the loop's thread has processed the call.
    package func stop() {
        loop.post { [self] in
            isStopped = true
            for socket in attachments.keys { attachments[socket]?.stream.close() }
            attachments = [:]
        }
    }

    private func takeTurn() -> Instant? {
        guard !isStopped else { return nil }
        let now = loop.clock.now
        if now >= nextSearch {
            searchHosts()
            nextSearch = loop.clock.now + Self.period
        }
        return nextSearch
    }

    private func searchHosts() {
        let found = find().filter { processes.isEmpty || processes.contains($0.process) }
        refused.formIntersection(found)
        broken.formIntersection(found)
        for socket in found where attachments[socket] == nil && !broken.contains(socket) { attach(to: socket) }
    }

    private func attach(to socket: HostSocket) {
        guard let descriptor = try? socket.address.connect() else { return }
        let stream = SocketStream(descriptor, on: loop)
        guard let owner = stream.peer?.user else { return }
        guard HostSocket.shows(to: geteuid(), owner: owner) else {
            return refuse(socket, "it belongs to another user; only that user and root may monitor it")
        }
        attachments[socket] = Attachment(stream: stream)
        stream.start { [weak self] (chunk) throws(TransportError) in
            self?.receive([UInt8](copying: chunk), from: socket)
        } closed: { [weak self] _ in
            self?.closed(socket)
        }
    }

    private func refuse(_ socket: HostSocket, _ reason: String) {
        if refused.insert(socket).inserted { report(.refused(socket, reason)) }
    }

    private func receive(_ octets: [UInt8], from socket: HostSocket) {
        guard !isStopped, attachments[socket] != nil else { return }
        if attachments[socket]?.hasReceivedData == false {
            attachments[socket]?.hasReceivedData = true
            refused.remove(socket)
            report(.attached(socket))
        }
        attachments[socket]?.reader.append(octets)
        do throws(CaptureReader.Failure) {
            while let item = try attachments[socket]?.reader.next() { report(.item(item, at: socket)) }
        } catch {
            attachments.removeValue(forKey: socket)?.stream.close()
            broken.insert(socket)
            report(.gone(socket, error))
        }
    }

    private func closed(_ socket: HostSocket) {
        guard let attachment = attachments.removeValue(forKey: socket), !isStopped else { return }
        if attachment.hasReceivedData {
            report(.gone(socket, nil))
        } else {
            refuse(socket, "it belongs to another user, or already has too many monitors")
        }
    }
}

/// The name under which this program appears in captures and monitors.
package enum ProgramName {
    /// The file name and process ID of this program.
    package static let own: String = {
        let path = SystemFile.target(of: "/proc/self/exe") ?? ""
        return "\(path.split(separator: "/").last ?? "program") \(getpid())"
    }()
}
