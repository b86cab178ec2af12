import BLEController
import BLEHost
import BLERuntime
import BLEWire

extension WorldCore {
    mutating func perform(_ action: WorldAction) {
        switch action {
        case .open(let client, let role):
            guard let index = station(of: client) else { return }
            if case .app(let session) = clients[client.rawValue], !isAuthorized(session) {
                return reportMissingPermission(session, client)
            }
            var owner = ClientOwner.program
            if case .app(let session) = clients[client.rawValue] { owner = session.owner }
            stations[index].host.open(client, role: role, of: owner, at: now)
            sendPhase(to: client)
            markDirty(index)
        case .close(let client): close(client)
        case .appEnded(let client):
            guard case .app(let session) = clients[client.rawValue] else { return }
            stations[session.machine].host.appEnded(session.client, at: now)
            markDirty(session.machine)
        case .appReturned(let client):
            guard case .app(let session) = clients[client.rawValue] else { return }
            stations[session.machine].host.appReturned(session.client, at: now)
            markDirty(session.machine)
        case .transfer(let client, let owner):
            guard case .app(var session) = clients[client.rawValue] else { return }
            session.owner = owner
            clients[client.rawValue] = .app(session)
            stations[session.machine].host.transfer(session.client, to: owner)
        case .request(let request, let client): perform(request, for: client)
        case .move(let index, let position):
            stations[index].movements += 1
            move(index, to: Position(position))
        case .walk(let index, let end, let duration): walk(index, to: end, taking: duration)
        case .step(let index, let walk): takeStep(of: walk, index)
        case .setRadio(let index, let isOn):
            stations[index].runningFaults.endAll(with: .unplugged)
            isOn ? plugIn(index) : unplug(index)
        case .setBluetooth(let index, let isOn):
            stations[index].runningFaults.endAll(with: .switchedOff)
            stations[index].isSwitchedOff = !isOn
            isOn ? switchOn(index) : switchOff(index)
        case .changePhaseOfApps(let index, let modes): changePhase(ofAppsOn: index, to: modes)
        case .setFaults(let index, let faults): set(faults, on: index)
        case .setSeparated(let one, let other, let isSeparated):
            separated.removeAll { $0 == (one, other) || $0 == (other, one) }
            if isSeparated { separated.append((one, other)) }
            set(one, other, separated: areSeparated(one, other))
        case .startFault(let kind, let machine): startFault(kind, machine)
        case .endFault(let index, let number): endFault(number, of: index)
        case .expireTask(let index, let number): expireTask(number, on: index)
        }
    }

    mutating func perform(_ request: ClientRequest, for client: ClientID) {
        guard let index = station(of: client) else { return }
        var known = client
        if case .device(let place) = clients[client.rawValue], case .security = request { known = agent(of: place) }
        if case .app(let session) = clients[client.rawValue] {
            guard isAuthorized(session) else { return }
            known = session.client
            story.add(
                .asked(request, machine: index, app: session.app, client: client.rawValue),
                at: now
            )
            recorder?.add(request, of: client.rawValue, on: stations[index].name, at: now)
            if logsCalls {
                let line = transcript.line(request, of: client.rawValue)
                logLine("app \(client.rawValue) requests: \(line)", on: index)
            }
            countStep(request.methodName, on: index)
            recordRequestedAlerts(request, for: client, on: index)
        }
        preserve(request, for: known)
        stations[index].host.perform(request, for: known, at: now)
        markDirty(index)
    }

    /// Returns the client through which the scripted device at the index `place` takes part in pairing.
    ///
    /// Opens the client's session the first time.
    private mutating func agent(of place: Int) -> ClientID {
        if let agent = devices[place].agent { return agent }
        let agent = nextClient
        clients.append(.deviceAgent(place))
        devices[place].agent = agent
        stations[devices[place].station].host.open(agent, role: .agent, at: now)
        return agent
    }

