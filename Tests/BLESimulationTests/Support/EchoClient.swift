import BLEHost
import BLERuntime
import BLEWire
import Dispatch

/// A central that finds an ``EchoServer``, subscribes, writes the values 0 to n one after the other, and collects what
/// comes back.
final class EchoClient: SeamApp, @unchecked Sendable {
    private let count: Int
    private let reconnects: Bool
    private var written = 0
    private var input: DiscoveredCharacteristic?
    private(set) var peer: PeerIdentifier?
    /// What was notified, in order.
    private(set) var values: [[UInt8]] = []

    /// Starts at once.
    ///
    /// - Parameters:
    ///   - link: The host to use.
    ///   - count: How many values it writes.
    ///   - reconnects: Whether it connects again when the connection is lost.
    ///   - queue: Where it works.
    init(
        on link: any HostLink,
        count: Int,
        reconnects: Bool = false,
        queue: DispatchQueue = DispatchQueue(label: "client")
    ) {
        self.count = count
        self.reconnects = reconnects
        super.init(on: queue)
        start(.central, on: link)
    }

    static func value(_ number: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: number), 0xEC, 0x40] }

    /// Whether every value came back, once and in order.
    var isComplete: Bool { values == (0..<count).map(Self.value) }

    override func react(to event: ClientEvent) {
        switch event {
        case .stateChanged(.poweredOn): send(.scan(ScanRequest(services: [EchoServer.service])))
        case .discovered(let report) where peer == nil:
            peer = report.peer
            send(.stopScan)
            send(.connect(report.peer, ConnectRequest()))
        case .connected(let peer, _): send(.peer(peer, .discoverServices(only: [EchoServer.service])))
        case .disconnected(let peer, .some, _) where reconnects: send(.connect(peer, ConnectRequest()))
        case .peer(let peer, let event, _): react(to: event, of: peer)
        default: break
        }
    }

    private func react(to event: PeerEvent, of peer: PeerIdentifier) {
        switch event {
        case .servicesDiscovered(.success(let services)):
            for service in services { send(.peer(peer, .discoverCharacteristics(in: service.range, only: []))) }
        case .characteristicsDiscovered(_, .success(let characteristics)):
            input = characteristics.first { $0.uuid == EchoServer.input }
            for output in characteristics where output.uuid == EchoServer.output {
                let range = AttributeHandleRange(output.value, output.end)?.after(output.value)
                send(.peer(peer, .subscribe(.notifications, to: output.value, in: range)))
            }
        case .subscriptionChanged(_, .notifications, nil), .valueWritten(_, nil): writeNext(to: peer)
        case .valueNotified(_, let value): values.append(value)
        default: break
        }
    }

    private func writeNext(to peer: PeerIdentifier) {
        guard let input, written < count else { return }
        send(.peer(peer, .write(input.value, Self.value(written))))
        written += 1
    }
}
