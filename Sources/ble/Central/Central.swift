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
        /// A person asked the process to end.
        case interrupted
    }

    /// What a step makes of a happening: `nil` if it still waits.
    typealias Verdict = (Happening) -> Result<Void, Trouble>?

    private struct Step {
        let number: Int
        let verdict: Verdict
        let continuation: CheckedContinuation<Void, any Error>
    }

    private(set) var manager: CBCentralManager!
    private var step: Step?
    private var count = 0

    /// Hears of everything, besides the step that waits.
    var onHappening: ((Happening) -> Void)?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// Waits until `verdict` settles what happens, after doing `action`; no longer than `time` if one is given.
    func wait(
        for what: String,
        within time: Duration? = nil,
        after action: () -> Void = {},
        _ verdict: @escaping Verdict
    ) async throws {
        precondition(step == nil, "a central takes one step at a time")
        count += 1
        let number = count
        let timer = time.map { time in
            Task {
                try await Task.sleep(for: time)
                self.settle(number, .failure(.noAnswer(to: what, within: time)))
            }
        }
        defer { timer?.cancel() }
        try await withCheckedThrowingContinuation { continuation in
            step = Step(number: number, verdict: verdict, continuation: continuation)
            action()
        }
    }

    /// Waits until the radio can be used.
    func powerOn() async throws {
        let verdict: Verdict = { [manager] _ in
            switch manager?.state ?? .unknown {
            case .poweredOn: .success(())
            case .unknown, .resetting: nil
            case let state: .failure(.noRadio(state))
            }
        }
        if let result = verdict(.stateChanged) { return try result.get() }
        do {
            try await wait(for: "Reaching the radio", within: .seconds(10), verdict)
        } catch Trouble.noAnswer {
            throw Trouble.noRadio(manager.state)
        }
    }

    private func settle(_ number: Int, _ result: Result<Void, Trouble>) {
        guard let step, step.number == number else { return }
        self.step = nil
        step.continuation.resume(with: result.mapError { $0 as any Error })
    }

    /// Ends a step that waits for a person to end it.
    func interrupt() { happened(.interrupted) }

    private func happened(_ happening: Happening) {
        onHappening?(happening)
        guard let step, let result = step.verdict(happening) else { return }
        settle(step.number, result)
    }
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
