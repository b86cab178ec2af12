import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras

// The planned faults of a served device.
extension DescribedPeripheral {
    /// The state that the faults of a served device need.
    struct Faults {
        var plan = DeviceFaultPlan([])
        /// The connected centrals.
        var centrals: [UUID] = []
        /// The values that faults returned for reads; the later parts of a long read continue with the same value.
        var reads: [Read: Data] = [:]
        /// The service that a fault has removed, and that the next such fault publishes again; `nil` if there is none.
        var removedService: CBMutableService?
        /// The session that refuses to pair, or removes bonds; `nil` until a fault needs it.
        var pairing: BluetoothPairing?
        /// True if the timed faults have been started.
        var isStarted = false

        /// A characteristic and the central that reads it.
        struct Read: Hashable {
            let central: UUID
            let characteristic: CBMutableCharacteristic
        }
    }

    /// Plans faults, in place of the ones planned before.
    ///
    /// - Throws: ``CommandError/noCharacteristic(_:of:)`` if a fault names a characteristic that the device does not
    ///   have.
    func planFaults(_ planned: [DeviceFault]) throws(CommandError) {
        for name in planned.compactMap(\.characteristic) where characteristic(named: name) == nil {
            throw .noCharacteristic(name, of: plan.device.name)
        }
        faults.plan = DeviceFaultPlan(planned)
    }

    /// Starts the timed faults when the device is published for the first time; has no effect later.
    func startTimedFaults() {
        guard !faults.isStarted else { return }
        faults.isStarted = true
        for fault in faults.plan.timed {
            guard case .time(let time) = fault.moment else { continue }
            after(time) { device in
                device.announce(fault)
                device.perform(fault)
            }
        }
    }

    /// Counts a step that concerns `characteristics`, and returns the faults that are due.
    ///
    /// The caller must carry out the faults that replace an answer or an updated value. This method carries out all
    /// others, now or after their delays.
    func faults(at step: DeviceFault.Step, _ characteristics: [CBMutableCharacteristic]) -> [DeviceFault] {
        let due = faults.plan.reach(step) { name in
            characteristic(named: name).map(characteristics.contains) ?? false
        }
        for fault in due {
            announce(fault)
            if !fault.kind.isOfValues { perform(fault) }
        }
        return due
    }

    /// Carries out the faults that are due for a request; returns false if the device must answer the request as usual.
    func answerWrongly(_ request: ServedRequest) -> Bool {
        let characteristics = request.parts.map(\.characteristic)
        guard request.offset == 0 else {
            guard let value = request.read.flatMap({ faults.reads[$0] }) else { return false }
            accept(request, value: value)
            return true
        }
        if let read = request.read, !request.isWrite { faults.reads[read] = nil }
        let due = faults(at: request.isWrite ? .didReceiveWrite : .didReceiveRead, characteristics)
        if let fault = due.first(where: \.kind.isOfValues) {
            after(fault.delay) { $0.make(fault, request) }
            return true
        }
        return due.contains { $0.kind == .disconnect && $0.delay == .zero }
    }

    private func make(_ fault: DeviceFault, _ request: ServedRequest) {
        guard let part = request.parts.first else { return }
        switch fault.kind {
        case .silence: break
        case .error(let code): refuse(request, CBATTError.Code(rawValue: Int(code)) ?? .unlikelyError)
        case .value, .length:
            let value = fault.kind.changed(part.value)
            if let read = request.read { faults.reads[read] = value }
            accept(request, value: value)
        case .answer, .drop, .repeat, .disconnect, .servicesChange, .stopAdvertising, .startAdvertising,
            .refusePairing, .forgetBonds:
            answerAsUsual(request)
        }
    }

    /// Lets a due fault change, delay, repeat or drop an updated value; returns false if the value must be sent as
    /// usual.
    func sendWrongly(_ value: Data, of characteristic: CBMutableCharacteristic) -> Bool {
        guard characteristic.subscribedCentrals?.isEmpty == false else { return false }
        let due = faults(at: .updateValue, [characteristic])
        guard let fault = due.first(where: \.kind.isOfValues) else { return false }
        guard fault.kind != .drop else { return true }
        after(fault.delay) { device in
            for _ in 0..<(fault.kind == .repeat ? 2 : 1) { device.queue(fault.kind.changed(value), of: characteristic) }
        }
        return true
    }

    /// Carries out the faults of the step `didConnect` for each central that has connected since the last call.
    func centralsChanged() {
        let now = manager.connectedCentrals.map(\.identifier), new = now.filter { !faults.centrals.contains($0) }
        faults.centrals = now
        for _ in new { _ = faults(at: .didConnect, []) }
    }

    private func perform(_ fault: DeviceFault) {
        after(fault.delay) { $0.perform(fault.kind) }
    }

    private func perform(_ kind: DeviceFault.Kind) {
        switch kind {
        case .disconnect: for central in manager.connectedCentrals { manager.disconnect(central) }
        case .servicesChange: changeServices()
        case .stopAdvertising: setAdvertising(false)
        case .startAdvertising: setAdvertising(true)
        case .refusePairing:
            faults.pairing = BluetoothPairing(capability: .displayYesNo, queue: .main) { event in
                if case .asked(let prompt) = event { prompt.reject() }
            }
        case .forgetBonds:
            let pairing = faults.pairing ?? BluetoothPairing(capability: nil, queue: .main) { _ in }
            faults.pairing = pairing
            Task { for bond in try await pairing.bonds() { _ = try await pairing.removeBond(with: bond.identifier) } }
        case .silence, .answer, .error, .value, .length, .drop, .repeat: break
        }
    }

    private func announce(_ fault: DeviceFault) {
        report(Fact("fault", ["fault": "\(fault)"], text: "Fault: \(fault)"))
    }

    private func characteristic(named name: String) -> CBMutableCharacteristic? {
        CharacteristicReference(argument: name).flatMap(characteristic)
    }

    /// Calls `body` after a delay, unless the device has been released by then.
    private func after(_ delay: Duration, _ body: @escaping @MainActor (DescribedPeripheral) -> Void) {
        guard delay > .zero else { return body(self) }
        Task { [weak self, clock] in
            try await clock.sleep(for: delay)
            if let self { body(self) }
        }
    }
}

extension DeviceFault.Kind {
    /// True for the faults that replace the answer to a request, or an updated value.
    fileprivate var isOfValues: Bool {
        switch self {
        case .silence, .answer, .error, .value, .length, .drop, .repeat: true
        case .disconnect, .servicesChange, .stopAdvertising, .startAdvertising, .refusePairing, .forgetBonds: false
        }
    }

    /// Returns the value that the device sends instead of `value`.
    fileprivate func changed(_ value: Data) -> Data {
        switch self {
        case .value(let octets): Data(octets)
        case .length(let length): value.prefix(length) + Data(count: max(0, length - value.count))
        default: value
        }
    }
}

extension ServedRequest {
    /// The first characteristic of the request, and its central.
    fileprivate var read: DescribedPeripheral.Faults.Read? {
        parts.first.map { .init(central: central.identifier, characteristic: $0.characteristic) }
    }
}
