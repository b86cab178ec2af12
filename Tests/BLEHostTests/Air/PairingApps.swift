import BLEController
import BLEHost
import BLEWire

/// Somebody who sits before two devices, and carries passkeys from one to the other.
final class PairingUser {
    /// What a device shows, or what the user has thought of.
    var passkey: UInt32?
    /// Whether numbers that are the same are said to be.
    var agrees = true
    /// What is typed in is that much too great.
    var mistake: UInt32 = 0
}

/// An app that also asks the user when devices are paired.
class PairingApp: App {
    let user: PairingUser
    let capability: SMP.IOCapability?
    private(set) var questions: [PairingQuestion] = []
    /// Whom it waits to be told a passkey for.
    private(set) var awaiting: PeerIdentifier?

    init(_ client: ClientID, _ role: ClientRole, _ user: PairingUser, _ capability: SMP.IOCapability?) {
        self.user = user
        self.capability = capability
        super.init(client, role)
    }

    var methods: [PairingMethod] {
        events.compactMap { if case .security(.paired(_, let method, _)) = $0 { method } else { nil } }
    }

    var failures: [PairingFailure] {
        events.compactMap { if case .security(.failed(_, let failure)) = $0 { failure } else { nil } }
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): capability.map { [.security(.setAgent($0))] } ?? []
        case .security(.asked(let inquiry)): answer(inquiry)
        case .security(.withdrawn): withdrawn()
        default: []
        }
    }

    private func answer(_ inquiry: PairingInquiry) -> [ClientRequest] {
        questions.append(inquiry.question)
        switch inquiry.question {
        case .consent: return [.security(.answer(inquiry.peer, .confirm(user.agrees)))]
        case .compare: return [.security(.answer(inquiry.peer, .confirm(user.agrees)))]
        case .display(let passkey): user.passkey = passkey
        case .enterPasskey: awaiting = inquiry.peer
        }
        return []
    }

    private func withdrawn() -> [ClientRequest] {
        awaiting = nil
        return []
    }

    /// Types in what the other device shows, or what the user has thought of.
    func type() -> [ClientRequest] {
        guard let peer = awaiting, let passkey = user.passkey else { return [] }
        awaiting = nil
        return [.security(.answer(peer, .passkey((passkey + user.mistake) % 1_000_000)))]
    }
}

/// A server with one value that only some may read.
final class Keeper: PairingApp {
    static let service = BluetoothUUID.short(0x1845)
    /// What is worth keeping.
    static let secret: [UInt8] = [42, 7, 99, 1, 200, 55, 18, 240]
    private let permissions: AttributePermissions

    init(_ user: PairingUser, _ capability: SMP.IOCapability?, _ permissions: AttributePermissions) {
        self.permissions = permissions
        super.init(ClientID(rawValue: 1), .peripheral, user, capability)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            let value = CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 2),
                uuid: .short(0x2A00),
                properties: .read,
                permissions: permissions,
                value: Self.secret
            )
            let id = LocalAttributeID(rawValue: 1)
            return super.react(to: event)
                + [.service(.addService(.init(id: id, uuid: Self.service, characteristics: [value])))]
        case .server(.serviceAdded(_, nil)):
            return [.server(.startAdvertising(.init(localName: "Keeper", services: [Self.service])))]
        default: return super.react(to: event)
        }
    }
}

/// An app that finds the value, and reads it each time it is connected.
final class Caller: PairingApp {
    private(set) var peer: PeerIdentifier?
    private(set) var readings: [Result<[UInt8], Failure>] = []
    private(set) var endings: [Failure?] = []
    private var value: AttributeHandle?

    init(_ user: PairingUser, _ capability: SMP.IOCapability?) {
        super.init(ClientID(rawValue: 2), .central, user, capability)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            return super.react(to: event) + [.scan(ScanRequest(services: [Keeper.service]))]
        case .discovered(let report):
            guard peer == nil else { return [] }
            peer = report.peer
            return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _):
            if let value { return [.peer(peer, .read(value))] }
            return [.peer(peer, .discoverServices(only: [Keeper.service]))]
        case .peer(let peer, .servicesDiscovered(.success(let services)), _):
            return services.prefix(1).map { .peer(peer, .discoverCharacteristics(in: $0.range, only: [])) }
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _):
            value = found.first?.value
            return value.map { [.peer(peer, .read($0))] } ?? []
        case .peer(_, .valueRead(_, let result), _):
            readings.append(result)
            return []
        case .disconnected(_, let failure, _), .connectFailed(_, let failure as Failure?):
            endings.append(failure)
            return []
        default: return super.react(to: event)
        }
    }
}

/// Two hosts on an air with their apps, and the user of both.
final class PairingBench {
    let town: Town
    let user = PairingUser()
    let keeper: Keeper, caller: Caller
    let keeperStation: Station, callerStation: Station

    init(
        seed: UInt64 = 1,
        loss: Double = 0,
        _ capabilities: (keeper: SMP.IOCapability?, caller: SMP.IOCapability?) = (nil, nil),
        _ permissions: AttributePermissions = .readEncryptionRequired,
        profile: ControllerIdentity.Profile = .core5,
        keeper keeperConfiguration: Host.Configuration = .init(identifierSecret: 9),
        caller callerConfiguration: Host.Configuration = .init(identifierSecret: 9)
    ) {
        town = Town(seed: seed, loss: loss)
        keeper = Keeper(user, capabilities.keeper, permissions)
        caller = Caller(user, capabilities.caller)
        keeperStation = town.add(keeper, profile, configuration: keeperConfiguration)
        callerStation = town.add(caller, profile, configuration: callerConfiguration)
    }

    /// Lets time pass, and the user type, until that many readings have come to something.
    func run(until readings: Int = 1, for limit: Duration = .seconds(120)) {
        let end = town.now + limit
        while town.now < end, caller.readings.count < readings {
            town.run(for: end - town.now) {
                caller.readings.count >= readings || keeper.awaiting != nil || caller.awaiting != nil
            }
            if keeper.awaiting != nil, caller.awaiting != nil, user.passkey == nil { user.passkey = 123_456 }
            guard caller.readings.count < readings else { return }
            let typed = keeper.type().map { (keeperStation, $0) } + caller.type().map { (callerStation, $0) }
            for (station, request) in typed { town.perform(request, at: station) }
            if typed.isEmpty { town.run(for: .milliseconds(10)) }
        }
    }

    /// Ends the link, connects again, and has the value read once more.
    func reconnect() {
        guard let peer = caller.peer else { return }
        let (readings, endings) = (caller.readings.count, caller.endings.count)
        town.perform(.cancelConnection(peer), at: callerStation)
        town.run(for: .seconds(30)) { caller.endings.count > endings }
        town.perform(.connect(peer, ConnectRequest()), at: callerStation)
        run(until: readings + 1)
    }
}
