import CoreBluetooth

/// An app in the peripheral role.
final class DayServer: DayApp, @unchecked Sendable {
    /// A response that the app will send later.
    struct Debt {
        let request: CBATTRequest
        let result: CBATTError.Code
        /// The number in the written value that the app accepts with this response; `nil` if there is none.
        var number: UInt64?
        let due: Duration
    }

    let ears = ServerEars()
    private(set) var manager: CBPeripheralManager!
    var model = ServerModel()
    var main: CBMutableService?
    /// True if the manager has published ``main``.
    var isServed = false
    var part: CBMutableService?
    var guest: CBMutableService?
    var debts: [Debt] = []
    var talks: [ChannelTalk] = []
    /// The next number of each characteristic that notifies or indicates numbers.
    var numbers: [CBUUID: UInt32] = [:]
    /// The models of the numbers that centrals write, by the identifier of the connection.
    ///
    /// ``DayCentral/sender(_:)`` returns that identifier. A connection has no model until its first number.
    var expected: [UInt64: CommandModel] = [:]
    /// The PSM that centrals may open, which other apps can read; `nil` if there is none.
    let channel = Shared<CBL2CAPPSM?>(nil)
    private var lastState = CBManagerState.unknown

    /// Creates the app on the machine of the calling task, and its manager, which starts immediately.
    init(_ name: String, on machine: String, seed: UInt64, _ chronicle: Chronicle) {
        super.init(name, on: machine, .serial, seed: seed, chronicle)
        ears.app = self
        make { manager = CBPeripheralManager(delegate: ears, queue: queue) }
    }

    var isOn: Bool { manager.state == .poweredOn }

    func stateChanged(_ state: CBManagerState) {
        if state == lastState { complain("the state \(state.rawValue) was reported twice in a row") }
        lastState = state
        if state == .poweredOn {
            if main == nil { publish() } else if !isServed { rebuild() }
            return
        }
        let forgets = state.rawValue < CBManagerState.poweredOff.rawValue
        model.radioLost(forgets: forgets)
        chronicle.rebuilt(machine)
        (debts, talks, expected) = ([], [], [:])
        if manager.isAdvertising { complain("advertising without a radio") }
        for item in main?.items ?? [] where !(item.subscribedCentrals ?? []).isEmpty {
            complain("subscriptions remain although the radio is gone")
        }
        channel.withLock { $0 = nil }
        guard forgets else { return }
        (main, part, guest, isServed) = (nil, nil, nil, false)
    }

    /// Publishes all services and a channel, and starts advertising.
    func publish() {
        chronicle.rebuilt(machine)
        let part = Layout.makePart(), main = Layout.makeMain(including: part)
        (self.part, self.main) = (part, main)
        add(part)
        add(main)
        startAdvertising()
        publishChannel()
    }

    func started(_ error: (any Error)?) {
        complain(model.started(error))
        if error == nil, model.advertises, !manager.isAdvertising {
            complain("advertising started, but isAdvertising is false")
        }
    }

    func added(_ service: CBService, _ error: (any Error)?) {
        let isExcused = chronicle.excuses(machine, machine)
        complain(model.added(ObjectIdentifier(service), error, isExcused: isExcused))
        if service === main { isServed = error == nil }
    }

    func subscribed(_ central: CBCentral, _ characteristic: CBCharacteristic) {
        complain(model.subscribed(central.identifier, characteristic.uuid))
        check(central, characteristic, isSubscribed: true)
        if central.maximumUpdateValueLength < 20 {
            complain("invalid maximumUpdateValueLength \(central.maximumUpdateValueLength)")
        }
    }

    func unsubscribed(_ central: CBCentral, _ characteristic: CBCharacteristic) {
        complain(model.unsubscribed(central.identifier, characteristic.uuid))
        check(central, characteristic, isSubscribed: false)
    }

    private func check(_ central: CBCentral, _ characteristic: CBCharacteristic, isSubscribed: Bool) {
        guard let item = characteristic as? CBMutableCharacteristic, main?.items.contains(item) ?? false else {
            return complain("a subscription change for an unknown characteristic")
        }
        let isListed = item.subscribedCentrals?.contains { $0.identifier == central.identifier } ?? false
        if isListed != isSubscribed { complain("subscribedCentrals does not match the callback") }
    }

    func ready() { complain(model.ready()) }

    func published(_ psm: CBL2CAPPSM, _ error: (any Error)?) {
        complain(model.published(error))
        if error == nil { channel.withLock { $0 = psm } }
    }

    func unpublished(_ psm: CBL2CAPPSM) { complain(model.unpublished(psm)) }

    func opened(_ channel: CBL2CAPChannel?, _ error: (any Error)?) {
        guard let channel else {
            return complain("a channel could not be opened: \(error.map { "\($0)" } ?? "no error")")
        }
        let talk = ChannelTalk(channel)
        talk.send(dice.within(1...600))
        talks.append(talk)
    }

    /// Complains about requests to the manager that have waited since before `instant`, and about a wrong state of
    /// advertising.
    ///
    /// If `isLast`, also complains if the radio is off, because all faults have ended by then.
    func audit(since instant: Duration, isLast: Bool) {
        for what in model.overdue(since: instant) { complain("no callback for: \(what)") }
        if isOn, model.overdue(since: chronicle.now).isEmpty, manager.isAdvertising != model.advertises {
            complain("isAdvertising is \(manager.isAdvertising), but should be \(model.advertises)")
        }
        if isLast, !isOn { complain("the manager's state is \(manager.state.rawValue) at the end") }
    }
}

extension CBMutableService {
    /// The service's characteristics, with the type with which they were created.
    var items: [CBMutableCharacteristic] { (characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic } }
}
