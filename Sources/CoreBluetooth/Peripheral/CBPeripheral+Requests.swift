package import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheral {
    /// Returns a number for a request that ``make(_:as:)`` makes later.
    package func reserveNumber() -> RequestNumber { record.withLock { $0.requests.reserveNumber() } }

    /// Makes a request if the peripheral is connected; otherwise logs a misuse.
    ///
    /// The delegate receives the result after those of earlier requests, and never before this method returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - number: The number of the request in the event for the manager's observers, from ``reserveNumber()``; `nil`
    ///     for any number. Observers receive no event about a refused request.
    /// - Returns: False if the peripheral is not connected, so that the request has no result.
    @discardableResult
    package func make(_ request: CheckedRequest, as number: RequestNumber? = nil) -> Bool {
        guard isReady() else { return false }
        switch request {
        case .valid(let request): submit(request, as: number)
        case .answered(let request, let event): answer(request, as: number, .event(event))
        case .refused(let refusal): answer(nil, as: number, .call(refusal.call))
        }
        return true
    }

    /// The outcome of a write without response.
    package enum OnWriteCommand {
        /// The value will be sent after earlier requests.
        case queued
        /// The value was dropped, because too many others wait.
        case full
        /// The value was dropped, because it cannot be written.
        case failed(Failure)
    }

    /// Writes `data` to `characteristic` without response; logs a line if the value is dropped.
    @discardableResult
    package func writeCommand(_ data: Data, to characteristic: CBCharacteristic) -> OnWriteCommand {
        guard isReady() else { return .failed(.notConnected) }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            reference.console.misuse("\(characteristic) does not belong to \(self), or no longer does")
            return .failed(.notFound)
        }
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            reference.console.warn(
                "\(characteristic) does not have the property writeWithoutResponse; the value was dropped"
            )
            return .failed(.att(.writeNotPermitted))
        }
        guard data.count <= longestCommandValue else {
            session.report(
                "maximumWriteValueLength(for:)",
                "a write without response of \(data.count) octets was dropped: at most \(longestCommandValue) fit"
            )
            reference.console.warn(
                "A write without response of \(data.count) octets was dropped: at most \(longestCommandValue) fit"
            )
            return .failed(.att(.invalidAttributeValueLength))
        }
        let fits = record.withLock {
            guard $0.window.outstanding < Self.mostOutstanding else { return false }
            $0.window.submit()
            return true
        }
        guard fits else {
            reference.console.warn(
                """
                \(self) cannot accept more writes without response; one was dropped. Wait until \
                canSendWriteWithoutResponse is true
                """
            )
            return .full
        }
        submit(.writeCommand(handle, [UInt8](octetsOf: data)))
        return .queued
    }

    /// The maximum number of values that wait to be written without response.
    ///
    /// An app reaches this limit only if it ignores that ``canSendWriteWithoutResponse`` is `false`. Further values are
    /// dropped.
    private static let mostOutstanding = 1024

    /// Calls the delegate to report that distance measurement is not supported.
    func refuseSounding() { make(.refused(.soundingCompleted(.notSupported))) }

    /// Queues `request`, and sends it as soon as its turn comes.
    ///
    /// Requests are sent while the queue is locked, so that requests from several threads are sent in the order of the
    /// queue.
    private func submit(_ request: PeerRequest, as number: RequestNumber? = nil) {
        record.withLock { record in
            if let number = record.requests.submit(request, as: number) {
                session.send(.peer(peer, request, number))
            }
        }
    }

    /// Gives a request its result without asking the peripheral.
    ///
    /// `request` is `nil` if the app's call was refused before it became a request to the host.
    private func answer(_ request: PeerRequest?, as number: RequestNumber?, _ answer: PeripheralRequests.Answer) {
        record.withLock { $0.requests.submit(request, as: number, answer: answer) }
        let subject = LockedBox(self)
        reference.later { _ in subject.current.proceed() }
    }

    private func isReady() -> Bool {
        if record.withLock({ $0.acceptsRequests }) { return true }
        reference.console.misuse("\(self) can only accept commands while in the connected state")
        return false
    }

    func owns(_ characteristic: CBCharacteristic) -> Bool {
        record.withLock { record in
            characteristic.handles.flatMap { record.database.characteristic($0.value) }
        } === characteristic
    }
}
