import CoreBluetooth

/// An app in the central role.
final class DayCentral: DayApp, @unchecked Sendable {
    let ears: CentralEars
    /// True if the app's delegate has the current API, which reports automatic reconnection.
    let isModern: Bool
    private(set) var manager: CBCentralManager!
    private(set) var subjects: [Subject] = []
    var scan: ScanModel?
    var writes: UInt64 = 0
    private var connections: UInt32 = 0
    private var lastState = CBManagerState.unknown

    /// Creates the app on the machine of the calling task, and its manager, which starts immediately.
    init(
        _ name: String,
        on machine: String,
        _ kind: Kind,
        isModern: Bool = true,
        restoring identifier: String? = nil,
        seed: UInt64,
        _ chronicle: Chronicle
    ) {
        self.isModern = isModern
        let delegate: any CentralEars & CBCentralManagerDelegate = isModern ? ModernEars() : LegacyEars()
        ears = delegate
        super.init(name, on: machine, kind, seed: seed, chronicle)
        ears.app = self
        let options = identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        make {
            manager = CBCentralManager(delegate: delegate, queue: kind == .main ? nil : queue, options: options)
        }
    }

    var isOn: Bool { manager.state == .poweredOn }

    func stateChanged(_ state: CBManagerState) {
        if state == lastState { complain("the state \(state.rawValue) was reported twice in a row") }
        lastState = state
        guard state != .poweredOn else { return }
        scan = nil
        if manager.isScanning { complain("scanning without a radio") }
        for subject in subjects {
            unanswered(end(subject), "when the radio was lost")
            subject.link.radioLost(at: chronicle.now)
            checkState(of: subject)
            if subject.peripheral.services != nil { complain("services remain although the radio is gone") }
        }
        if state.rawValue < CBManagerState.poweredOff.rawValue { subjects = [] }
    }

    func discovered(_ peripheral: CBPeripheral, _ data: [String: Any], _ rssi: Int) {
        guard isOn, manager.isScanning else { return complain("discovered without a scan") }
        if scan == nil { complain("discovered after the scan") }
        complain(scan?.discovered(peripheral.identifier, data, rssi))
        let subject = meet(peripheral)
        subject.advertisedName = data[CBAdvertisementDataLocalNameKey] as? String ?? subject.advertisedName
        guard subject.link.state == .idle, isBusy, dice.chance(25) else { return }
        connect(subject)
    }

    /// Returns the app's record of a peripheral; creates one if necessary.
    func meet(_ peripheral: CBPeripheral) -> Subject {
        if let known = subject(peripheral) { return known }
        if subjects.contains(where: { $0.peripheral.identifier == peripheral.identifier }) {
            complain("two objects for one peripheral")
        }
        let subject = Subject(peripheral, hearsOfReconnecting: isModern)
        subjects.append(subject)
        peripheral.delegate = ears
        return subject
    }

    func subject(_ peripheral: CBPeripheral) -> Subject? { subjects.first { $0.peripheral === peripheral } }

    /// Returns whether a request may fail because, since it was made, the link may have been lost or the attributes may
    /// have changed.
    func excuses(_ subject: Subject, since instant: Duration) -> Bool {
        subject.link.state != .connected || chronicle.excuses(machine, subject.server)
            || chronicle.hasRebuilt(subject.server, since: instant)
    }

    func connected(_ peripheral: CBPeripheral) {
        guard let subject = subject(peripheral) else { return complain("connected to an unknown peripheral") }
        if subject.link.confirmed() { return checkState(of: subject) }
        complain(subject.link.connected(at: chronicle.now))
        checkState(of: subject)
        if peripheral.services != nil { complain("services exist that were not discovered") }
        join(subject)
        guard isBusy else { return }
        if dice.chance(5) { return cancel(subject) }
        if dice.chance(80) { discoverServices(subject) }
    }

    /// Starts the record of a new connection.
    func join(_ subject: Subject) {
        connections += 1
        (subject.connection, subject.commands) = (connections, 0)
        let linked = chronicle.joined(machine, subject.peripheral.identifier)
        subject.linked = linked
        chronicle.sends(sender(subject), since: linked)
    }

    func failed(_ peripheral: CBPeripheral, _ error: (any Error)?) {
        guard let subject = subject(peripheral) else { return complain("failed to connect to an unknown peripheral") }
        complain(subject.link.failed(error, at: chronicle.now))
        if !chronicle.excuses(machine, subject.server) {
            complain("failed to connect, which no fault explains: \(told(error))")
        }
        checkState(of: subject)
    }

    func disconnected(_ peripheral: CBPeripheral, _ error: (any Error)?, isReconnecting: Bool) {
        guard let subject = subject(peripheral) else { return complain("disconnected from an unknown peripheral") }
        unanswered(end(subject), "when the connection ended")
        let isExcused = chronicle.excuses(machine, subject.server)
        complain(
            subject.link.disconnected(error, isReconnecting: isReconnecting, isExcused: isExcused, at: chronicle.now)
        )
        checkState(of: subject)
        if peripheral.services != nil { complain("services remain after the connection ended") }
        guard isBusy else { return }
        if subject.link.state == .idle, dice.chance(25) { connect(subject) }
        if subject.link.state == .connecting, dice.chance(10) { cancel(subject) }
    }

    /// Ends the record of a connection; returns the requests that were not answered.
    private func end(_ subject: Subject) -> [RequestModel.Request] {
        if subject.linked != nil { chronicle.left(machine, subject.peripheral.identifier) }
        subject.linked = nil
        return subject.end()
    }

    /// Returns the identifier at the start of all values that the app writes without response on a connection.
    func sender(_ subject: Subject) -> UInt64 {
        let owner = UInt64(name.utf8.reduce(0) { $0 &* 31 &+ UInt32($1) })
        return owner << 32 | UInt64(subject.connection)
    }

    func checkState(of subject: Subject) {
        guard let expected = subject.link.publicState, subject.peripheral.state != expected else { return }
        let state = subject.peripheral.state.rawValue
        complain("the peripheral's state is \(state) instead of \(expected.rawValue) while \(subject.link.state)")
    }

    private func unanswered(_ requests: [RequestModel.Request], _ when: String) {
        for request in requests { complain("\(request.kind) got no callback \(when)") }
    }

    func told(_ error: (any Error)?) -> String { error.map { "\($0)" } ?? "success" }

    /// Complains about requests, disconnections and room for writes that the app has waited for since before `instant`.
    ///
    /// If `isLast`, also complains about unfinished connection attempts and a radio that is off, because all faults
    /// have ended by then.
    func audit(since instant: Duration, isLast: Bool) {
        for subject in subjects {
            for request in subject.requests.overdue(since: instant) { complain("\(request.kind) got no callback") }
            switch subject.link.state {
            case .closing where subject.link.since < instant: complain("cancelPeripheralConnection got no callback")
            case .connecting where isLast && subject.link.since < instant: complain("connect got no callback")
            case .idle, .connecting, .connected, .closing: break
            }
            if let asked = subject.link.asked, asked < instant { complain("a connection exists, but was not reported") }
            if let since = subject.closedSince, since < instant { complain("peripheralIsReady was not called in time") }
            checkState(of: subject)
        }
        if isLast, !isOn { complain("the manager's state is \(manager.state.rawValue) at the end") }
    }
}
