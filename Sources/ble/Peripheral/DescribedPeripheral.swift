import BLEHost
import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras

/// A peripheral with the services of a description.
///
/// It stores the values of the services, serves reads and writes, and notifies centrals of changes.
@MainActor
final class DescribedPeripheral: NSObject {
    private(set) var plan: PeripheralDescription
    /// The clock for the intervals between values, and for the delays of answers.
    let clock: any Clock<Duration>
    let report: (Fact) -> Void
    private(set) var manager: CBPeripheralManager!
    private var radio = RadioWatch()
    /// The current values of the characteristics.
    var values: [CBMutableCharacteristic: Data] = [:]
    private var cycles: [CBMutableCharacteristic: SimulatedPeripheral.Notifications] = [:]
    /// The values that the peripheral sends after certain writes, by the written characteristic.
    private(set) var answers: [CBMutableCharacteristic: [SimulatedPeripheral.Answer]] = [:]
    /// The tasks that send the described values of a characteristic in turn, while a central is subscribed to it.
    private var sending: [CBMutableCharacteristic: Task<Void, any Error>] = [:]
    /// The centrals that have used the device in their present connection.
    private var served: Set<UUID> = []
    private var unsent: [Unsent] = [] {
        didSet {
            guard unsent.isEmpty else { return }
            waiting?.resume()
            waiting = nil
        }
    }
    private var waiting: CheckedContinuation<Void, Never>?
    private(set) var published: [CBMutableService] = []
    /// True if the device advertises whenever its services are published.
    private var advertises: Bool
    private var pendingServices = 0
    /// The state of the device's planned faults.
    var faults = Faults()

    /// The maximum number of unsent values per characteristic, not including those that must arrive.
    ///
    /// When it is reached, for example because one central writes faster than another receives, the oldest of these
    /// values is dropped. The newest value is always sent.
    static let mostUnsent = 64

    /// A value that the host has not accepted yet.
    private struct Unsent {
        let characteristic: CBMutableCharacteristic
        let value: Data
        /// False if the value may be dropped in favour of newer ones.
        let mustArrive: Bool
    }

    /// Called once if the peripheral cannot be published.
    var onError: ((CommandError) -> Void)?
    /// Called when the radio becomes unavailable or available again.
    var onRadioChange: ((RadioChange) -> Void)?
    /// Called when the services have been published and, if the device advertises, advertising has started.
    var onPublished: (() -> Void)?
    /// Called with the connected centrals whenever they change.
    var onCentralsChange: (([CBCentral]) -> Void)?
    /// Called with each valid request from a central; returns true to answer the request later with
    /// ``accept(_:value:)`` or ``refuse(_:_:)``, and false to let the description answer it.
    var onRequest: ((ServedRequest) -> Bool)?

    /// Publishes a device.
    ///
    /// - Parameters:
    ///   - description: The device.
    ///   - advertises: True to advertise as soon as the services are published.
    ///   - clock: The clock for the intervals between values, and for the delays of answers.
    ///   - report: Called with each event to print.
    init(
        _ description: PeripheralDescription,
        advertises: Bool = true,
        clock: any Clock<Duration> = ContinuousClock(),
        report: @escaping (Fact) -> Void
    ) {
        plan = description
        self.advertises = advertises
        self.clock = clock
        self.report = report
        super.init()
        for service in plan.device.services { published.append(make(service)) }
        manager = CBPeripheralManager(delegate: self, queue: .main)
        _ = manager.observers.add { [weak self] event in
            guard case .server(.centralsConnected(_)) = event else { return }
            MainActor.assumeIsolated {
                guard let self else { return }
                self.centralsChanged()
                self.served.formIntersection(self.manager.connectedCentrals.map(\.identifier))
                self.onCentralsChange?(self.manager.connectedCentrals)
            }
        }
    }

    /// Stops waiting for a radio that has not become available, and reports the failure.
    func giveUpOnRadio() { follow(radio.overdue()) }

    /// Stops advertising, and removes all services.
    func stop() {
        unsent = []
        stopSending()
        guard manager.state == .poweredOn else { return }
        manager.stopAdvertising()
        manager.removeAllServices()
    }

    /// Changes the value of the first characteristic with this UUID, and notifies subscribed centrals.
    ///
    /// Returns false if there is no such characteristic.
    func setValue(_ value: Data, of uuid: CBUUID) -> Bool {
        guard let characteristic = characteristic(CharacteristicReference(uuid)) else { return false }
        change(characteristic, to: value)
        return true
    }

