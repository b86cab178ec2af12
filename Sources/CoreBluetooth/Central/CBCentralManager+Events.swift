import BLEHost
import BLERuntime
import Foundation

/// The reason of a disconnection, kept while the delegate is called.
struct Disconnection {
    let peer: PeerIdentifier
    let timestamp: CFAbsoluteTime
    let isReconnecting: Bool
}

/// An advertisement for the delegate.
private struct AdvertisementDelivery: ~Copyable {
    let delegate: any CBCentralManagerDelegate
    let peripheral: CBPeripheral
    let data: [String: Any]
}

extension CBCentralManager {
    /// Returns the object for `peer`: the one that the app has, or a new one.
    func peripheral(_ peer: PeerIdentifier, name: String?) -> CBPeripheral {
        content.withLock { peripheral(peer, name: name, &$0) }
    }

    private func peripheral(_ peer: PeerIdentifier, name: String?, _ content: inout Content) -> CBPeripheral {
        meet(peer, name: name, &content)
        if let known = content.peripherals[peer] { return known }
        let new = CBPeripheral(peer, name: content.seen.name(of: peer), session: session, reference: reference)
        content.peripherals[peer] = new
        return new
    }

    /// Remembers `peer` for this manager and the others of the process.
    func meet(_ peer: PeerIdentifier, name: String?, _ content: inout Content) {
        if content.seen.insert(peer, name: name) { knowledge.meet(peer, name: name) }
    }

    /// Returns the object for `peer`; `nil` if no manager of the process has discovered it.
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
        guard enter(state) != state else { return }
        if state != .poweredOn {
            endChannels(.poweredOff)
            let (peripherals, scanEnd) = content.withLock {
                $0.links = []
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

    func discovered(_ report: AdvertisementReport) {
        let news = content.withLock { content -> AdvertisementDelivery? in
            guard content.hasScanBegun, let delegate = content.delegate,
                let data = content.advertisements.dictionary(of: report)
            else { return nil }
            return AdvertisementDelivery(delegate: delegate, peripheral: sender(of: report, &content), data: data)
        }
        guard let news else { return }
        // Who has heard of another name may have stopped the scan.
        if news.peripheral.heard(report), !content.withLock({ $0.hasScanBegun }) { return }
        news.delegate.centralManager(
            self,
            didDiscover: news.peripheral,
            advertisementData: news.data,
            rssi: report.rssi.number
        )
    }

    /// Returns the object for the sender of an advertisement.
    private func sender(of report: AdvertisementReport, _ content: inout Content) -> CBPeripheral {
        // Of a peer that may have been forgotten meanwhile, all are told anew.
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

    /// Tells the delegate that the peripheral was already connected, unless the connection has ended since.
    func confirm(_ peripheral: CBPeripheral) {
        switch peripheral.confirm() {
        case .callDelegate: delegate?.centralManager(self, didConnect: peripheral)
        case .nothing: break
        }
    }

    func connectFailed(_ peer: PeerIdentifier, _ failure: Failure) {
        guard let peripheral = content.withLock({ $0.peripherals[peer] }) else { return }
        // The radio going off ends connections without a word: the state says it all.
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

    /// Calls the older delegate method, whose default calls the newer one.
    ///
    /// A delegate with both gets only the older one, as on Apple's systems, and its connection is not re-established.
    private func callDelegateOfDisconnect(_ peripheral: CBPeripheral, error: (any Error)?, isReconnecting: Bool) {
        guard let delegate else { return peripheral.reconnect() }
        content.withLock {
            $0.departure = Disconnection(
                peer: peripheral.peer,
                timestamp: Date().timeIntervalSinceReferenceDate,
                isReconnecting: isReconnecting
            )
        }
        delegate.centralManager(self, didDisconnectPeripheral: peripheral, error: error)
        content.withLock { $0.departure = nil }
        peripheral.giveUpReconnecting()
    }

    /// Calls the newer method of a delegate without the older one.
    func forwardDisconnect(
        of peripheral: CBPeripheral,
        error: (any Error)?,
        to delegate: some CBCentralManagerDelegate
    ) {
        let departure = content.withLock { content in
            defer { content.departure = nil }
            return content.departure
        }
        guard let departure, departure.peer == peripheral.peer else { return }
        peripheral.reconnect()
        delegate.centralManager(
            self,
            didDisconnectPeripheral: peripheral,
            timestamp: departure.timestamp,
            isReconnecting: departure.isReconnecting,
            error: error
        )
    }

    func linksChanged(_ links: [SystemLink]) {
        let events = content.withLock {
            $0.links = links
            for link in links { meet(link.peer, name: link.name, &$0) }
            return $0.watch?.update(links) ?? []
        }
        for event in events {
            let name = links.first { $0.peer == event.peer }?.name
            let peripheral = peripheral(event.peer, name: name)
            delegate?.centralManager(self, connectionEventDidOccur: event.kind, for: peripheral)
        }
    }
}
