import BLEHost
import BLERuntime
import Foundation

extension CBPeripheral {
    func connect(_ request: ConnectRequest) {
        switch content.withLock({ $0.link.connect(request) }) {
        case .send: session.send(.connect(peer, request))
        case .confirm:
            let subject = Guarded(self)
            reference.later { ($0 as? CBCentralManager)?.confirm(subject.current) }
        case .nothing: break
        }
    }

    func confirm() -> PeripheralLink.OnConfirm { content.withLock { $0.link.confirm() } }

    func cancelConnection() { send(content.withLock { $0.link.cancel() }) }

    func connected(_ parameters: LinkParameters) -> PeripheralLink.OnConnected {
        content.withLock {
            let action = $0.link.connected()
            if action == .tell { $0.mtu = parameters.mtu }
            return action
        }
    }

    func connectFailed() -> PeripheralLink.OnFailed { content.withLock { $0.link.failed() } }

    /// Takes note that the connection ended: all that was discovered goes with it.
    func disconnected(wanted: Bool, isReconnecting: Bool) -> PeripheralLink.OnDisconnected {
        let action = content.withLock { $0.link.disconnected(wanted: wanted, isReconnecting: isReconnecting) }
        if action != .ignore { forgetConnection() }
        return action
    }

    /// The delegate has heard, or there is none to hear, that the host tries again.
    func reconnect() { content.withLock { $0.link.reconnect() } }

    /// Stops the host from trying again, unless the delegate has heard of it or took matters into its own hands.
    func giveUpReconnecting() { send(content.withLock { $0.link.giveUp() }) }

    func radioLost() {
        content.withLock { $0.link.radioLost() }
        forgetConnection()
    }

    /// Takes note of an advertisement.
    func heard(_ report: AdvertisementReport) {
        content.withLock {
            let isNew = $0.report?.repeats(report) != true
            $0.report = report
            if isNew, let name = report.name, name != $0.name { $0.name = name }
        }
    }

    func setName(_ name: String) { content.withLock { $0.name = name } }

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

    private func forgetConnection() {
        let old = content.withLock {
            let old = $0.database
            $0.mtu = 23
            $0.requests = PeripheralRequests()
            $0.window = SendWindow()
            $0.database = DiscoveredDatabase()
            return old
        }
        old.endSubscriptions()
    }
}
