import BLEHost
public import CoreBluetooth
import Foundation

// Reading, writing and receiving values with `async` methods.
extension CBPeripheral {
    /// Reads the whole value of `characteristic`, even if it takes several requests.
    ///
    /// The delegate is called as well.
    ///
    /// - Throws: The errors that the delegate would receive; a refusal by the device is a `CBATTError`.
    public func value(of characteristic: CBCharacteristic) async throws -> Data {
        let octets = try await answer(
            to: { event -> Result<[UInt8], Failure>? in
                guard case .valueRead(_, let result) = event else { return nil }
                return result
            },
            ask: { readRequest(for: characteristic) }
        )
        return Data(octets)
    }

    /// Reads the value of `descriptor`, as octets.
    public func value(of descriptor: CBDescriptor) async throws -> Data {
        let octets = try await answer(
            to: { event -> Result<[UInt8], Failure>? in
                guard case .valueRead(_, let result) = event else { return nil }
                return result
            },
            ask: { readRequest(for: descriptor) }
        )
        return Data(octets)
    }

    /// Writes a value and waits for the device's response.
    public func write(_ value: Data, to characteristic: CBCharacteristic) async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .valueWritten(_, let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { writeRequest(value, for: characteristic) }
        )
    }

    /// Writes a value to `descriptor` and waits for the device's response.
    ///
    /// - Precondition: `descriptor` is not a Client Characteristic Configuration descriptor (2902); use
    ///   ``setNotifications(_:for:)`` instead.
    public func write(_ value: Data, to descriptor: CBDescriptor) async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .valueWritten(_, let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { writeRequest(value, for: descriptor) }
        )
    }

    /// Turns notifications or indications of `characteristic` on or off, and waits for the device's response.
    ///
    /// The delegate receives the values. Use ``values(of:buffering:)`` to receive them as a sequence.
    public func setNotifications(_ isOn: Bool, for characteristic: CBCharacteristic) async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .subscriptionChanged(_, _, let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { subscriptionRequest(isOn, for: characteristic) }
        )
    }

    /// Waits until there is space, then writes a value without response.
    ///
    /// - Throws: An error if the value is not sent: `CBError.invalidHandle` if the device has removed the
    ///   characteristic, `CBATTError.writeNotPermitted` if the characteristic does not have the property
    ///   `writeWithoutResponse`, `CBATTError.invalidAttributeValueLength` if the value does not fit into a packet,
    ///   other codes of `CBError` if the connection is lost.
    public func send(_ value: Data, to characteristic: CBCharacteristic) async throws {
        guard has(characteristic) else { throw CBError(.invalidHandle) }
        while true {
            while !canSendWriteWithoutResponse { try await roomToSend() }
            switch writeCommand(value, to: characteristic) {
            case .queued: return
            case .full: continue
            case .failed(let failure): throw failure.error(about: .attribute)
            }
        }
    }

    /// Waits until there is space to write a value without response.
    ///
    /// When there is space, all waiting tasks continue, even if the space does not suffice for all of them.
    func roomToSend() async throws {
        guard let manager else { throw CBError(.notConnected) }
        let peer = self.peer
        try await manager.firstResult { event -> Result<Void, any Error>? in
            if case .disconnected(peer, let failure, _)? = event {
                return .failure((failure ?? .notConnected).error(about: .connection))
            }
            if self.canSendWriteWithoutResponse { return .success(()) }
            return self.state == .connected ? nil : .failure(CBError(.notConnected))
        }
    }

    /// Subscribes to `characteristic`, and returns its values as a sequence.
    ///
    /// The sequence throws if the device refuses the subscription, the connection ends, the manager is released, or the
    /// device removes the characteristic (`CBError.invalidHandle`). When the iterating task is cancelled or drops the
    /// sequence, the subscription ends, unless other tasks iterate over the values of the same characteristic.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with notifications or indications.
    ///   - policy: The buffering policy for a slow reader. By default, all values are kept.
    /// - Returns: The values, in the order in which they arrive.
    public func values(
        of characteristic: CBCharacteristic,
        buffering policy: AsyncThrowingStream<Data, any Error>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncThrowingStream<Data, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Data.self,
            throwing: (any Error).self,
            bufferingPolicy: policy
        )
        guard let manager, state == .connected, has(characteristic), let handle = characteristic.valueHandle else {
            continuation.finish(throwing: CBError(state == .connected ? .invalidHandle : .notConnected))
            return stream
        }
        let peer = self.peer, number = reserveNumber()
        let observers = manager.observers, sent = Observers.Subject(handle, of: peer)
        let id = observers.add(of: sent) { event in
            switch event {
            case .peer(peer, .valueNotified(handle, let value), _): continuation.yield(Data(value))
            case .peer(peer, .subscriptionChanged(_, _, let failure?), number):
                continuation.finish(throwing: failure.error(about: .attribute))
            case .peer(peer, _, _):
                // Another characteristic may get the handle of one that is gone.
                if !self.has(characteristic) { continuation.finish(throwing: CBError(.invalidHandle)) }
            case .disconnected(peer, let failure, _):
                continuation.finish(throwing: (failure ?? .notConnected).error(about: .connection))
            default: if let loss = event.radioLoss { continuation.finish(throwing: loss) }
            }
        }
        continuation.onTermination = { termination in
            observers.remove(id)
            guard case .cancelled = termination, self.state == .connected, self.has(characteristic),
                !observers.hasObservers(of: sent)
            else { return }
            self.setNotifyValue(false, for: characteristic)
            // Another task may have subscribed in the meantime.
            if observers.hasObservers(of: sent) { self.setNotifyValue(true, for: characteristic) }
        }
        // The connection or the characteristic may be gone since the check above. Then no event will end the sequence.
        let request = subscriptionRequest(true, for: characteristic)
        if case .refused = request {
            continuation.finish(throwing: CBError(.invalidHandle))
        } else if !make(request, as: number) {
            continuation.finish(throwing: CBError(.notConnected))
        }
        return stream
    }
}
