import BLEHost
import BLEWire

/// Everything that one manager knows about a peripheral, and the app's pending requests to it.
///
/// It takes host events and returns delegate calls, one at a time. Each call is made before the next step, so that the
/// next step takes into account what the app does in the call. The record is locked during a step, and never while the
/// app is called.
///
/// It changes only on the manager's queue, except for what the app sets itself: the delegate, connection requests and
/// other requests.
struct PeripheralRecord {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    var link = PeripheralLink()
    var mtu = 23
    var rssi: RSSI?
    /// The details of the current connection, as reported by the controller; `nil` if there is none.
    var details: LinkDetails? { didSet { if let details { lastAddress = details.address } } }
    /// The last known address of the device; `nil` if none is known.
    private(set) var lastAddress: DeviceAddress?
    /// The last received advertisement; `nil` if there was none.
    var report: AdvertisementReport?
    var requests = PeripheralRequests()
    var window = SendWindow()
    var database = DiscoveredDatabase()
    /// Deliveries that are still to be made, because one host event has produced several.
    ///
    /// They come before anything newer.
    private var pendingDeliveries: [PendingDelivery] = []
    /// True while the pending requests fail, because the connection has ended.
    private var isEnding = false

    /// True if requests can be sent.
    var acceptsRequests: Bool { link.acceptsRequests && !isEnding }

    /// Creates the record of an unconnected peripheral.
    init(name: String?) { self.name = name }

    /// A delegate call to make, and the event that observers receive after it.
    private struct PendingDelivery {
        let call: PeripheralDelegateCall?
        let event: NumberedEvent?
    }

    /// Processes a host event, which may be the result of the request with this number.
    mutating func receive(
        _ event: PeerEvent,
        answering number: RequestNumber,
        of peripheral: CBPeripheral
    ) -> Step {
        var step = Step()
        switch requests.receive(event, answering: number) {
        case .deliver:
            step.requests = requests.begin()
            step.rest = .answers(requests.count)
            apply(event, of: peripheral, &step)
        case .deferred: return proceed(.answers(requests.count), of: peripheral)
        case .stale:
            step.rest = .allAvailable
            step.call = Self.discard(event)
        case .unsolicited:
            apply(event, of: peripheral, &step)
            if step.call != nil || !pendingDeliveries.isEmpty || requests.count > 0 { step.rest = .allAvailable }
        }
        if !pendingDeliveries.isEmpty, case .sameEvent = step.observed {
            step.observed = .event(NumberedEvent(event: event, number: number))
        }
        finish(&step)
        return step
    }

    /// Takes the next step of the remaining work: returns the requests that can be sent now, and the next result to
    /// deliver.
    mutating func proceed(_ rest: Remainder, of peripheral: CBPeripheral) -> Step {
        var step = Step(rest: rest)
        if pendingDeliveries.isEmpty {
            let limit = if case .answers(let count) = rest { count } else { requests.count }
            guard limit > 0 else { return Step() }
            let answer: PeripheralRequests.NumberedAnswer?
            (answer, step.requests) = requests.proceed()
            step.rest = answer == nil ? nil : .answers(limit - 1)
            if let answer { apply(answer, of: peripheral, &step) }
        }
        finish(&step)
        return step
    }

    /// Fails all pending requests, because the connection has ended.
    ///
    /// Until ``forgetConnection()`` or ``keepConnection()``, no requests are accepted: they would get no result.
    mutating func failRequests(_ failure: Failure, of peripheral: CBPeripheral) -> Step {
        isEnding = true
        for answer in requests.removeAll(failure) { queueDelivery(of: answer, to: peripheral) }
        var step = Step(rest: .answers(0))
        finish(&step)
        return step
    }

    /// Accepts requests again: the connection that has ended was an earlier one.
    mutating func keepConnection() { isEnding = false }

    /// Drops everything that belongs to the connection, and returns the discovered attributes.
    mutating func forgetConnection() -> DiscoveredDatabase {
        isEnding = false
        requests.reset()
        defer { (mtu, details, window, database, pendingDeliveries) = (23, nil, .init(), .init(), []) }
        return database
    }

    /// Returns the characteristic for a notified value; `nil` if it was not discovered or the connection has ended.
    func notifying(_ handle: AttributeHandle) -> CBCharacteristic? {
        link.acceptsAnswers ? database.characteristic(handle) : nil
    }

