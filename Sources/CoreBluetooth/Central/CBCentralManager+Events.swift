import BLEHost
import BLERuntime
import Foundation

/// A disconnection, kept while the delegate is called for it.
struct Disconnection {
    let peer: PeerIdentifier
    let timestamp: CFAbsoluteTime
    let isReconnecting: Bool
}

/// A delegate to call for an advertisement, and the arguments of the call.
private struct AdvertisementDelivery: ~Copyable {
    let delegate: any CBCentralManagerDelegate
    let peripheral: CBPeripheral
    let data: [String: Any]
}

extension CBCentralManager {
    /// Returns the object for `peer`: the one that the app retains, or a new one.
    func peripheral(_ peer: PeerIdentifier, name: String?) -> CBPeripheral {
        content.withLock { peripheral(peer, name: name, &$0) }
    }

    private func peripheral(_ peer: PeerIdentifier, name: String?, _ content: inout Content) -> CBPeripheral {
        noteDiscovered(peer, name: name, &content)
        if let known = content.peripherals[peer] { return known }
        let new = CBPeripheral(peer, name: content.seen.name(of: peer), session: session, reference: reference)
        content.peripherals[peer] = new
        return new
    }

    /// Adds `peer` to the known peers of this manager and of the process's other managers.
    func noteDiscovered(_ peer: PeerIdentifier, name: String?, _ content: inout Content) {
        if content.seen.insert(peer, name: name) { knowledge.noteDiscovered(peer, name: name) }
    }

    /// Returns the object for `peer`; `nil` if the peer is not known.
    ///
    /// A peer is known if a manager of this process has discovered it, or if the host already knew it when a manager
    /// was created.
    func knownPeripheral(_ peer: PeerIdentifier) -> CBPeripheral? {
        let isKnown = content.withLock { $0.seen.contains(peer) || $0.peripherals[peer] != nil }
        if isKnown { return peripheral(peer, name: nil) }
        return knowledge.peer(peer).map { peripheral($0.peer, name: $0.name) }
    }

    /// Returns whether `peripheral` belongs to this manager; logs a misuse if it does not.
    func accepts(_ peripheral: CBPeripheral) -> Bool {
        if content.withLock({ $0.peripherals[peripheral.peer] }) === peripheral { return true }
        reference.console.misuse("\(peripheral) does not belong to this manager, or is no longer valid")
        return false
    }

    func stateChanged(_ state: CBManagerState) {
        let last = replaceState(with: state)
        guard last != state else { return }
        if state != .poweredOn {
            if last == .unknown { withdrawRestoredRequests() }
            endChannels(.poweredOff)
            let (peripherals, scanEnd) = content.withLock {
                $0.links = []
                // A new session reports only the links that exist, so these peers must not count as connected.
                _ = $0.watch?.update([])
                return ($0.peripherals.objects, $0.replaceScan(with: nil))
            }
            scanEnd()
            for peripheral in peripherals {
                peripheral.failRequests(.poweredOff)
                peripheral.radioLost()
            }
            if state.invalidatesObjects {
                content.withLock {
                    $0.peripherals.removeAll()
                    $0.advertisements.forgetAll()
                }
            }
        }
        delegate?.centralManagerDidUpdateState(self)
    }

    /// Withdraws the scan and the connections that were restored, because the manager drops them in the current state.
    ///
    /// The owner of the session would repeat them when the radio is powered on.
    private func withdrawRestoredRequests() {
        let (isScanning, peripherals) = content.withLock { ($0.scan != nil, $0.peripherals.objects) }
        if isScanning { session.send(.stopScan) }
        for peripheral in peripherals where peripheral.state != .disconnected {
            session.send(.cancelConnection(peripheral.peer))
        }
    }

    func discovered(_ report: AdvertisementReport) {
        let news = content.withLock { content -> AdvertisementDelivery? in
            guard content.hasScanBegun, let delegate = content.delegate,
                let data = content.advertisements.dictionary(of: report)
            else { return nil }
            return AdvertisementDelivery(delegate: delegate, peripheral: sender(of: report, &content), data: data)
        }
        guard let news else { return }
        // If the delegate was called for a new name, it may have stopped the scan.
        if news.peripheral.noteAdvertisement(report), !content.withLock({ $0.hasScanBegun }) { return }
        news.delegate.centralManager(
            self,
            didDiscover: news.peripheral,
            advertisementData: news.data,
            rssi: report.rssi.number
        )
    }

    /// Returns the object for the sender of an advertisement.
    private func sender(of report: AdvertisementReport, _ content: inout Content) -> CBPeripheral {
        // Once `seen` is full, it may have dropped this peer, which must then be added again.
        if !content.seen.isFull, let known = content.advertisements.sender { return known }
        let peripheral = peripheral(report.peer, name: report.name, &content)
        content.advertisements.sender = peripheral
        return peripheral
    }

