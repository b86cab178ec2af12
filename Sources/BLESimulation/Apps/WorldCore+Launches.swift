import BLEHost
import BLEWire

// Ending apps and launching them again.
extension WorldCore {
    /// Opens a session, or continues the one that an earlier launch of the app left behind.
    mutating func open(_ session: WorldSession, restoring identifier: String) -> ClientID {
        let index = session.machine
        let place = restorable.firstIndex {
            $0.machine == index && $0.app == session.app && $0.role == session.role && $0.identifier == identifier
        }
        guard let place else {
            restorable.append(
                RestorableRole(
                    client: nextClient,
                    machine: index,
                    app: session.app,
                    role: session.role,
                    identifier: identifier,
                    session: KeptSession(session.role)
                )
            )
            return open(session)
        }
        // While a manager with this identifier exists, a second one does not continue its session.
        guard !restorable[place].session.hasApp else { return open(session) }
        let newClient = nextClient
        var session = session
        session.client = restorable[place].client
        clients.append(.app(session))
        clients[session.client.rawValue] = .relaunched(newClient)
        if let state = restorable[place].session.appReturned() {
            let restored = ClientEvent.restored(state)
            stations[index].requestedAlerts[newClient.rawValue, default: RequestedAlerts()].note(restored)
            deliveries.append((newClient.rawValue, restored))
        }
        stations[index].host.appReturned(session.client, at: now)
        takeHostOutput(index)
        sendPhase(to: newClient)
        return newClient
    }

    /// Closes a manager's session.
    mutating func close(_ client: ClientID) {
        guard case .app(let session) = clients[client.rawValue] else { return }
        let index = session.machine
        restorable.removeAll { $0.client == session.client }
        clients[session.client.rawValue] = .gone
        clients[client.rawValue] = .gone
        _ = takeUndelivered(by: client, on: index)
        connections.removeAll { $0.client == session.client }
        stations[index].displayedPasskeys.removeAll { $0.client == session.client }
        stations[index].host.close(session.client, at: now)
        markDirty(index)
    }

    /// Ends all apps of a machine: their managers get no more events.
    mutating func endApps(of index: Int, _ end: Machine.AppEnd) {
        processInbox()
        stations[index].isLaunched = false
        for client in clients.indices {
            guard case .app(let session) = clients[client], session.machine == index else { continue }
            let isPreserved = end != .quitByUser && stations[index].phase(of: session.role) != .suspended
            if isPreserved {
                endManager(ClientID(rawValue: client), session)
            } else {
                close(ClientID(rawValue: client))
            }
        }
        if end == .quitByUser { for manager in restorable where manager.machine == index { giveUp(manager.client) } }
        takeHostOutput(index)
    }

    /// Ends a manager.
    ///
    /// Its session continues if the manager has a restore identifier.
    private mutating func endManager(_ client: ClientID, _ session: WorldSession) {
        guard let place = restorableIndex(of: session.client) else { return close(client) }
        let index = session.machine
        let undelivered = takeUndelivered(by: client, on: index)
        clients[client.rawValue] = .gone
        clients[session.client.rawValue] = .ended
        restorable[place].session.appEnded()
        for event in undelivered { hold(event, for: session.client) }
        guard restorableIndex(of: session.client) != nil else { return }
        stations[index].host.appEnded(session.client, at: now)
        stations[index].host.perform(.appPhaseChanged(to: .background), for: session.client, at: now)
        markDirty(index)
    }

    /// Removes and returns the events that a manager has not received yet.
    private mutating func takeUndelivered(by client: ClientID, on index: Int) -> [ClientEvent] {
        let undelivered = (deliveries + stations[index].held).filter { $0.client == client.rawValue }.map(\.event)
        deliveries.removeAll { $0.client == client.rawValue }
        stations[index].held.removeAll { $0.client == client.rawValue }
        return undelivered
    }

    /// Returns the index in ``restorable`` of the session that the host knows as `client`; `nil` if there is none.
    func restorableIndex(of client: ClientID) -> Int? { restorable.firstIndex { $0.client == client } }