    /// Returns the published characteristic that a reference names; `nil` if there is none.
    func characteristic(_ reference: CharacteristicReference) -> CBMutableCharacteristic? {
        reference.find(in: published) as? CBMutableCharacteristic
    }

    /// Starts or stops advertising; the services stay published.
    func setAdvertising(_ advertises: Bool) {
        self.advertises = advertises
        guard manager.state == .poweredOn else { return }
        if !advertises { return manager.stopAdvertising() }
        if !manager.isAdvertising, pendingServices == 0 { advertise() }
    }

    /// Waits until all values have been sent.
    ///
    /// Only one caller may wait at a time.
    func valuesSent() async {
        while !unsent.isEmpty { await withCheckedContinuation { waiting = $0 } }
    }

    /// Publishes an additional service from a file; returns messages about parts that are not supported.
    func add(path: String) throws -> [String] {
        let description = try plan.add(path: path)
        let service = make(description)
        published.append(service)
        if manager.state == .poweredOn {
            pendingServices += 1
            manager.add(service)
        }
        return PeripheralDescription.remarks(description)
    }

    /// Removes the last service; the next call publishes that service again.
    func changeServices() {
        guard manager.state == .poweredOn else { return }
        if let service = faults.removedService {
            faults.removedService = nil
            published.append(service)
            pendingServices += 1
            manager.add(service)
        } else if let service = published.popLast() {
            faults.removedService = service
            manager.remove(service)
        }
    }

    /// Removes the most recently added service with this UUID.
    ///
    /// Returns false if there is no such service, or another service includes it.
    func remove(_ uuid: CBUUID) -> Bool {
        guard plan.remove(uuid) else { return false }
        guard let index = published.lastIndex(where: { $0.uuid == uuid }) else { return true }
        let service = published.remove(at: index)
        forgetValues(of: service)
        if manager.state == .poweredOn { manager.remove(service) }
        report(fact("service_removed", uuid, "Service \(uuid) was removed."))
        return true
    }

    private func forgetValues(of service: CBService) {
        for case let characteristic as CBMutableCharacteristic in service.characteristics ?? [] {
            values[characteristic] = nil
            cycles[characteristic] = nil
            answers[characteristic] = nil
            sending.removeValue(forKey: characteristic)?.cancel()
            unsent.removeAll { $0.characteristic == characteristic }
        }
    }

    /// Changes the value of a characteristic, and notifies subscribed centrals unless a due fault replaces the
    /// notification.
    ///
    /// If `mustArrive` is true, the value is not dropped; wait for ``valuesSent()`` before the next change.
    func change(_ characteristic: CBMutableCharacteristic, to value: Data, mustArrive: Bool = false) {
        values[characteristic] = value
        guard !sendWrongly(value, of: characteristic) else { return }
        queue(value, of: characteristic, mustArrive: mustArrive)
    }

    /// Queues a value for the subscribed centrals.
    func queue(_ value: Data, of characteristic: CBMutableCharacteristic, mustArrive: Bool = false) {
        guard manager.state == .poweredOn, characteristic.sendsValues else { return }
        let mayBeDropped = { (entry: Unsent) in entry.characteristic == characteristic && !entry.mustArrive }
        if unsent.count(where: mayBeDropped) >= Self.mostUnsent, let oldest = unsent.firstIndex(where: mayBeDropped) {
            unsent.remove(at: oldest)
        }
        unsent.append(Unsent(characteristic: characteristic, value: value, mustArrive: mustArrive))
        sendUnsent()
    }

    private func sendUnsent() {
        while let next = unsent.first,
            manager.updateValue(next.value, for: next.characteristic, onSubscribedCentrals: nil)
        {
            unsent.removeFirst()
        }
    }

    private func follow(_ change: RadioWatch.OnChange) {
        switch change {
        case .nothing: break
        case .appeared: publish()
        case .lost:
            unsent = []
            stopSending()
            onRadioChange?(.lost)
        case .returned:
            onRadioChange?(.returned)
            publish()
        case .missing(let state): onError?(.noRadio(state))
        }
    }

    /// Publishes all services, at the start and again whenever the radio has returned.
    ///
    /// Characteristics keep their current values.
    private func publish() {
        manager.stopAdvertising()
        manager.removeAllServices()
        pendingServices = published.count
        for service in published { manager.add(service) }
        if pendingServices == 0 { servicesPublished() }
    }

    /// Starts to advertise after all services have been published.
    ///
    /// If the device does not advertise, starts the timed faults and calls ``onPublished`` at once; otherwise, this
    /// happens when advertising has started.
    private func servicesPublished() {
        if advertises { return advertise() }
        startTimedFaults()
        onPublished?()
    }

