import BLEHost
import BLEWire
import Glibc

/// The observers of a host, which receive its packets to and from the controller, and the requests and events of its
/// apps.
///
/// Sendable because everything happens on the host's loop thread.
final class PacketObservers: @unchecked Sendable {
    /// The environment variable that disables monitors if its value is “off”.
    static let variable = "BLUETOOTH_MONITOR"

    /// True if there is at least one observer.
    ///
    /// While this is false, checking it is the only cost per packet.
    private(set) var isActive: Bool

    private let source: PacketSource
    private let tap: PacketTap?
    private let capture: CaptureFile?
    private var log: TrafficLog?
    private var monitorServer: MonitorServer?
    private var transcript = Transcript()

    init(source: PacketSource, tap: PacketTap?, capture: CaptureFile?, log: TrafficLog? = TrafficLog()) {
        self.source = source
        self.tap = tap
        self.capture = capture
        self.log = log
        isActive = tap != nil || capture != nil || log != nil
    }

    /// The socket for monitors; `nil` if monitors are not allowed, or no socket was free.
    var socket: HostSocket? { monitorServer?.socket }

    /// Allows monitors from now on, unless the environment variable forbids them.
    func openMonitorServer(on loop: EventLoop) {
        guard getenv(Self.variable).map({ String(cString: $0) }) != "off" else { return }
        monitorServer = MonitorServer(to: source, on: loop) { [weak self] in self?.count() }
    }

    private func count() { isActive = tap != nil || capture != nil || log != nil || monitorServer?.isWatched == true }

    /// Passes a packet to the observers.
    func record(_ packet: Span<UInt8>, _ direction: PacketRecord.Direction, at now: Instant) {
        let record = PacketRecord(
            source: source,
            direction: direction,
            time: now,
            bytes: packet.withUnsafeBufferPointer { Array($0) }
        )
        tap?(record)
        capture?.write(record)
        log?.record(record)
        monitorServer?.send(record)
    }

    /// Passes a request from an app to the observers, as text.
    func record(_ request: ClientRequest, of client: ClientID, at now: Instant) {
        let line = transcript.line(request, of: client.rawValue)
        record("app \(client.rawValue) requests: \(line)", at: now)
    }

    /// Passes an event for an app to the observers, as text; leaves out received advertisements, which the packets
    /// contain.
    func record(_ event: ClientEvent, of client: ClientID, at now: Instant) {
        if case .discovered = event { return transcript.learn(event, of: client.rawValue) }
        let line = transcript.line(event, to: client.rawValue)
        record("app \(client.rawValue) receives: \(line)", at: now)
    }

    private func record(_ text: String, at now: Instant) {
        capture?.comment(text)
        log?.comment(text)
        monitorServer?.send(text, at: now)
    }

    /// Sends the collected data to the monitors, at the end of a turn of the loop.
    func turnEnded() { monitorServer?.turnEnded() }

    /// Disconnects all monitors, because the host is stopping.
    func close() { monitorServer?.close() }
}
