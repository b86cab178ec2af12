import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheral {
    /// Processes a host event other than a notified value, on the manager's queue.
    ///
    /// `number` identifies the request that the event answers; ``RequestNumber/none`` if it answers none.
    func receive(_ event: PeerEvent, answering number: RequestNumber) {
        let step = takeStep { $0.receive(event, answering: number, of: self) }
        step.call?.make(by: self, to: step.delegate)
        switch step.observed {
        case .nothing: break
        case .sameEvent: notifyObservers(event, number)
        case .event(let other): notifyObservers(other.event, other.number)
        }
        if let rest = step.rest { proceed(rest) }
    }

    /// Sends the requests that can be sent now, and delivers the available results to the delegate, on the manager's
    /// queue.
    ///
    /// Results of requests that the app makes in a delegate call are delivered later.
    func proceed() { proceed(.allAvailable) }

    /// Fails all pending requests, because the connection has ended.
    ///
    /// The host has already failed the requests that it had received. The pending requests were still queued here, or
    /// reached the host too late.
    func failRequests(_ failure: Failure) {
        if let rest = deliver(takeStep { $0.failRequests(failure, of: self) }) { proceed(rest) }
    }

    /// Stores a notified value in its characteristic, and calls the delegate.
    ///
    /// The value does not wait for the results of pending requests.
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
        notifyObservers(.valueNotified(handle, value), .none)
        if isAsking { proceed() }
    }

    /// Takes further steps, starting with the remaining work `rest`, until no work is left.
    private func proceed(_ rest: PeripheralRecord.Remainder) {
        var rest: PeripheralRecord.Remainder? = rest
        while let left = rest { rest = deliver(takeStep { $0.proceed(left, of: self) }) }
    }

    /// Locks the record for one step, `body`, and sends the requests that the step returns.
    private func takeStep(_ body: (inout PeripheralRecord) -> PeripheralRecord.Step) -> PeripheralRecord.Step {
        record.withLock { record in
            let step = body(&record)
            for (request, number) in step.requests { session.send(.peer(peer, request, number)) }
            return step
        }
    }

    /// Makes the delegate call of a step, and returns the work that is left; `nil` if there is none.
    private func deliver(_ step: consuming PeripheralRecord.Step) -> PeripheralRecord.Remainder? {
        step.call?.make(by: self, to: step.delegate)
        if case .event(let observed) = step.observed { notifyObservers(observed.event, observed.number) }
        return step.rest
    }

    /// Passes an event to the manager's observers, with the number of the request that it answers.
    private func notifyObservers(_ event: @autoclosure () -> PeerEvent, _ number: RequestNumber) {
        if !reference.observers.isEmpty { reference.observers.deliver(.peer(peer, event(), answering: number)) }
    }
}