    private func make(_ service: SimulatedPeripheral.Service) -> CBMutableService {
        let made = CBMutableService(type: CBUUID(string: service.uuid), primary: service.isPrimary)
        made.includedServices = service.includes.compactMap { uuid in
            published.last { $0.uuid == CBUUID(string: uuid) }
        }
        made.characteristics = service.characteristics.map { characteristic in
            let made = CBMutableCharacteristic(characteristic)
            values[made] = Data(characteristic.value)
            cycles[made] = characteristic.notifications
            if !characteristic.answers.isEmpty { answers[made] = characteristic.answers }
            return made
        }
        return made
    }

    private func advertise() {
        if let data = plan.device.advertisementData { return manager.startAdvertising(data) }
        Task {
            do {
                try await manager.advertise(plan.device.broadcast)
                advertising()
            } catch {
                fail("Advertising", error)
            }
        }
    }

    private func advertising() {
        let name = plan.device.name
        report(Fact("advertising", ["name": name], text: "Advertising as \(name); press Ctrl-C to stop."))
        startTimedFaults()
        onPublished?()
    }

    /// Starts to send the described values of a characteristic in turn, at regular intervals.
    private func startSending(_ characteristic: CBMutableCharacteristic) {
        guard sending[characteristic] == nil, let cycle = cycles[characteristic] else { return }
        sending[characteristic] = Task { [weak self, clock] in
            for index in 0... {
                try await clock.sleep(for: cycle.interval)
                guard let self else { return }
                let value = cycle.values[index % cycle.values.count]
                if self.unsent.isEmpty { self.change(characteristic, to: Data(value)) }
            }
        }
    }

    /// Sends the value of an answer after its delay.
    func send(_ answer: SimulatedPeripheral.Answer) {
        Task { [weak self, clock] in
            try await clock.sleep(for: answer.delay)
            _ = self?.setValue(Data(answer.value), of: CBUUID(string: answer.characteristic))
        }
    }

    private func stopSending() {
        for task in sending.values { task.cancel() }
        sending = [:]
    }

    /// Requests the described connection latency for a central that uses the device for the first time in this
    /// connection.
    func attend(to central: CBCentral) {
        guard let latency = plan.device.latency, served.insert(central.identifier).inserted else { return }
        manager.setDesiredConnectionLatency(latency.published, for: central)
    }
}

extension DescribedPeripheral: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        follow(radio.changed(to: peripheral.state))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error {
            return manager.isAdvertising ? refused(service, error) : fail("Adding service \(service.uuid)", error)
        }
        pendingServices -= 1
        if manager.isAdvertising {
            let uuid = service.uuid
            report(fact("service_added", uuid, "Service \(uuid) was added."))
        } else if pendingServices == 0 {
            servicesPublished()
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return fail("Advertising", error) }
        advertising()
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        attend(to: central)
        if let characteristic = characteristic as? CBMutableCharacteristic { startSending(characteristic) }
        report(fact("subscribed", central, characteristic, "subscribed to"))
        if let characteristic = characteristic as? CBMutableCharacteristic {
            _ = faults(at: .didSubscribe, [characteristic])
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        if let characteristic = characteristic as? CBMutableCharacteristic,
            characteristic.subscribedCentrals?.isEmpty != false
        {
            sending.removeValue(forKey: characteristic)?.cancel()
        }
        report(fact("unsubscribed", central, characteristic, "unsubscribed from"))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) { receive(request) }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        receive(requests)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendUnsent() }

    /// Removes a service that the host has refused, and reports the refusal.
    ///
    /// The other services stay published.
    private func refused(_ service: CBService, _ error: any Error) {
        guard !error.isLoss else { return }
        let uuid = service.uuid, trouble = CommandError.failed("Adding service \(uuid)", error)
        pendingServices -= 1
        _ = plan.remove(uuid)
        published.removeAll { $0 === service }
        forgetValues(of: service)
        report(fact("service_refused", uuid, "\(trouble)", error))
    }

    private func fail(_ what: String, _ error: any Error) {
        if !error.isLoss { onError?(.failed(what, error)) }
    }

    private func fact(_ event: String, _ service: CBUUID, _ text: String, _ error: (any Error)? = nil) -> Fact {
        var fields: [String: Any] = ["uuid": service.uuidString, "service": service.uuidString]
        fields["error"] = error.map(CommandError.describe)
        return Fact(event, fields, text: text)
    }
}
