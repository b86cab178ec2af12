import BLEController
import BLEHost
import BLEWire

// What becomes of a machine when it is started anew.
extension WorldCore {
    /// How long a machine takes to start.
    static let bootTime = Duration.seconds(20)

    /// Starts a machine anew: its apps end, and its host forgets all but what it has stored.
    mutating func restart(_ index: Int) {
        endApps(of: index, .terminatedBySystem)
        let station = stations[index]
        station.restarts += 1
        var configuration = station.configuration
        configuration.knownPeers = station.peers.all
        let random = SeededGenerator(seed: seed ^ Self.digest("\(station.name) \(station.restarts)"))
        station.host = Host(configuration: configuration, random: random)
        for place in restorable.indices where restorable[place].machine == index {
            restorable[place].state.machineRestarted()
            restorable[place].held = []
            restorable[place].awaitsRadio = true
            station.host.open(restorable[place].client, role: restorable[place].role, at: now)
            station.host.perform(.appMoved(to: .background), for: restorable[place].client, at: now)
        }
        for device in devices where device.station == index {
            station.host.open(device.client, role: .peripheral, at: now)
            guard let agent = device.agent else { continue }
            station.host.open(agent, role: .agent, at: now)
            station.host.perform(device.attendance, for: agent, at: now)
        }
        switch station.radio {
        case .present(let controller), .resetting(let controller, _):
            air.powerCycle(controller, at: now)
            station.radio = .resetting(controller, until: now + Self.bootTime)
        case .switchedOff: station.host.transportSwitchedOff(at: now)
        case .unplugged: station.host.transportAbsent(at: now)
        }
        markDirty(index)
    }

    /// The host has told a client that the radio can or cannot be used.
    ///
    /// A host that was started anew is asked again for what a preserved session asked for. When the user switches
    /// Bluetooth off while an app is not there, nothing is left for its next launch.
    mutating func radioChanged(_ state: HostState, for client: ClientID) {
        guard let place = preservedPlace(of: client) else { return }
        let session = restorable[place]
        restorable[place].awaitsRadio = false
        if state == .poweredOn {
            guard session.awaitsRadio else { return }
            for request in session.state.requests {
                stations[session.machine].host.perform(request, for: client, at: now)
            }
            markDirty(session.machine)
        } else if session.held != nil {
            giveUp(client)
        }
    }
}
