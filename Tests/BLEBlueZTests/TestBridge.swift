import BLEHost
import BLEWire
import DBus
import Testing

@testable import BLEBlueZ

/// A bridge, with a bus and a daemon that answer as far as every test needs it.
struct TestBridge {
    typealias Key = BlueZBridge.SessionKey

    static let adapter = "/org/bluez/hci0"
    static let lamp = PeerIdentifier(rawValue: 1)
    static let lampAddress = DeviceAddress(0xC0FF_EE00_0001, .random)
    static let lampPath = adapter + "/dev_C0_FF_EE_00_00_01"
    /// The objects of the lamp after it was connected.
    static let service = lampPath + "/service0010", value = service + "/char0011", descriptor = value + "/desc0013"
    /// A value that can be written without response.
    static let command = service + "/char0014"

    var bridge: BlueZBridge
    var now = Instant(nanoseconds: 1_000_000_000)
    /// The users of programs by name on the bus; others are refused.
    var users: [String: UInt32] = [":1.1": 1_000, ":1.2": 1_000, ":1.3": 2_000, ":1.9": 0]
    /// The processes of programs; others have one of their own.
    var processes: [String: UInt32] = [:]
    /// The users whose sessions the daemon refuses.
    var unauthorized: Set<UInt32> = []
    /// All actions since ``forget()``, except those that were answered here.
    private(set) var actions: [BlueZBridge.Action] = []
    private var serial: UInt32 = 0

    init(isPowered: Bool = true) {
        let address = DeviceAddress(0xA0B0_C0D0_E0F0, .public)
        bridge = BlueZBridge(.init(name: "hci0", address: address, alias: "computer", administrators: [0, 990]))
        take(bridge.takeActions())
        guard isPowered else { return }
        for purpose in [Key.Purpose.central, .agent] { event(.stateChanged(.poweredOn), of: .own(purpose)) }
        forget()
    }

    mutating func forget() { actions = [] }

    /// Records actions, and then has the bus and the daemon answer what they always answer.
    private mutating func take(_ new: [BlueZBridge.Action]) {
        actions += new.filter { !Self.asksForCredentials($0) }
        for action in new {
            switch action {
            case .call(let number, let message) where Self.asksForCredentials(action):
                take(bridge.replied(to: number, with: credentials(of: message.body.first?.text ?? ""), at: now))
            case .open(let key, let credentials?):
                let isRefused = unauthorized.contains(credentials.user)
                take(bridge.receive(.stateChanged(isRefused ? .unauthorized : .poweredOn), of: key, at: now))
            default: break
            }
        }
    }

    private static func asksForCredentials(_ action: BlueZBridge.Action) -> Bool {
        guard case .call(_, let message) = action else { return false }
        return message.member == "GetConnectionCredentials"
    }

    private func credentials(of name: String) -> BusReply {
        guard let user = users[name] else {
            return .refused(BusReply.Refusal(name: "org.freedesktop.DBus.Error.NameHasNoOwner", text: nil))
        }
        let process = processes[name] ?? UInt32(name.utf8.last ?? 0)
        let facts = BusValue.properties([("UnixUserID", .uint32(user)), ("ProcessID", .uint32(process))])
        return .values([facts], from: BlueZBridge.bus)
    }

    /// Has a program call a method; returns the serial number of the call.
    @discardableResult
    mutating func call(
        _ client: String,
        _ path: String,
        _ interface: String?,
        _ member: String,
        _ body: [BusValue] = []
    ) -> UInt32 {
        serial += 1
        var call = BusMessage(kind: .call, serial: serial, path: path, interface: interface, member: member)
        (call.sender, call.destination, call.body) = (client, "org.bluez", body)
        take(bridge.receive(call, at: now))
        return serial
    }

    mutating func signal(_ message: BusMessage) { take(bridge.receive(message, at: now)) }

    mutating func event(_ event: ClientEvent, of key: Key) { take(bridge.receive(event, of: key, at: now)) }

    mutating func reply(_ number: BlueZBridge.CallNumber, _ reply: BusReply) {
        take(bridge.replied(to: number, with: reply, at: now))
    }

