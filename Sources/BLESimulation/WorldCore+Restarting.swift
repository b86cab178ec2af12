import BLEController
import BLEHost
import BLEWire

// Restarting a machine.
extension WorldCore {
    /// The time that a machine takes to start.
    static let bootTime = Duration.seconds(20)

    /// Restarts a machine: its apps end, and its host loses everything that was not stored.
    mutating func restart(_ index: Int) {
        endApps(of: index, .terminatedBySystem)
        let station = stations[index]
        launches.removeAll { $0 == index }
        station.isLaunched = false
        station.restarts += 1
        station.displayedPasskeys = []
        for place in devices.indices where devices[place].station == index { devices[place].passkeyDisplay = nil }
        var configuration = station.configuration
        configuration.knownPeers = station.peers.all
        let random = SeededGenerator(seed: seed ^ Self.digest("\(station.name) \(station.restarts)"))
        station.host = Host(configuration: configuration, random: random)
        for place in restorable.indices where restorable[place].machine == index {
            restorable[place].session = KeptSession(continuing: restorable[place].session.state)
            station.host.open(restorable[place].client, role: restorable[place].role, at: now)
            station.host.perform(.appPhaseChanged(to: .background), for: restorable[place].client, at: now)
        }
        for device in devices where device.station == index {
            station.host.open(device.client, role: .peripheral, at: now)
            guard let agent = device.agent else { continue }
            station.host.open(agent, role: .agent, at: now)
            station.host.perform(device.agentRequest, for: agent, at: now)
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
}
