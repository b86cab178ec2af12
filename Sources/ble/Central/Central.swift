import CoreBluetooth

/// A central manager with asynchronous functions, for the commands of `ble`.
///
/// It finds peripherals, connects to them and explores them, one step at a time, all on the main actor. A step waits
/// for delegate calls until one of them decides the step's outcome. A step also ends if its time is up, if the radio or
/// the connection is lost, or if the user interrupts it.
@MainActor
final class Central: NSObject {
    /// A call of a delegate method, or another event that a step can wait for.
    enum DelegateCall {
        case stateChanged
        case discovered(ScannedPeripheral)
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
        /// The peripheral responded to a request that only served to get a response, or the request failed.
        case responded(CBPeripheral, (any Error)?)
        /// The conversation on a channel has ended, so the step that watches the connection can end.
        case over
        /// The user asked the process to end.
        case interrupted
        /// The result of the step is no longer needed.
        case cancelled
    }

    /// A function that returns the result of a step after an event; `nil` if the step has to wait for further events.
    typealias Verdict = (DelegateCall) -> Result<Void, CommandError>?

    /// A condition without which a step cannot continue.
    enum Need {
        case nothing
        case radio
        case connection(CBPeripheral)
    }

    /// A time limit for all remaining steps together; each step also has a limit of its own.
    private enum TimeBudget {
        case ordinary
        /// The process must end within ``shutdownTime``.
        case hurried
        /// The time is up: every step fails immediately.
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
    /// The clock for the time limits of steps.
    let clock: any Clock<Duration>
    /// The peripheral that the last search found; `nil` if no search has found one.
    var found: ScannedPeripheral?
    private var step: Step?
    private var count = 0
    /// True after the user has asked the process to end.
    private(set) var isInterrupted = false
    private var pace = TimeBudget.ordinary

    /// The time for the remaining steps once the process must end.
    private static let shutdownTime = Duration.seconds(2)
    /// The interval at which the radio is checked while a step waits for a connected peripheral.
    private static let checkup = Duration.seconds(3)

    /// Called with every event, before the current step, if there is one, processes it.
    var onDelegateCall: ((DelegateCall) -> Void)?

    init(clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// Performs `action`, then waits until `verdict` returns a result for an event, but no longer than `time`.
    ///
    /// `what` names the step in error messages. If `time` is `nil`, the wait has no limit.
    ///
    /// - Throws: ``CommandError/radioLost`` or ``CommandError/disconnected(_:_:)`` as soon as `need` is no longer met,
    ///   ``CommandError/noAnswer(to:within:)`` after `time`, and the error that `verdict` returns.
    func wait(
        for what: String,
        needing need: Need = .radio,
        within time: Duration? = nil,
        after action: () -> Void = {},
        _ verdict: @escaping Verdict
    ) async throws {
        precondition(step == nil, "only one step may run at a time")
        if let trouble = missing(need, after: .stateChanged) { throw trouble }
        guard pace != .overdue else { throw CommandError.noAnswer(to: what, within: Self.shutdownTime) }
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

    /// Starts a task that sends the radio a request every few seconds while a step waits for a connected peripheral;
    /// returns `nil` for other steps.
    ///
    /// If the radio does not respond, the host resets it, and the change of the manager's state ends the step.
    ///
    /// A peripheral may take half a minute to respond, so its silence says nothing about the radio. The request is a
    /// scan that finds nothing, because that is the only request from an app that involves the radio but no peripheral.
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

    /// Waits until the radio can be used, for at most ``RadioWatch/timeout``.
    func powerOn() async throws {
        let mayAppear = RadioWatch.mayAppear()
        let verdict: Verdict = { [manager] _ in
            switch manager?.state ?? .unknown {
            case .poweredOn: .success(())
            case .unknown, .resetting: nil
            case .unsupported where mayAppear: nil
            case let state: .failure(.noRadio(state))
            }
        }
        if let result = verdict(.stateChanged) { return try result.get() }
        do {
            try await wait(for: "Waiting for the radio", needing: .nothing, within: RadioWatch.timeout, verdict)
        } catch CommandError.noAnswer {
            throw CommandError.noRadio(manager.state)
        }
    }

    private func finish(_ number: Int, with result: Result<Void, CommandError>) {
        guard let step, step.number == number else { return }
        self.step = nil
        step.continuation.resume(with: result.mapError { $0 as any Error })
    }

    /// Limits the time for the remaining steps, and passes ``DelegateCall/interrupted`` to the current step, which may
    /// end because of it.
    func interrupt() {
        isInterrupted = true
        limitRemainingTime()
        happened(.interrupted)
    }

    /// Limits the time for all remaining steps together to ``shutdownTime``.
    func limitRemainingTime() {
        guard pace == .ordinary else { return }
        pace = .hurried
        Task {
            try await clock.sleep(for: Self.shutdownTime)
            pace = .overdue
            if let step { finish(step.number, with: .failure(.noAnswer(to: step.what, within: Self.shutdownTime))) }
        }
    }

    func happened(_ happening: DelegateCall) {
        onDelegateCall?(happening)
        guard let step else { return }
        if let result = step.verdict(happening) { return finish(step.number, with: result) }
        if let trouble = missing(step.need, after: happening) { finish(step.number, with: .failure(trouble)) }
    }

    /// Returns the error with which a step that depends on `need` fails after `happening`; `nil` if it can go on.
    private func missing(_ need: Need, after happening: DelegateCall) -> CommandError? {
        switch (need, happening) {
        case (_, .cancelled): .cancelled
        case (.nothing, _): nil
        case (_, .stateChanged) where !isUsable: .radioLost
        case (.connection(let peripheral), .stateChanged) where peripheral.state != .connected:
            .disconnected(peripheral.title, nil)
        case (.connection(let wanted), .disconnected(let peripheral, let error)) where wanted == peripheral:
            .disconnected(peripheral.title, error)
        case (.radio, _), (.connection, _): nil
        }
    }

    /// True if the radio accepts requests.
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
        happened(
            .discovered(
                ScannedPeripheral(peripheral, advertisement: advertisementData, rssi: RSSI)
            )
        )
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
