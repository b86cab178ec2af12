import BLEController
import BLEHost
import BLERuntime
import BLEWire

// What goes wrong in a world as it was planned.
extension WorldCore {
    /// Has faults happen when their moments come; those of machines that are not there yet are theirs when they come.
    mutating func plan(_ faults: [World.Fault]) {
        for fault in faults {
            if case .time(let age) = fault.moment {
                agenda.add(.strike(fault.kind, machine: fault.machine), at: max(now, Instant() + age))
            } else {
                faultPlan.add(fault)
            }
        }
    }

    /// Counts a packet between a host and its controller.
    mutating func countPacket(_ bytes: [UInt8], _ index: Int) {
        guard bytes.first == HCI.PacketType.acl.wire else { return }
        for fault in faultPlan.packetPassed(index, stations[index].name) {
            agenda.add(.strike(fault.kind, machine: fault.machine), at: now)
        }
    }

    /// Counts what an app asks for or hears.
    mutating func countStep(_ name: String, on index: Int) {
        for fault in faultPlan.stepTaken(name, index, stations[index].name) {
            agenda.add(.strike(fault.kind, machine: fault.machine), at: now)
        }
    }

    /// Has something go wrong now.
    mutating func strike(_ kind: World.Fault.Kind, _ machine: String) {
        guard let index = stations.firstIndex(where: { $0.name == machine }) else { return }
        story.add(.remark("\(kind)", machine: index), at: now)
        switch kind {
        case .linkLoss(let duration):
            isolate(index, true)
            agenda.add(.isolate(machine: index, false), at: now + duration)
        case .bluetoothOff(let duration):
            perform(.setBluetooth(machine: index, isOn: false))
            agenda.add(.setBluetooth(machine: index, isOn: true), at: now + duration)
        case .unplugged(let duration):
            perform(.setRadio(machine: index, isOn: false))
            agenda.add(.setRadio(machine: index, isOn: true), at: now + duration)
        case .controllerReset: reset(index)
        }
    }

    /// Has nobody hear a machine, or everybody who did before.
    mutating func isolate(_ index: Int, _ isIsolated: Bool) {
        for other in stations.indices where other != index {
            let isSeparate = apart.contains { $0 == (index, other) || $0 == (other, index) }
            if !isSeparate { set(index, other, apart: isIsolated) }
        }
    }

    /// Has a machine walk somewhere in a straight line.
    mutating func walk(_ index: Int, to end: World.Position, taking duration: Duration) {
        let start = stations[index].identity.position
        let steps = max(1, Int(min(duration / .milliseconds(100), 864_000)))
        for step in 1...steps {
            let share = Double(step) / Double(steps)
            let position = World.Position(
                x: start.x + (end.x - start.x) * share,
                y: start.y + (end.y - start.y) * share,
                z: start.z + (end.z - start.z) * share
            )
            agenda.add(.move(machine: index, position), at: now + duration * share)
        }
    }

    /// Whether a connection that an app is about to hear of comes to nothing instead.
    mutating func failsInstead(_ event: ClientEvent, for client: ClientID, on index: Int) -> ClientEvent? {
        guard case .connected(let peer, _) = event, stations[index].faults.failedConnections > 0 else { return nil }
        stations[index].faults.failedConnections -= 1
        perform(.cancelConnection(peer), for: client)
        return .connectFailed(peer, .hci(.connectionFailedToBeEstablished))
    }
}
