import BLEController
import BLEHost
import BLEWire

/// A central's and a peripheral's host on one virtual radio, run by hand on one thread.
struct HostPair: ~Copyable {
    enum Side { case central, peripheral }

    private var air: Air
    private let controllers: [ControllerID]
    var central: Host
    var peripheral: Host
    private(set) var now = Instant()
    /// What clients heard.
    private var events: [ClientEvent] = []
    /// The last data packet that each host got.
    private(set) var lastData: [Side: [UInt8]] = [:]

    init(profile: ControllerIdentity.Profile) {
        var air = Air(seed: 1)
        controllers = [0xC0_0000_0001, 0xC0_0000_0002].map { address in
            air.add(ControllerIdentity(address: DeviceAddress(address, .public), profile: profile))
        }
        self.air = air
        central = Host(configuration: .init(identifierSecret: 1), random: SeededGenerator(seed: 1))
        peripheral = Host(configuration: .init(identifierSecret: 2), random: SeededGenerator(seed: 2))
        central.transportOpened(at: now)
        peripheral.transportOpened(at: now)
        settle()
    }

    mutating func open(_ role: ClientRole, _ client: ClientID, on side: Side) {
        switch side {
        case .central: central.open(client, role: role, at: now)
        case .peripheral: peripheral.open(client, role: role, at: now)
        }
        settle()
    }

    mutating func perform(_ request: ClientRequest, for client: ClientID, on side: Side) {
        switch side {
        case .central: central.perform(request, for: client, at: now)
        case .peripheral: peripheral.perform(request, for: client, at: now)
        }
        settle()
    }

    /// Lets `duration` pass.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let due = [air.deadline, central.deadline, peripheral.deadline].compactMap({ $0 }).min(), due <= end {
            now = max(now, due)
            air.wake(at: now)
            central.wake(at: now)
            peripheral.wake(at: now)
            settle()
        }
        now = end
    }

    /// What `body` makes of the first event that it makes something of.
    ///
    /// - Precondition: There is one.
    func first<Found>(_ body: (ClientEvent) -> Found?) -> Found {
        for event in events {
            if let found = body(event) { return found }
        }
        preconditionFailure("the two hosts have not met")
    }

    private mutating func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            while let output = air.next() {
                guard case .hci(let bytes, let controller) = output else { continue }
                isBusy = true
                let side: Side = controller == controllers[0] ? .central : .peripheral
                if bytes.first == 0x02 { lastData[side] = bytes }
                switch side {
                case .central: central.receive(bytes.span, at: now)
                case .peripheral: peripheral.receive(bytes.span, at: now)
                }
            }
            while let output = central.next() { isBusy = handle(output, 0) || isBusy }
            while let output = peripheral.next() { isBusy = handle(output, 1) || isBusy }
        }
    }

    private mutating func handle(_ output: Host.Output, _ index: Int) -> Bool {
        switch output {
        case .packet(let bytes): air.receive(bytes.span, from: controllers[index], at: now)
        case .event(let event, _): events.append(event)
        case .remember, .resetTransport, .note: break
        }
        return true
    }
}