    /// Carries out everything that is due on a machine.
    mutating func wake(_ index: Int) {
        let station = stations[index]
        switch station.radio {
        case .unplugged(let absentAt?) where absentAt <= now:
            station.radio = .unplugged(absentAt: nil)
            station.host.transportAbsent(at: now)
        case .resetting(let controller, let until) where until <= now:
            station.radio = .present(controller)
            station.host.transportOpened(at: now)
        case .present, .unplugged, .resetting, .switchedOff: break
        }
        station.host.wake(at: now)
        markDirty(index)
    }

    /// Resets the controller of a machine, because its host cannot continue otherwise, or because of a fault.
    mutating func reset(_ index: Int) {
        let station = stations[index]
        guard case .present(let controller) = station.radio else { return }
        air.powerCycle(controller, at: now)
        station.radio = .resetting(controller, until: now + Self.restart)
        station.host.transportClosed(at: now)
        markDirty(index)
    }

    mutating func move(_ index: Int, to position: Position) {
        let station = stations[index]
        station.identity.position = position
        switch station.radio {
        case .present(let controller), .resetting(let controller, _), .switchedOff(let controller):
            air.move(controller, to: position)
        case .unplugged: break
        }
    }

    mutating func unplug(_ index: Int) {
        let station = stations[index]
        switch station.radio {
        case .present(let controller), .resetting(let controller, _), .switchedOff(let controller):
            // The next controller must not lose requests again that this one has already lost.
            station.faults.lostConnectionRequests = air[faults: controller].lostConnectIndications
            air.remove(controller, at: now)
            station.radio = .unplugged(absentAt: now + Self.absence)
            station.host.transportClosed(at: now)
            markDirty(index)
        case .unplugged: break
        }
    }

    mutating func plugIn(_ index: Int) {
        let station = stations[index]
        guard case .unplugged = station.radio else { return }
        let controller = air.add(station.identity)
        owners.append(index)
        station.radio = .present(controller)
        set(station.faults, on: index)
        separate(index)
        if station.isSwitchedOff || station.runningFaults.contains(.switchedOff) { return switchOff(index) }
        station.host.transportOpened(at: now)
        markDirty(index)
    }

    mutating func switchOff(_ index: Int) {
        let station = stations[index]
        switch station.radio {
        case .present(let controller), .resetting(let controller, _):
            air.powerCycle(controller, at: now)
            station.radio = .switchedOff(controller)
            station.host.transportSwitchedOff(at: now)
            markDirty(index)
        case .unplugged, .switchedOff: break
        }
    }

    mutating func switchOn(_ index: Int) {
        let station = stations[index]
        guard case .switchedOff(let controller) = station.radio else { return }
        station.radio = .present(controller)
        station.host.transportOpened(at: now)
        markDirty(index)
    }

    private mutating func set(_ faults: Machine.Faults, on index: Int) {
        stations[index].faults = faults
        switch stations[index].radio {
        case .present(let controller), .resetting(let controller, _), .switchedOff(let controller):
            air[faults: controller].isMute = faults.isMute
            air[faults: controller].dropEvents = faults.forgottenEvents
            air[faults: controller].lostConnectIndications = faults.lostConnectionRequests
        case .unplugged: break
        }
    }

    /// Returns whether a test or a fault prevents two machines from receiving each other.
    func areSeparated(_ one: Int, _ other: Int) -> Bool {
        stations[one].runningFaults.contains(.isolated) || stations[other].runningFaults.contains(.isolated)
            || separated.contains { $0 == (one, other) || $0 == (other, one) }
    }

    /// Separates the new controller of a machine from the controllers of all machines that a test or a fault has
    /// separated from this machine.
    mutating func separate(_ index: Int) {
        guard hasIsolated || !separated.isEmpty else { return }
        for other in stations.indices where other != index && areSeparated(index, other) {
            set(index, other, separated: true)
        }
    }

    mutating func set(_ one: Int, _ other: Int, separated isSeparated: Bool) {
        for a in owners.indices where owners[a] == one {
            for b in owners.indices where owners[b] == other {
                let pair = ControllerPair(ControllerID(rawValue: a), ControllerID(rawValue: b))
                if isSeparated { air.partition.insert(pair) } else { air.partition.remove(pair) }
            }
        }
    }
}
