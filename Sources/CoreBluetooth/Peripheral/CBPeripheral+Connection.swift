import BLEHost
import BLERuntime
import Foundation

extension CBPeripheral {
    func connect(_ request: ConnectRequest) {
        switch record.withLock({ $0.link.connect(request) }) {
        case .send: session.send(.connect(peer, request))
        case .confirm: confirmLater()
        case .renewAndConfirm:
            session.send(.connect(peer, request.renewal))
            confirmLater()
        case .renew: session.send(.connect(peer, request.renewal))
        case .nothing: break
        }
    }

    private func confirmLater() {
        let subject = Guarded(self)
        reference.later { ($0 as? CBCentralManager)?.confirm(subject.current) }
    }

    func confirm() -> PeripheralLink.OnConfirm { record.withLock { $0.link.confirm() } }

    func cancelConnection() { send(record.withLock { $0.link.cancel() }) }

    func connected(_ parameters: LinkParameters) -> PeripheralLink.OnConnected {
        record.withLock {
            let action = $0.link.connected()
            if action == .tell { $0.mtu = parameters.mtu }
            return action
        }
    }

    func connectFailed() -> PeripheralLink.OnFailed { record.withLock { $0.link.failed() } }

    /// Takes note that the connection ended: all that was discovered goes with it.
    func disconnected(wanted: Bool, isReconnecting: Bool) -> PeripheralLink.OnDisconnected {
        let (action, old) = record.withLock { record in
            let action = record.link.disconnected(wanted: wanted, isReconnecting: isReconnecting)
            return (action, action == .ignore ? nil : record.forgetConnection())
        }
        old?.endSubscriptions()
        return action
    }

    /// The delegate has heard, or there is none to hear, that the host tries again.
    func reconnect() { record.withLock { $0.link.reconnect() } }

    /// Stops the host from trying again, unless the delegate has heard of it or took matters into its own hands.
    func giveUpReconnecting() { send(record.withLock { $0.link.giveUp() }) }

    func radioLost() {
        let old = record.withLock { record in
            record.link.radioLost()
            return record.forgetConnection()
        }
        old.endSubscriptions()
    }

    /// Takes note of an advertisement; returns whether the delegate was told that the peripheral has another name now.
    @discardableResult
    func heard(_ report: AdvertisementReport) -> Bool {
        let isRenamed = record.withLock { record in
            let isNew = record.report?.repeats(report) != true
            record.report = report
            guard isNew, let name = report.name, name != record.name else { return false }
            defer { record.name = name }
            return record.name != nil
        }
        if isRenamed { delegate?.peripheralDidUpdateName(self) }
        return isRenamed
    }

    func setName(_ name: String) { record.withLock { $0.name = name } }

    /// Gives up the connection of an object that nobody keeps any more.
    func abandonConnection() {
        switch state {
        case .disconnected, .disconnecting: return
        case .connecting, .connected:
            session.report("CBPeripheral must be retained", "\(name ?? "a peripheral") was connected and not kept")
            reference.console.misuse(
                "Cancelling connection for unused peripheral \(self), Did you forget to keep a reference to it?"
            )
            cancelConnection()
        @unknown default: return
        }
    }

    private func send(_ action: PeripheralLink.OnCancel) {
        switch action {
        case .send: session.send(.cancelConnection(peer))
        case .nothing: break
        }
    }
}
