import BLEController
import BLEHost
import BLEWire

/// A peer's host and the virtual controllers of both ends of a link, without the host of the other end.
///
/// It does everything that the workloads need: as a peripheral, it serves ``PeerService``; as a central, it connects,
/// subscribes, and reads and writes one value.
struct RadioPeer: ~Copyable {
    private static let client = ClientID(rawValue: 1)

    private let role: ClientRole
    private var air = Air(seed: 1)
    private let near: ControllerID
    private let far: ControllerID
    private var host = Host(configuration: .init(identifierSecret: 2), random: SeededGenerator(seed: 2))
    /// The packets that the controller of the other host has sent to that host.
    private var incoming: [[UInt8]] = []

    init(_ role: ClientRole, at now: Instant) {
        self.role = role
        near = air.add(ControllerIdentity(address: DeviceAddress(0xC0_0000_0001, .public), profile: .core5))
        far = air.add(ControllerIdentity(address: DeviceAddress(0xC0_0000_0002, .public), profile: .core5))
        host.transportOpened(at: now)
        host.open(Self.client, role: role, at: now)
    }

    /// The time at which to call ``wake(at:)``; `nil` if nothing is due.
    var deadline: Instant? { mutating get { [air.deadline, host.deadline].compactMap { $0 }.min() } }

    /// Does everything that is due; returns the packets for the other host.
    mutating func wake(at now: Instant) -> [[UInt8]] {
        air.wake(at: now)
        host.wake(at: now)
        return settle(at: now)
    }

    /// Processes a packet from the other host; returns the packets for that host.
    mutating func receive(_ packet: Span<UInt8>, at now: Instant) -> [[UInt8]] {
        air.wake(at: now)
        air.receive(packet, from: near, at: now)
        return settle(at: now)
    }

    private mutating func settle(at now: Instant) -> [[UInt8]] {
        var isBusy = true
        while isBusy {
            isBusy = false
            while let output = air.next() {
                guard case .hci(let octets, let controller) = output else { continue }
                isBusy = true
                if controller == near { incoming.append(octets) } else { host.receive(octets.span, at: now) }
            }
            while let output = host.next() {
                isBusy = true
                switch output {
                case .packet(let octets): air.receive(octets.span, from: far, at: now)
                case .event(let event, _): for request in answers(to: event) { perform(request, at: now) }
                case .remember, .loadPeers, .resetTransport, .note: break
                }
            }
        }
        defer { incoming = [] }
        return incoming
    }

    private mutating func perform(_ request: ClientRequest, at now: Instant) {
        host.perform(request, for: Self.client, at: now)
    }

    private func answers(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn) where role == .peripheral:
            [.service(.addService(PeerService.definition)), .server(.startAdvertising(AdvertisingRequest()))]
        case .server(.readRequested(let transaction, _, _, _)):
            [.service(.respond(transaction, .success(PeerService.value)))]
        case .server(.writeRequested(let transaction?, _, _)): [.service(.respond(transaction, .success([])))]
        case .server(.subscribed): [.service(.update(PeerService.notifiedID, PeerService.value, to: nil))]

        case .stateChanged(.poweredOn): [.scan(ScanRequest())]
        case .discovered(let report): [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _): [.peer(peer, .discoverCharacteristics(in: .all, only: []))]
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _):
            found.flatMap { uses(of: $0) }.map { .peer(peer, $0) }
        default: []
        }
    }

    private func uses(of found: DiscoveredCharacteristic) -> [PeerRequest] {
        switch found.uuid {
        case PeerService.readable: [.read(found.value)]
        case PeerService.writable:
            [.writeCommand(found.value, PeerService.value), .write(found.value, PeerService.value)]
        case PeerService.notified:
            [
                .subscribe(
                    .notifications,
                    to: found.value,
                    in: AttributeHandleRange(found.value, found.end)?.after(found.value)
                )
            ]
        default: []
        }
    }
}