    func connected(_ peer: PeerIdentifier, _ link: LinkParameters) {
        guard let peripheral = content.withLock({ $0.peripherals[peer] }) else {
            return session.send(.cancelConnection(peer))
        }
        switch peripheral.connected(link) {
        case .callDelegate:
            let name = peripheral.name
            if let new = link.name { peripheral.setName(new) }
            delegate?.centralManager(self, didConnect: peripheral)
            if peripheral.name != name { peripheral.delegate?.peripheralDidUpdateName(peripheral) }
        case .undo: session.send(.cancelConnection(peer))
        case .ignore: break
        }
    }

    /// Calls the delegate for a peripheral that was already connected when the app called `connect`, unless the
    /// connection has since ended.
    func confirm(_ peripheral: CBPeripheral) {
        switch peripheral.confirm() {
        case .callDelegate: delegate?.centralManager(self, didConnect: peripheral)
        case .nothing: break
        }
    }

    func connectFailed(_ peer: PeerIdentifier, _ failure: Failure) {
        guard let peripheral = content.withLock({ $0.peripherals[peer] }) else { return }
        // When the radio goes off, connections end without a delegate call: the change of the manager's state is
        // enough.
        if failure == .poweredOff { return peripheral.radioLost() }
        switch peripheral.connectFailed() {
        case .callDelegate:
            delegate?.centralManager(
                self,
                didFailToConnect: peripheral,
                error: failure.error(about: .connection)
            )
        case .callDelegateOfDisconnection: callDelegateOfDisconnect(peripheral, error: nil, isReconnecting: false)
        case .callDelegateOfDisconnectionAndConnect(let request):
            session.send(.connect(peer, request))
            callDelegateOfDisconnect(peripheral, error: nil, isReconnecting: false)
        case .ignore: break
        }
    }

    func disconnected(_ peer: PeerIdentifier, _ failure: Failure?, isReconnecting: Bool) {
        guard let peripheral = content.withLock({ $0.peripherals[peer] }) else { return }
        endChannels(failure ?? .cancelled, with: peer)
        peripheral.failRequests(failure == .poweredOff ? .poweredOff : .notConnected)
        if failure == .poweredOff { return peripheral.radioLost() }
        let error = failure?.error(about: .connection)
        switch peripheral.disconnected(wanted: failure == nil, isReconnecting: isReconnecting) {
        case .callDelegate: callDelegateOfDisconnect(peripheral, error: error, isReconnecting: false)
        case .callDelegateAndConnect(let request):
            session.send(.connect(peer, request))
            callDelegateOfDisconnect(peripheral, error: error, isReconnecting: false)
        case .callDelegateOfReconnecting: callDelegateOfDisconnect(peripheral, error: error, isReconnecting: true)
        case .callDelegateOfFailure: delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
        case .ignore: break
        }
    }

    /// Calls the older delegate method for a disconnection.
    ///
    /// The default implementation of the older method calls the newer method, which has a timestamp.
    ///
    /// If a delegate implements both, only the older method is called, as on Apple's systems, and the host does not
    /// reconnect.
    private func callDelegateOfDisconnect(_ peripheral: CBPeripheral, error: (any Error)?, isReconnecting: Bool) {
        guard let delegate else { return peripheral.reconnect() }
        content.withLock {
            $0.lastDisconnection = Disconnection(
                peer: peripheral.peer,
                timestamp: Date().timeIntervalSinceReferenceDate,
                isReconnecting: isReconnecting
            )
        }
        delegate.centralManager(self, didDisconnectPeripheral: peripheral, error: error)
        content.withLock { $0.lastDisconnection = nil }
        peripheral.giveUpReconnecting()
    }

    /// Calls the newer delegate method for a disconnection, because the delegate lacks the older one.
    func forwardDisconnect(
        of peripheral: CBPeripheral,
        error: (any Error)?,
        to delegate: some CBCentralManagerDelegate
    ) {
        let lastDisconnection = content.withLock { content in
            defer { content.lastDisconnection = nil }
            return content.lastDisconnection
        }
        guard let lastDisconnection, lastDisconnection.peer == peripheral.peer else { return }
        peripheral.reconnect()
        delegate.centralManager(
            self,
            didDisconnectPeripheral: peripheral,
            timestamp: lastDisconnection.timestamp,
            isReconnecting: lastDisconnection.isReconnecting,
            error: error
        )
    }

    func linksChanged(_ links: [SystemLink]) {
        let events = content.withLock {
            $0.links = links
            for link in links { noteDiscovered(link.peer, name: link.name, &$0) }
            return $0.watch?.update(links) ?? []
        }
        for event in events {
            let name = links.first { $0.peer == event.peer }?.name
            let peripheral = peripheral(event.peer, name: name)
            delegate?.centralManager(self, connectionEventDidOccur: event.kind, for: peripheral)
        }
    }
}
