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
        case .linkLoss(let duration): begin(.isolated, of: index, for: duration)
        case .bluetoothOff(let duration): begin(.switchedOff, of: index, for: duration)
        case .unplugged(let duration): begin(.unplugged, of: index, for: duration)
        case .controllerReset: reset(index)
        }
    }

    /// Has a machine suffer from something for a while, unless a test has done the same to it by hand.
    private mutating func begin(_ effect: RunningFaults.Effect, of index: Int, for duration: Duration) {
        let station = stations[index]
        guard station.runningFaults.have(effect) || !station.radio.hasSuffered(effect) else { return }
        let number = station.runningFaults.begin(effect)
        agenda.add(.endFault(machine: index, number), at: now + duration)
        switch effect {
        case .isolated: isolate(index)
        case .switchedOff: switchOff(index)
        case .unplugged: unplug(index)
        }
    }

    /// Ends a fault, and what it does if no other does the same.
    mutating func endFault(_ number: Int, of index: Int) {
        switch stations[index].runningFaults.end(number) {
        case .lift(.isolated): isolate(index)
        case .lift(.switchedOff): switchOn(index)
        case .lift(.unplugged): plugIn(index)
        case .leave: break
        }
    }

    /// Has nobody hear a machine that is isolated, or everybody who did before if it is so no longer.
    private mutating func isolate(_ index: Int) {
        for other in stations.indices where other != index { set(index, other, apart: areApart(index, other)) }
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

extension Station.Radio {
    /// Whether a radio is already what a fault would make of it.
    fileprivate func hasSuffered(_ effect: RunningFaults.Effect) -> Bool {
        switch (self, effect) {
        case (.switchedOff, .switchedOff), (.unplugged, .unplugged): true
        case (.present, _), (.resetting, _), (.switchedOff, _), (.unplugged, _): false
        }
    }
}