    /// Drops the session of a manager whose app has ended.
    mutating func giveUp(_ client: ClientID) {
        guard let place = restorableIndex(of: client), !restorable[place].session.hasApp else { return }
        let index = restorable.remove(at: place).machine
        connections.removeAll { $0.client == client }
        clients[client.rawValue] = .gone
        stations[index].host.close(client, at: now)
        markDirty(index)
    }

    /// Processes an event for a manager whose app has ended: keeps it for the next launch, launches the app if the
    /// event requires it, or answers it in the app's place.
    mutating func hold(_ event: ClientEvent, for client: ClientID) {
        guard let place = restorableIndex(of: client) else { return }
        let index = restorable[place].machine
        stations[index].learnNames(event)
        switch restorable[place].session.receive(event, canLaunch: stations[index].launcher != nil) {
        case .hold(let launches): if launches { launch(index) }
        case .refuse(let answer): ask([answer], for: client, on: index)
        case .send(let requests): ask(requests, for: client, on: index)
        case .dropSession: giveUp(client)
        case .drop: break
        case .deliver, .deliverAll: preconditionFailure("an app that has ended receives no events")
        }
    }

    /// Passes requests to a host on behalf of a preserved session.
    private mutating func ask(_ requests: [ClientRequest], for client: ClientID, on index: Int) {
        for request in requests { stations[index].host.perform(request, for: client, at: now) }
        markDirty(index)
    }

    /// Refuses a central's request, because the app that would answer it is suspended.
    ///
    /// `client` is the identifier by which the host knows the app's session.
    mutating func refuse(_ event: ClientEvent, for client: ClientID, on index: Int) {
        guard let refusal = event.refusal else { return }
        stations[index].host.perform(refusal, for: client, at: now)
        markDirty(index)
    }

    /// Launches the apps of a machine if there is a launcher and they have not been launched since they ended.
    private mutating func launch(_ index: Int) {
        guard stations[index].launcher != nil, !stations[index].isLaunched else { return }
        stations[index].isLaunched = true
        launches.append(index)
    }

    /// Removes the due launches, and returns those of machines with at least one preserved session.
    mutating func takeLaunches() -> [WorldLaunch] {
        let machines = launches
        launches = []
        return machines.compactMap { index in
            func identifiers(_ role: ClientRole) -> [String] {
                restorable.filter { $0.machine == index && $0.role == role && !$0.session.hasApp }.map(\.identifier)
            }
            let launch = Machine.Launch(centrals: identifiers(.central), peripherals: identifiers(.peripheral))
            guard launch != Machine.Launch(), let launcher = stations[index].launcher else { return nil }
            return WorldLaunch(machine: index, launcher: launcher, launch: launch)
        }
    }

    /// Records an app's request if its manager has a restore identifier, so that the session can continue without the
    /// app.
    mutating func preserve(_ request: ClientRequest, for client: ClientID) {
        guard let place = restorableIndex(of: client) else { return }
        restorable[place].session.note(request)
    }

    /// Records an event that a manager is about to receive, if the manager has a restore identifier, so that the
    /// session can continue without the app.
    ///
    /// - Returns: The events to deliver to the manager now. When its app has been launched again, a manager receives
    ///   the state of the radio first; earlier events are held until then.
    mutating func preserve(_ event: ClientEvent, for client: Int) -> [ClientEvent] {
        if case .restored = event { return [event] }
        guard !restorable.isEmpty, case .app(let session) = clients[client],
            let place = restorableIndex(of: session.client)
        else { return [event] }
        switch restorable[place].session.receive(event, canLaunch: false) {
        case .deliver: return [event]
        case .deliverAll(let events, let requests):
            ask(requests, for: session.client, on: session.machine)
            return events
        case .hold: return []
        case .refuse, .send, .dropSession, .drop: preconditionFailure("a running app receives all events")
        }
    }
}
