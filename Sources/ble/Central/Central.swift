import CoreBluetooth

/// A central manager whose answers can be awaited, one step after the other, all on the main actor.
@MainActor
final class Central: NSObject {
    /// What a delegate method said.
    enum Happening {
        case stateChanged
        case discovered(Sighting)
        case connected(CBPeripheral)
        case failedToConnect(CBPeripheral, (any Error)?)
        case disconnected(CBPeripheral, (any Error)?)
        case servicesDiscovered((any Error)?)
        case servicesModified(CBPeripheral)
        case includedServicesDiscovered(CBService, (any Error)?)
        case characteristicsDiscovered(CBService, (any Error)?)
        case descriptorsDiscovered(CBCharacteristic, (any Error)?)
        case valueUpdated(CBAttribute, (any Error)?)
        case valueWritten(CBAttribute, (any Error)?)
        case notificationStateUpdated(CBCharacteristic, (any Error)?)
        case readyToWrite
        case channelOpened(CBL2CAPChannel?, (any Error)?)
        /// The peripheral was asked for a sign of life.
        case heardFrom(CBPeripheral, (any Error)?)
        /// What was done while a step waited is over.
        case over
        /// A person asked the process to end.
        case interrupted
    }

    /// What a step makes of a happening: `nil` if it still waits.
    typealias Verdict = (Happening) -> Result<Void, Trouble>?

    /// What a step cannot go on without.
    enum Need {
        case nothing
        case radio
        case connection(CBPeripheral)
    }

    /// How much time there is for steps, besides what each may take.
    private enum Pace {
        case ordinary
        /// The process is to end, soon.
        case hurried
        /// It should have.
        case overdue
    }

    private struct Step {
        let number: Int
        let what: String
        let need: Need
        let verdict: Verdict
        let continuation: CheckedContinuation<Void, any Error>
    }

    private(set) var manager: CBCentralManager!
    /// What a step that takes too long is told by.
    let clock: any Clock<Duration>
    /// Who was looked for and seen last.
    var found: Sighting?
    private var step: Step?
    private var count = 0
    /// Whether a person has asked the process to end.
    private(set) var isInterrupted = false
    private var pace = Pace.ordinary

    /// How long the steps that are left may take when the process is to end.
    private static let farewell = Duration.seconds(2)
    /// How often the radio is asked whether it is there, while the answer of a peripheral is awaited.
    private static let checkup = Duration.seconds(3)

    /// Hears of everything, besides the step that waits.
    var onHappening: ((Happening) -> Void)?

    init(clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// Waits until `verdict` settles what happens, after doing `action`; no longer than `time` if one is given.
    ///
    /// - Throws: ``Trouble/radioLost`` or ``Trouble/disconnected(_:_:)`` as soon as what the step needs is gone.
    func wait(
        for what: String,
        needing need: Need = .radio,
        within time: Duration? = nil,
        after action: () -> Void = {},
        _ verdict: @escaping Verdict
    ) async throws {
        precondition(step == nil, "a central takes one step at a time")
        if let trouble = missing(need, after: .stateChanged) { throw trouble }
        guard pace != .overdue else { throw Trouble.noAnswer(to: what, within: Self.farewell) }
        count += 1
        let number = count
        let timers = [
            time.map { time in
                Task {
                    try await clock.sleep(for: time)
                    finish(number, with: .failure(.noAnswer(to: what, within: time)))
                }
            },
            checkup(of: need),
        ]
        defer { for timer in timers { timer?.cancel() } }
        try await withCheckedThrowingContinuation { continuation in
            step = Step(number: number, what: what, need: need, verdict: verdict, continuation: continuation)
            action()
        }
    }

    /// Asks the radio for something again and again: one that does not answer is reset by its host, and that is heard.
    ///
    /// A peripheral may take half a minute to answer, a radio may not; a scan that finds nobody is all that an app can
    /// ask of a radio alone.
    private func checkup(of need: Need) -> Task<Void, any Error>? {
        guard case .connection = need else { return nil }
        return Task {
            while true {
                try await clock.sleep(for: Self.checkup)
                guard manager.state == .poweredOn, !manager.isScanning else { continue }
                manager.scanForPeripherals(withServices: [CBUUID(nsuuid: UUID())], options: nil)
                manager.stopScan()
            }
        }
    }

    /// Waits until the radio can be used, as long as a command waits for its radio.
    func powerOn() async throws {
        let mayCome = RadioWatch.mayCome()
        let verdict: Verdict = { [manager] _ in
            switch manager?.state ?? .unknown {
            case .poweredOn: .success(())
            case .unknown, .resetting: nil
            case .unsupported where mayCome: nil
            case let state: .failure(.noRadio(state))
            }
        }
        if let result = verdict(.stateChanged) { return try result.get() }
        do {
            try await wait(for: "Reaching the radio", needing: .nothing, within: RadioWatch.patience, verdict)
        } catch Trouble.noAnswer {
            throw Trouble.noRadio(manager.state)
        }
    }

    private func finish(_ number: Int, with result: Result<Void, Trouble>) {
        guard let step, step.number == number else { return }
        self.step = nil
        step.continuation.resume(with: result.mapError { $0 as any Error })
    }

    /// Ends a step that waits for a person to end it, and gives all others little time.
    func interrupt() {
        isInterrupted = true
        hurry()
        happened(.interrupted)
    }

    /// Gives what is left to be done little time.
    func hurry() {
        guard pace == .ordinary else { return }
        pace = .hurried
        Task {
            try await clock.sleep(for: Self.farewell)
            pace = .overdue
            if let step { finish(step.number, with: .failure(.noAnswer(to: step.what, within: Self.farewell))) }
        }
    }

    func happened(_ happening: Happening) {
        onHappening?(happening)
        guard let step else { return }
        if let result = step.verdict(happening) { return finish(step.number, with: result) }
        if let trouble = missing(step.need, after: happening) { finish(step.number, with: .failure(trouble)) }
    }

    /// What makes a step that needs this come to nothing, after `happening`.
    private func missing(_ need: Need, after happening: Happening) -> Trouble? {
        switch (need, happening) {
        case (.nothing, _): nil
        case (_, .stateChanged) where !isUsable: .radioLost
        case (.connection(let peripheral), .stateChanged) where peripheral.state != .connected:
            .disconnected(peripheral.title, nil)
        case (.connection(let wanted), .disconnected(let peripheral, let error)) where wanted == peripheral:
            .disconnected(peripheral.title, error)
        case (.radio, _), (.connection, _): nil
        }
    }

    /// Whether the radio can be asked for anything.
    var isUsable: Bool { manager.state == .poweredOn }
}

extension Central: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) { happened(.stateChanged) }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        happened(.discovered(Sighting(peripheral: peripheral, advertisement: advertisementData, rssi: RSSI.intValue)))
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        happened(.connected(peripheral))
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        happened(.failedToConnect(peripheral, error))
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        happened(.disconnected(peripheral, error))
    }
}

extension Central: @MainActor CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        happened(.servicesModified(peripheral))
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        happened(.servicesDiscovered(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    ) {
        happened(.includedServicesDiscovered(service, error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        happened(.characteristicsDiscovered(service, error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        happened(.descriptorsDiscovered(characteristic, error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        happened(.valueUpdated(characteristic, error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor descriptor: CBDescriptor,
        error: (any Error)?
    ) {
        happened(.valueUpdated(descriptor, error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        happened(.valueWritten(characteristic, error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        happened(.notificationStateUpdated(characteristic, error))
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { happened(.readyToWrite) }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        happened(.channelOpened(channel, error))
    }
}