    /// Lets time pass until a moment, with everything that is due before.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let deadline = bridge.deadline, deadline <= end {
            now = max(now, deadline)
            take(bridge.expire(at: now))
        }
        now = end
    }

    /// The replies to a call.
    func replies(to serial: UInt32) -> [BusMessage] {
        actions.compactMap { action in
            switch action {
            case .send(let message), .sendPipe(_, let message): message.replySerial == serial ? message : nil
            default: nil
            }
        }
    }

    /// The results of a call, or the name of its error; `nil` while there is none.
    func outcome(of serial: UInt32) -> Outcome? {
        guard let reply = replies(to: serial).first else { return nil }
        guard reply.kind == .error else { return .values(reply.body) }
        return .error(reply.errorName ?? "", reply.body.first?.text ?? "")
    }

    enum Outcome: Equatable {
        case values([BusValue])
        case error(String, String)

        static let done = Self.values([])
        static func failed(_ error: BlueZError) -> Self { .error(error.name, error.text) }
    }

    /// Has a program call a method, and returns the outcome.
    mutating func result(
        _ client: String,
        _ path: String,
        _ interface: String?,
        _ member: String,
        _ body: [BusValue] = []
    ) -> Outcome? {
        let serial = call(client, path, interface, member, body)
        return outcome(of: serial)
    }

    /// The requests to the daemon, with their sessions.
    var requests: [(key: Key, request: ClientRequest)] {
        actions.compactMap { if case .request(let key, let request) = $0 { (key, request) } else { nil } }
    }

    /// The number of the last request of a program about an attribute of a peer that is like this one.
    func number(of client: String, where isMeant: (AttributeRequest) -> Bool) -> RequestNumber? {
        for (key, request) in requests.reversed() where key.client == client {
            if case .peer(_, .attribute(let attribute), let number) = request, isMeant(attribute) { return number }
        }
        return nil
    }

    /// The calls that the bridge makes, with their numbers; those without a reply have number 0.
    var calls: [(number: BlueZBridge.CallNumber, message: BusMessage)] {
        actions.compactMap { action in
            switch action {
            case .call(let number, let message): (number, message)
            case .send(let message) where message.kind == .call: (0, message)
            default: nil
            }
        }
    }

    /// The signals with this name.
    func signals(_ member: String) -> [BusMessage] {
        actions.compactMap { action in
            guard case .send(let message) = action, message.kind == .signal, message.member == member else {
                return nil
            }
            return message
        }
    }

    /// The value of a property, as a program reads it.
    mutating func property(_ name: String, of interface: String, at path: String, for client: String = ":1.1")
        -> BusValue?
    {
        let result = result(client, path, ObjectTree.properties, "Get", [.string(interface), .string(name)])
        guard case .values(let values) = result, case .variant(let value)? = values.first else { return nil }
        return value
    }

    static func report(
        _ peer: PeerIdentifier = lamp,
        _ address: DeviceAddress = lampAddress,
        rssi: Int8 = -50,
        name: String? = "Lamp",
        octets: [UInt8] = []
    ) -> ClientEvent {
        .discovered(
            AdvertisementReport(
                peer: peer,
                address: address,
                isConnectable: true,
                rssi: RSSI(dBm: rssi),
                octets: AdvertisementOctets(advertisement: octets),
                name: name
            )
        )
    }

    /// Has a program discover the lamp.
    mutating func discover(_ client: String = ":1.1") {
        call(client, Self.adapter, BlueZ.adapter, "StartDiscovery")
        event(Self.report(), of: Key(client, .central))
    }

    /// Has a program connect to the lamp, whose services become known with the first connection.
    @discardableResult
    mutating func connect(
        _ client: String = ":1.1",
        descriptor: BluetoothUUID = .short(0x2902)
    ) throws -> UInt32 {
        if bridge.devices[Self.lamp] == nil { discover(client) }
        let key = Key(client, .central), isFirst = bridge.devices[Self.lamp]?.links.isEmpty == true
        let serial = call(client, Self.lampPath, BlueZ.device, "Connect")
        event(.connected(Self.lamp, LinkParameters(mtu: 100)), of: key)
        if isFirst { try showServices(to: key, descriptor: descriptor) }
        return serial
    }

    /// Answers the discovery of the lamp's services, whose value has one descriptor.
    mutating func showServices(to key: Key, descriptor: BluetoothUUID = .short(0x2902)) throws {
        let handle = { (wire: UInt16) in AttributeHandle(wire: wire) }
        let range = try #require(AttributeHandleRange(handle(0x10), handle(0x20)))
        let first = try #require(AttributeHandleRange(handle(1), handle(5)))
        let gap = DiscoveredService(uuid: .short(0x1800), range: first, isPrimary: true)
        let service = DiscoveredService(uuid: .short(0x180F), range: range, isPrimary: true)
        let level = DiscoveredCharacteristic(
            uuid: .short(0x2A19),
            properties: 0x1A,
            declaration: handle(0x11),
            value: handle(0x12),
            end: handle(0x13)
        )
        let command = DiscoveredCharacteristic(
            uuid: .short(0x2A06),
            properties: 0x04,
            declaration: handle(0x14),
            value: handle(0x15),
            end: handle(0x15)
        )
        let found = DiscoveredDescriptor(uuid: descriptor, handle: handle(0x13))
        let answers: [(isMeant: (AttributeRequest) -> Bool, answer: PeerEvent)] = [
            (
                { if case .discoverServices = $0 { true } else { false } },
                .servicesDiscovered(.success([gap, service]))
            ),
            (
                { if case .discoverIncludedServices = $0 { true } else { false } },
                .includedServicesDiscovered(in: range, .success([]))
            ),
            (
                { if case .discoverCharacteristics = $0 { true } else { false } },
                .characteristicsDiscovered(in: range, .success([level, command]))
            ),
            (
                { if case .discoverDescriptors = $0 { true } else { false } },
                .descriptorsDiscovered(of: level.value, .success([found]))
            ),
        ]
        for (isMeant, answer) in answers {
            let asked = try #require(number(of: key.client, where: isMeant))
            event(.peer(Self.lamp, answer, answering: asked), of: key)
        }
    }

    /// Has a program leave the bus.
    mutating func leave(_ client: String) {
        var signal = BusMessage(kind: .signal, serial: 1, path: "/", interface: BlueZBridge.bus)
        (signal.member, signal.sender) = ("NameOwnerChanged", BlueZBridge.bus)
        signal.body = [.string(client), .string(client), .string("")]
        self.signal(signal)
    }
}
