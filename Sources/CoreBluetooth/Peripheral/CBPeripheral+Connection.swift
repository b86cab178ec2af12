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
        let subject = LockedBox(self)
        reference.later { ($0 as? CBCentralManager)?.confirm(subject.current) }
    }

    func confirm() -> PeripheralLink.OnConfirm { record.withLock { $0.link.confirm() } }

    func cancelConnection() { send(record.withLock { $0.link.cancel() }) }

    func connected(_ parameters: LinkParameters) -> PeripheralLink.OnConnected {
        record.withLock {
            let action = $0.link.connected()
            if action == .callDelegate { $0.mtu = parameters.mtu }
            return action
        }
    }

    func connectFailed() -> PeripheralLink.OnFailed { record.withLock { $0.link.failed() } }

    /// Records the end of the connection, and drops the discovered attributes unless the result is `ignore`.
    ///
    /// `wanted` is true if the app has requested the disconnection; `isReconnecting` is true if the host tries to
    /// reconnect.
    func disconnected(wanted: Bool, isReconnecting: Bool) -> PeripheralLink.OnDisconnected {
        let (action, old) = record.withLock { record -> (PeripheralLink.OnDisconnected, DiscoveredDatabase?) in
            let action = record.link.disconnected(wanted: wanted, isReconnecting: isReconnecting)
            guard action != .ignore else {
                record.keepConnection()
                return (action, nil)
            }
            return (action, record.forgetConnection())
        }
        old?.endSubscriptions()
        return action
    }

    /// Lets the host continue to reconnect, because the delegate method with `isReconnecting` is about to be called, or
    /// there is no delegate.
    ///
    /// Has no effect unless the host is reconnecting.
    func reconnect() { record.withLock { $0.link.reconnect() } }

    /// Stops the host's reconnection attempt, unless a delegate method has reported the attempt, or the app has since
    /// called `connect` or cancelled the connection.
    func giveUpReconnecting() { send(record.withLock { $0.link.giveUp() }) }

    func radioLost() {
        let old = record.withLock { record in
            record.link.radioLost()
            return record.forgetConnection()
        }
        old.endSubscriptions()
    }

    /// Records an advertisement; if its name replaces another name, calls the delegate and returns `true`.
    @discardableResult
    func noteAdvertisement(_ report: AdvertisementReport) -> Bool {
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

    /// Ends the connection of a peripheral whose object the app has released.
    func abandonConnection() {
        let current = state
        switch current {
        case .disconnected, .disconnecting: return
        case .connecting, .connected:
            let what = current == .connecting ? "connecting" : "connected"
            session.report("CBPeripheral must be retained", "\(name ?? "a peripheral") is \(what) but not retained")
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
