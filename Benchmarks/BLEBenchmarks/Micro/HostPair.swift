import BLEController
import BLEHost
import BLEWire

/// The hosts of a central, a peripheral and other devices on one virtual radio.
///
/// All of them run on the calling thread.
struct HostPair: ~Copyable {
    enum Side: Hashable {
        case central, peripheral
        /// One of the other hosts.
        case other(Int)
    }

    private final class Other {
        var host: Host

        init(seed: UInt64) {
            host = Host(configuration: .init(identifierSecret: UInt128(seed)), random: SeededGenerator(seed: seed))
        }
    }

    private var air: Air
    private let controllers: [ControllerID]
    private let sides: [Side]
    var central: Host
    var peripheral: Host
    private let others: [Other]
    private(set) var now = Instant()
    /// The events that clients have received.
    private var events: [(side: Side, event: ClientEvent)] = []
    /// The last data packet that each host has received over its last link, the one with the highest handle.
    private(set) var lastData: [Side: [UInt8]] = [:]

    /// Starts the hosts.
    ///
    /// The central and the peripheral have the limits of a machine with 4 GiB.
    init(profile: ControllerIdentity.Profile, others count: Int = 0) {
        var air = Air(seed: 1)
        sides = [.central, .peripheral] + (0..<count).map { .other($0) }
        controllers = sides.indices.map { index in
            air.add(ControllerIdentity(address: Self.address(at: index), profile: profile))
        }
        self.air = air
        let limits = Limits(memory: 4 << 30)
        central = Host(configuration: .init(identifierSecret: 1, limits: limits), random: SeededGenerator(seed: 1))
        peripheral = Host(configuration: .init(identifierSecret: 2, limits: limits), random: SeededGenerator(seed: 2))
        others = (0..<count).map { Other(seed: UInt64($0) + 3) }
        for side in sides { change(side) { $0.transportOpened(at: $1) } }
        settle()
    }

    private static func address(at index: Int) -> DeviceAddress {
        DeviceAddress(0xC0_0000_0001 + UInt64(index), .public)
    }

    mutating func open(_ role: ClientRole, _ client: ClientID, on side: Side) {
        change(side) { $0.open(client, role: role, at: $1) }
        settle()
    }

    mutating func perform(_ request: ClientRequest, for client: ClientID, on side: Side) {
        change(side) { $0.perform(request, for: client, at: $1) }
        settle()
    }

    /// Delivers a packet to a host as if the host's controller had sent it.
    mutating func feed(_ packet: [UInt8], to side: Side) {
        change(side) { $0.receive(packet.span, at: $1) }
        settle()
    }

    private mutating func change(_ side: Side, _ body: (inout Host, Instant) -> Void) {
        switch side {
        case .central: body(&central, now)
        case .peripheral: body(&peripheral, now)
        case .other(let index): body(&others[index].host, now)
        }
    }

    /// Advances the time by `duration`.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let due = deadline, due <= end {
            now = max(now, due)
            air.wake(at: now)
            for side in sides { change(side) { $0.wake(at: $1) } }
            settle()
        }
        now = end
    }

    private var deadline: Instant? {
        mutating get {
            let deadlines = [air.deadline, central.deadline, peripheral.deadline] + others.map { $0.host.deadline }
            return deadlines.compactMap { $0 }.min()
        }
    }

    /// Returns the first result of `body` that is not `nil`, for the events of a host in order.
    ///
    /// - Precondition: There is such an event.
    func first<Found>(on side: Side = .central, _ body: (ClientEvent) -> Found?) -> Found {
        for event in events where event.side == side {
            if let found = body(event.event) { return found }
        }
        preconditionFailure("the expected event has not occurred")
    }

    /// Lets the peripheral advertise, and the central scan and connect; returns the central's identifier of the
    /// peripheral.
    mutating func meet(_ client: ClientID, central: Side, peripheral: Side) -> PeerIdentifier {
        perform(.server(.startAdvertising(AdvertisingRequest())), for: client, on: peripheral)
        perform(.scan(ScanRequest()), for: client, on: central)
        run(for: .milliseconds(500))
        let address = sides.firstIndex(of: peripheral).map(Self.address)
        let peer: PeerIdentifier = first(on: central) { event in
            if case .discovered(let report) = event, report.address == address { report.peer } else { nil }
        }
        perform(.stopScan, for: client, on: central)
        perform(.connect(peer, ConnectRequest()), for: client, on: central)
        run(for: .milliseconds(500))
        return peer
    }

    private mutating func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            while let output = air.next() {
                guard case .hci(let bytes, let controller) = output,
                    let index = controllers.firstIndex(of: controller)
                else { continue }
                isBusy = true
                keep(bytes, of: sides[index])
                change(sides[index]) { $0.receive(bytes.span, at: $1) }
            }
            for index in sides.indices { isBusy = carryOut(index) || isBusy }
        }
    }

    private mutating func keep(_ packet: [UInt8], of side: Side) {
        func handle(_ packet: [UInt8]) -> Int { Int(packet[2] & 0x0F) << 8 | Int(packet[1]) }
        guard packet.first == 0x02, lastData[side].map({ handle($0) <= handle(packet) }) ?? true else { return }
        lastData[side] = packet
    }

    /// Performs the outputs of a host; returns false if there were none.
    private mutating func carryOut(_ index: Int) -> Bool {
        var outputs: [Host.Output] = []
        change(sides[index]) { host, _ in while let output = host.next() { outputs.append(output) } }
        for output in outputs {
            switch output {
            case .packet(let bytes): air.receive(bytes.span, from: controllers[index], at: now)
            case .event(let event, _): events.append((sides[index], event))
            case .remember, .loadPeers, .resetTransport, .note: break
            }
        }
        return !outputs.isEmpty
    }
}