    /// Completes a step: sets the delegate to call, and drops the remaining work if there is nothing left to deliver.
    ///
    /// If deliveries are pending, first replaces the step's own delivery with the oldest of them, and queues the step's
    /// own.
    private mutating func finish(_ step: inout Step) {
        if !pendingDeliveries.isEmpty {
            if step.call != nil || !step.observed.isNothing {
                pendingDeliveries.append(PendingDelivery(call: step.call, event: step.observed.event))
            }
            let first = pendingDeliveries.removeFirst()
            (step.call, step.observed) = (first.call, first.event.map { .event($0) } ?? .nothing)
        }
        if step.call != nil { step.delegate = delegate }
        if case .answers(let count)? = step.rest, pendingDeliveries.isEmpty, count == 0 || !requests.isAnswered {
            step.rest = nil
        }
    }

    private mutating func queueDelivery(of answer: PeripheralRequests.NumberedAnswer, to peripheral: CBPeripheral) {
        var step = Step()
        apply(answer, of: peripheral, &step)
        pendingDeliveries.append(PendingDelivery(call: step.call, event: step.observed.event))
    }

    private mutating func apply(
        _ answer: PeripheralRequests.NumberedAnswer,
        of peripheral: CBPeripheral,
        _ step: inout Step
    ) {
        switch answer.answer {
        case .event(let event):
            apply(event, of: peripheral, &step)
            guard case .sameEvent = step.observed else { return }
            step.observed = .event(NumberedEvent(event: event, number: answer.number))
        case .call(let call): step.call = call
        }
    }

    /// Discards an event that came too late: returns a call that closes the channel if the event reports an opened
    /// channel, otherwise `nil`.
    private static func discard(_ event: PeerEvent) -> PeripheralDelegateCall? {
        guard case .channelOpened(_, .success(let channel)) = event else { return nil }
        return .channelUnwanted(channel)
    }

    /// Applies a host event to the record, and fills in the step's delivery.
    ///
    /// If characteristics were removed, first queues a delivery that ends their subscriptions. If the connection has
    /// ended, discards the event.
    private mutating func apply(_ event: PeerEvent, of peripheral: CBPeripheral, _ step: inout Step) {
        guard link.acceptsAnswers else { return step.call = Self.discard(event) }
        step.call = update(for: event, of: peripheral)
        step.observed = .sameEvent
        let gone = database.takeDropped()
        if !gone.isEmpty { pendingDeliveries.append(PendingDelivery(call: .subscriptionsEnded(gone), event: nil)) }
    }

    private mutating func update(for event: PeerEvent, of peripheral: CBPeripheral) -> PeripheralDelegateCall? {
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
            // While the app is cancelling the connection, there is space, but nothing can be sent any more.
            if case .reopened = window.taken(count), link.acceptsRequests { return .readyToWrite }
        case .subscriptionChanged(let handle, let subscription, let failure):
            return database.characteristic(handle).map { .subscriptionChanged($0, subscription, failure) }
        case .valueNotified(let handle, let value):
            return database.characteristic(handle).map { .valueRead($0, .success(value)) }
        case .servicesModified(let range):
            cancelRequests(in: database.ranges(touching: range), of: peripheral)
            return .servicesModified(database.remove(in: range))
        case .databaseForgotten(nil):
            cancelRequests(in: database.ranges(touching: .all), of: peripheral)
            return .servicesModified(database.removeAll())
        case .databaseForgotten: break
        case .channelOpened(_, let result): return .channelOpened(result)
        }
        return nil
    }

    private mutating func servicesDiscovered(_ found: [DiscoveredService], of peripheral: CBPeripheral) {
        guard !database.hasExactly(found) else { return }
        cancelRequests(in: database.ranges(replacedBy: found), of: peripheral)
        database.add(found, of: peripheral)
    }

    private mutating func includedServicesDiscovered(
        in range: AttributeHandleRange,
        _ result: Result<[DiscoveredService], Failure>,
        of peripheral: CBPeripheral
    ) -> PeripheralDelegateCall? {
        _ = result.taken { cancelRequests(in: database.ranges(replacedBy: $0), of: peripheral) }
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
            guard !database.hasExactly(found, in: range) else { return }
            cancelRequests(in: database.ranges(replacedBy: found, in: service), of: peripheral)
            database.add(found, to: service)
        }
        return .characteristicsDiscovered(service, failure)
    }

    /// Fails the requests about attributes in `ranges`, which the caller removes next, while the objects of these
    /// attributes still exist.
    private mutating func cancelRequests(in ranges: [AttributeHandleRange], of peripheral: CBPeripheral) {
        for answer in requests.cancelRequests(in: ranges) { queueDelivery(of: answer, to: peripheral) }
    }
}

extension Result where Failure == BLEHost.Failure {
    /// Calls `body` with the value and returns `nil` if this is a success; otherwise returns the failure.
    fileprivate func taken(_ body: (Success) -> Void) -> Failure? {
        switch self {
        case .success(let found):
            body(found)
            return nil
        case .failure(let failure): return failure
        }
    }
}
