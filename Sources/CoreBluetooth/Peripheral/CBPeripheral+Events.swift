import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheral {
    /// Takes what the host says but for what is notified; on the manager's queue.
    func receive(_ event: PeerEvent, answering number: RequestNumber) {
        let step = takeStep { $0.receive(event, answering: number, of: self) }
        step.call?.make(by: self, to: step.delegate)
        switch step.heard {
        case .nothing: break
        case .sameEvent: tellObservers(event)
        case .event(let other): tellObservers(other)
        }
        if let rest = step.rest { proceed(rest) }
    }

    /// Sends what may be sent now, and tells the app of what was answered; on the manager's queue.
    ///
    /// What the app asks for meanwhile, it hears of later.
    func proceed() { proceed(.whatThereIs) }

    /// Answers all that has not been answered, since there is no connection any more.
    ///
    /// The host has answered what it knew of; this is what waited for its turn, or came too late.
    func failRequests(_ failure: Failure) {
        if let rest = tell(takeStep { $0.failRequests(failure, of: self) }) { proceed(rest) }
    }

    /// Tells the app of a value that it did not ask for; what waits for answers goes on waiting.
    func notified(_ handle: AttributeHandle, _ value: [UInt8]) {
        var delegate: (any CBPeripheralDelegate)?, isAsking = false
        let found = record.withLock { record -> CBCharacteristic? in
            guard let object = record.notifying(handle) else { return nil }
            delegate = record.delegate
            isAsking = record.requests.count > 0
            return object
        }
        guard let characteristic = found else { return }
        characteristic.setValue(octets: value)
        delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
        tellObservers(.valueNotified(handle, value))
        if isAsking { proceed() }
    }

    /// Takes one step after the other until nothing is left to tell.
    private func proceed(_ rest: PeripheralRecord.Rest) {
        var rest: PeripheralRecord.Rest? = rest
        while let left = rest { rest = tell(takeStep { $0.proceed(left, of: self) }) }
    }

    /// Takes a step, and sends what is to be sent with it.
    private func takeStep(_ body: (inout PeripheralRecord) -> PeripheralRecord.Step) -> PeripheralRecord.Step {
        record.withLock { record in
            let step = body(&record)
            for (request, number) in step.requests { session.send(.peer(peer, request, number)) }
            return step
        }
    }

    /// Tells what came of a step, and returns what is left then.
    private func tell(_ step: consuming PeripheralRecord.Step) -> PeripheralRecord.Rest? {
        step.call?.make(by: self, to: step.delegate)
        if case .event(let event) = step.heard { tellObservers(event) }
        return step.rest
    }

    private func tellObservers(_ event: @autoclosure () -> PeerEvent) {
        if !reference.observers.isEmpty { reference.observers.tell(.peer(peer, event())) }
    }
}
