import BLEHost
import BLEWire

/// What one manager knows of a peripheral, and what its app has asked of it.
///
/// It is told what the host says, and says what the app is to be told, one thing at a time: each is told before the
/// next step, so that what the app does meanwhile counts. It is locked while it takes a step, and never while the app
/// is called.
///
/// Changed only on the manager's queue, but for what the app itself decides: its delegate, whether it wants a
/// connection, and what it asks for.
struct PeripheralRecord {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    var link = PeripheralLink()
    var mtu = 23
    var rssi: RSSI?
    /// What the controller has told of the connection that there is.
    var details: LinkDetails? { didSet { if let details { lastAddress = details.address } } }
    /// Where the device was reached last.
    private(set) var lastAddress: DeviceAddress?
    /// The advertisement that was heard last.
    var report: AdvertisementReport?
    var requests = PeripheralRequests()
    var window = SendWindow()
    var database = DiscoveredDatabase()
    /// What became known together, and is told before all else.
    private var due: [News] = []

    /// Begins without a connection.
    init(name: String?) { self.name = name }

    /// What somebody is to hear.
    private struct News {
        let call: PeripheralDelegateCall?
        let event: PeerEvent?
    }

    /// Takes what the host says.
    mutating func receive(
        _ event: PeerEvent,
        answering number: RequestNumber,
        of peripheral: CBPeripheral
    ) -> Step {
        var step = Step()
        switch requests.receive(event, answering: number) {
        case .tellInTurn:
            step.requests = requests.begin()
            step.rest = .answers(requests.count)
            apply(event, of: peripheral, &step)
        case .keep: return proceed(.answers(requests.count), of: peripheral)
        case .discard:
            step.rest = .whatThereIs
            step.call = Self.discard(event)
        case .tell:
            apply(event, of: peripheral, &step)
            if step.call != nil || !due.isEmpty || requests.count > 0 { step.rest = .whatThereIs }
        }
        if !due.isEmpty, case .sameEvent = step.heard { step.heard = .event(event) }
        finish(&step)
        return step
    }

    /// Goes on with what is left: sends what may be sent now, and tells of the answer whose turn has come.
    mutating func proceed(_ rest: Rest, of peripheral: CBPeripheral) -> Step {
        var step = Step(rest: rest)
        if due.isEmpty {
            let limit = if case .answers(let count) = rest { count } else { requests.count }
            guard limit > 0 else { return Step() }
            let answer: PeripheralRequests.Answer?
            (answer, step.requests) = requests.proceed()
            step.rest = answer == nil ? nil : .answers(limit - 1)
            if let answer { apply(answer, of: peripheral, &step) }
        }
        finish(&step)
        return step
    }

    /// Answers all that has not been answered, since there is no connection any more.
    mutating func failRequests(_ failure: Failure, of peripheral: CBPeripheral) -> Step {
        for answer in requests.removeAll(failure) { expect(answer, of: peripheral) }
        var step = Step(rest: .answers(0))
        finish(&step)
        return step
    }

    /// Forgets what belonged to a connection, and returns what was discovered in it.
    mutating func forgetConnection() -> DiscoveredDatabase {
        defer { (mtu, details, requests, window, database, due) = (23, nil, .init(), .init(), .init(), []) }
        return database
    }

    /// A characteristic whose value comes by itself, unless nobody knows of it.
    func notifying(_ handle: AttributeHandle) -> CBCharacteristic? {
        link.acceptsAnswers ? database.characteristic(handle) : nil
    }

    /// Has what is due be told first, says whom to tell, and whether anything is left.
    private mutating func finish(_ step: inout Step) {
        if !due.isEmpty {
            if step.call != nil || !step.heard.isNothing {
                due.append(News(call: step.call, event: step.heard.event))
            }
            let first = due.removeFirst()
            (step.call, step.heard) = (first.call, first.event.map { .event($0) } ?? .nothing)
        }
        if step.call != nil { step.delegate = delegate }
        if case .answers(let count)? = step.rest, due.isEmpty, count == 0 || !requests.isAnswered { step.rest = nil }
    }

    private mutating func expect(_ answer: PeripheralRequests.Answer, of peripheral: CBPeripheral) {
        var step = Step()
        apply(answer, of: peripheral, &step)
        due.append(News(call: step.call, event: step.heard.event))
    }

    private mutating func apply(
        _ answer: PeripheralRequests.Answer,
        of peripheral: CBPeripheral,
        _ step: inout Step
    ) {
        switch answer {
        case .event(let event):
            apply(event, of: peripheral, &step)
            if case .sameEvent = step.heard { step.heard = .event(event) }
        case .call(let call): step.call = call
        }
    }

    /// Gives back what an answer brought that comes too late.
    private static func discard(_ event: PeerEvent) -> PeripheralDelegateCall? {
        guard case .channelOpened(_, .success(let channel)) = event else { return nil }
        return .channelUnwanted(channel)
    }

