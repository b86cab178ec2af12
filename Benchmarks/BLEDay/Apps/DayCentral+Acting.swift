import CoreBluetooth

// The actions of the app.
extension DayCentral {
    /// Performs a random action; `channels` are PSMs that the app may open.
    func act(channels: [CBL2CAPPSM]) {
        guard isOn else { return }
        checkReadOnly()
        guard let subject = dice.pick(subjects), !dice.chance(12) else { return changeScan() }
        switch subject.link.state {
        case .idle: dice.chance(80) ? connect(subject) : cancel(subject)
        case .connecting: dice.chance(50) ? cancel(subject) : connect(subject)
        case .closing: dice.chance(60) ? connect(subject) : cancel(subject)
        case .connected:
            switch dice.below(100) {
            case 0..<6: cancel(subject)
            case 6..<9: connect(subject)
            default:
                for _ in 0..<dice.within(1...6) { request(subject, channels) }
                if dice.chance(8) { cancel(subject) }
            }
        }
    }

    /// Cancels all connections and stops the scan.
    func calmDown() {
        guard isOn else { return }
        stopScan()
        for subject in subjects { cancel(subject) }
    }

    /// Reads and checks the octets that have arrived on channels, and drops closed channels.
    func tend() {
        for subject in subjects {
            for talk in subject.talks { complain(talk.receive()) }
            subject.talks.removeAll { !$0.isOpen }
        }
    }

    func startScan(_ services: [CBUUID]?, solicited: [CBUUID] = [], allowsDuplicates: Bool = false) {
        scan = ScanModel(services: services, solicited: solicited, allowsDuplicates: allowsDuplicates)
        var options: [String: Any] = [:]
        if allowsDuplicates { options[CBCentralManagerScanOptionAllowDuplicatesKey] = true }
        if !solicited.isEmpty { options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicited }
        call("scan") { manager.scanForPeripherals(withServices: services, options: options.isEmpty ? nil : options) }
        if !manager.isScanning { complain("isScanning is false after the scan began") }
    }

    func stopScan() {
        scan = nil
        call("stopScan") { manager.stopScan() }
        if manager.isScanning { complain("isScanning is true after the scan was stopped") }
    }

    private func changeScan() {
        switch dice.below(10) {
        case 0..<4: startScan(dice.chance(50) ? [Layout.main] : nil)
        case 4: startScan([Layout.guest, Layout.part], solicited: [Layout.main])
        case 5: startScan([Layout.main], allowsDuplicates: true)
        default: stopScan()
        }
    }

    func connect(_ subject: Subject) {
        let reconnects = dice.chance(40)
        let options: [String: Any]? =
            reconnects
            ? [CBConnectPeripheralOptionEnableAutoReconnect: true]
            : dice.chance(10) ? [CBConnectPeripheralOptionStartDelayKey: 2] : nil
        subject.link.connect(reconnects: reconnects, at: chronicle.now)
        call("connect") { manager.connect(subject.peripheral, options: options) }
        checkState(of: subject)
    }

    func cancel(_ subject: Subject) {
        subject.link.cancel(at: chronicle.now)
        call("cancel") { manager.cancelPeripheralConnection(subject.peripheral) }
        if subject.peripheral.state == .connected { complain("connected after the connection was cancelled") }
        checkState(of: subject)
    }

    /// Checks the calls that return their result immediately.
    private func checkReadOnly() {
        let known = subjects.map(\.peripheral)
        let found = call("retrieve") { manager.retrievePeripherals(withIdentifiers: known.map(\.identifier)) }
        if found.count != known.count || !zip(found, known).allSatisfy({ $0 === $1 }) {
            complain("retrieved \(found.count) peripherals instead of the \(known.count) known ones")
        }
        guard dice.chance(10) else { return }
        let connected = call("retrieveConnected") { manager.retrieveConnectedPeripherals(withServices: [Layout.main]) }
        for peripheral in connected { _ = meet(peripheral) }
    }
}
