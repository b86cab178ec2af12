import BLEHost
import BLEWire

// How apps end, and are launched again.
extension WorldCore {
    /// Opens a session, or goes on with the one that an earlier launch of the app left.
    mutating func open(_ session: WorldSession, restoring identifier: String) -> ClientID {
        let index = session.machine
        let place = restorable.firstIndex {
            $0.machine == index && $0.app == session.app && $0.role == session.role && $0.identifier == identifier
        }
        guard let place else {
            restorable.append(
                RestorableSession(
                    client: nextClient,
                    machine: index,
                    app: session.app,
                    role: session.role,
                    identifier: identifier,
                    state: PreservedState(session.role)
                )
            )
            return open(session)
        }
        // The identifier of a manager that is there names that one alone.
        guard let held = restorable[place].held else { return open(session) }
        let heir = nextClient
        var session = session
        session.client = restorable[place].client
        clients.append(.app(session))
        clients[session.client.rawValue] = .relaunched(heir)
        restorable[place].held = nil
        if !restorable[place].state.isEmpty {
            let restored = ClientEvent.restored(restorable[place].state)
            stations[index].wishes[heir.rawValue, default: AlertWishes()].note(restored)
            deliveries.append((heir.rawValue, restored))
        }
        stations[index].host.appReturned(session.client, at: now)
        drain(index)
        tellPhase(to: heir)
        for event in held { tell(session, heir, event) }
        return heir
    }

    /// Ends a manager.
    mutating func close(_ client: ClientID) {
        guard case .app(let session) = clients[client.rawValue] else { return }
        let index = session.machine
        restorable.removeAll { $0.client == session.client }
        clients[session.client.rawValue] = .gone
        clients[client.rawValue] = .gone
        _ = takeUnheard(by: client, on: index)
        stations[index].host.close(session.client, at: now)
        markDirty(index)
    }

    /// Ends all apps of a machine: their managers hear nothing more.
    mutating func endApps(of index: Int, _ end: Machine.AppEnd) {
        hear()
        for client in clients.indices {
            guard case .app(let session) = clients[client], session.machine == index else { continue }
            let isPreserved = end != .quitByUser && stations[index].phase(of: session.role) != .suspended
            if isPreserved {
                leave(ClientID(rawValue: client), session)
            } else {
                close(ClientID(rawValue: client))
            }
        }
        if end == .quitByUser { for session in restorable where session.machine == index { giveUp(session.client) } }
        stations[index].isLaunched = false
        drain(index)
    }

    /// Ends a manager whose session goes on, if it has an identifier.
    private mutating func leave(_ client: ClientID, _ session: WorldSession) {
        guard let place = preservedPlace(of: session.client) else { return close(client) }
        let index = session.machine
        let unheard = takeUnheard(by: client, on: index)
        clients[client.rawValue] = .gone
        clients[session.client.rawValue] = .ended
        restorable[place].held = unheard.filter { restorable[place].state.concerns($0) }
        stations[index].host.appEnded(session.client, at: now)
        stations[index].host.perform(.appMoved(to: .background), for: session.client, at: now)
        markDirty(index)
    }

    /// Takes back what an app was about to hear.
    private mutating func takeUnheard(by client: ClientID, on index: Int) -> [ClientEvent] {
        let unheard = (deliveries + stations[index].held).filter { $0.client == client.rawValue }.map(\.event)
        deliveries.removeAll { $0.client == client.rawValue }
        stations[index].held.removeAll { $0.client == client.rawValue }
        return unheard
    }

    /// Where the session is kept that a host knows as `client`, if it can go on without its app.
    func preservedPlace(of client: ClientID) -> Int? { restorable.firstIndex { $0.client == client } }

    /// Gives up a session whose app has ended.
    mutating func giveUp(_ client: ClientID) {
        guard let place = preservedPlace(of: client), restorable[place].held != nil else { return }
        let index = restorable.remove(at: place).machine
        clients[client.rawValue] = .gone
        stations[index].host.close(client, at: now)
        markDirty(index)
    }

    /// Keeps what the next launch of an app is to hear, and has the app launched for it.
    mutating func hold(_ event: ClientEvent, for client: ClientID) {
        guard let place = preservedPlace(of: client), restorable[place].state.concerns(event) else { return }
        let index = restorable[place].machine
        guard stations[index].launcher != nil || !event.needsApp else { return refuse(event, for: client, on: index) }
        restorable[place].held?.append(event)
        guard restorable[place].held?.count ?? 0 <= RestorableSession.mostHeld else { return giveUp(client) }
        if event.launchesApps { launch(index) }
    }

    /// Answers a central that waits for an app which is not at work; `client` is whom the host takes the app for.
    mutating func refuse(_ event: ClientEvent, for client: ClientID, on index: Int) {
        guard let refusal = event.refusal else { return }
        stations[index].host.perform(refusal, for: client, at: now)
        markDirty(index)
    }

    /// Has the apps of a machine launched, once, if somebody does that.
    private mutating func launch(_ index: Int) {
        guard stations[index].launcher != nil, !stations[index].isLaunched else { return }
        stations[index].isLaunched = true
        launches.append(index)
    }

    /// Hands out the launches that are due, but for those of apps of which nothing is left by now.
    mutating func takeLaunches() -> [WorldLaunch] {
        let machines = launches
        launches = []
        return machines.compactMap { index in
            func identifiers(_ role: ClientRole) -> [String] {
                restorable.filter { $0.machine == index && $0.role == role && $0.held != nil }.map(\.identifier)
            }
            let launch = Machine.Launch(centrals: identifiers(.central), peripherals: identifiers(.peripheral))
            guard launch != Machine.Launch(), let launcher = stations[index].launcher else { return nil }
            return WorldLaunch(machine: index, launcher: launcher, launch: launch)
        }
    }

    /// Notes what an app asks for, if its session can go on without it.
    mutating func preserve(_ request: ClientRequest, for client: ClientID) {
        guard let place = preservedPlace(of: client) else { return }
        restorable[place].state.note(request)
    }

    /// Notes what an app is about to hear, if its session can go on without it.
    mutating func preserve(_ event: ClientEvent, for client: Int) {
        guard !restorable.isEmpty, case .app(let session) = clients[client],
            let place = preservedPlace(of: session.client)
        else { return }
        restorable[place].state.note(event)
    }
}