    /// Takes note of what the host says, and of what else the app must hear before that.
    private mutating func apply(_ event: PeerEvent, of peripheral: CBPeripheral, _ step: inout Step) {
        guard link.acceptsAnswers else { return step.call = Self.discard(event) }
        step.call = learn(event, of: peripheral)
        step.heard = .sameEvent
        let gone = database.takeDropped()
        if !gone.isEmpty { due.append(News(call: .subscriptionsEnded(gone), event: nil)) }
    }

    private mutating func learn(_ event: PeerEvent, of peripheral: CBPeripheral) -> PeripheralDelegateCall? {
        switch event {
        case .mtuChanged(let mtu): self.mtu = mtu
        case .nameChanged(let name):
            guard self.name != name else { return nil }
            self.name = name
            return .nameUpdated
        case .linkChanged(let details): self.details = details
        case .tuned: break
        case .rssiRead(let result):
            if case .success(let rssi) = result { self.rssi = rssi }
            return .rssiRead(result)
        case .servicesDiscovered(let result):
            return .servicesDiscovered(result.taken { servicesDiscovered($0, of: peripheral) })
        case .includedServicesDiscovered(let range, let result):
            return includedServicesDiscovered(in: range, result, of: peripheral)
        case .characteristicsDiscovered(let range, let result):
            return characteristicsDiscovered(in: range, result, of: peripheral)
        case .descriptorsDiscovered(let handle, let result):
            guard let owner = database.characteristic(handle) else { return nil }
            return .descriptorsDiscovered(owner, result.taken { database.add($0, to: owner) })
        case .valueRead(let handle, let result):
            if let characteristic = database.characteristic(handle) { return .valueRead(characteristic, result) }
            return database.descriptor(handle).map { .descriptorRead($0, result) }
        case .valueWritten(let handle, let failure):
            if let characteristic = database.characteristic(handle) { return .valueWritten(characteristic, failure) }
            return database.descriptor(handle).map { .descriptorWritten($0, failure) }
        case .writeCommandsTaken(let count):
            // While the app's cancellation is under way there is room, but nowhere to send to.
            if case .reopened = window.taken(count), link.acceptsRequests { return .readyToWrite }
        case .subscriptionChanged(let handle, let subscription, let failure):
            return database.characteristic(handle).map { .subscriptionChanged($0, subscription, failure) }
        case .valueNotified(let handle, let value):
            return database.characteristic(handle).map { .valueRead($0, .success(value)) }
        case .servicesModified(let range):
            void(in: database.ranges(touching: range), of: peripheral)
            return .servicesModified(database.remove(in: range))
        case .databaseForgotten(nil):
            void(in: database.ranges(touching: .all), of: peripheral)
            return .servicesModified(database.removeAll())
        case .databaseForgotten: break
        case .channelOpened(_, let result): return .channelOpened(result)
        }
        return nil
    }

    private mutating func servicesDiscovered(_ found: [DiscoveredService], of peripheral: CBPeripheral) {
        guard !database.isAllThereIs(found) else { return }
        void(in: database.ranges(replacedBy: found), of: peripheral)
        database.add(found, of: peripheral)
    }

    private mutating func includedServicesDiscovered(
        in range: AttributeHandleRange,
        _ result: Result<[DiscoveredService], Failure>,
        of peripheral: CBPeripheral
    ) -> PeripheralDelegateCall? {
        _ = result.taken { void(in: database.ranges(replacedBy: $0), of: peripheral) }
        guard let owner = database.service(in: range) else { return nil }
        return .includedServicesDiscovered(owner, result.taken { database.add($0, to: owner, of: peripheral) })
    }

    private mutating func characteristicsDiscovered(
        in range: AttributeHandleRange,
        _ result: Result<[DiscoveredCharacteristic], Failure>,
        of peripheral: CBPeripheral
    ) -> PeripheralDelegateCall? {
        guard let service = database.service(in: range) else { return nil }
        let failure = result.taken { found in
            guard !database.isAllThereIs(found, in: range) else { return }
            void(in: database.ranges(replacedBy: found, in: service), of: peripheral)
            database.add(found, to: service)
        }
        return .characteristicsDiscovered(service, failure)
    }

    /// Answers what was asked about attributes that are gone, while it can still be said what it was about.
    private mutating func void(in ranges: [AttributeHandleRange], of peripheral: CBPeripheral) {
        for answer in requests.void(in: ranges) { expect(answer, of: peripheral) }
    }
}

extension Result where Failure == BLEHost.Failure {
    /// Hands out what was found, or returns why nothing was.
    fileprivate func taken(_ body: (Success) -> Void) -> Failure? {
        switch self {
        case .success(let found):
            body(found)
            return nil
        case .failure(let failure): return failure
        }
    }
}
