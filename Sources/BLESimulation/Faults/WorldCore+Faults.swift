import BLEController
import BLEHost
import BLERuntime
import BLEWire

// Planned faults of the machines in a world.
extension WorldCore {
    /// Plans faults.
    ///
    /// They may name machines that do not exist yet. A fault planned for a packet or a step waits for its machine, but
    /// a fault planned for a time is dropped if its machine does not exist by then.
    mutating func plan(_ faults: [World.Fault]) {
        for fault in faults {
            if case .time(let age) = fault.moment {
                agenda.add(.startFault(fault.kind, machine: fault.machine), at: max(now, Instant() + age))
            } else {
                faultPlan.add(fault)
            }
        }
    }

    /// Counts a packet between a host and its controller, if it is a data packet, and schedules the faults planned for
    /// it.
    mutating func countPacket(_ bytes: [UInt8], _ index: Int) {
        guard bytes.first == HCI.PacketType.acl.wire else { return }
        for fault in faultPlan.packetPassed(index, stations[index].name) {
            agenda.add(.startFault(fault.kind, machine: fault.machine), at: now)
        }
    }

    /// Counts a step of an app, and schedules the faults planned for it.
    mutating func countStep(_ name: String, on index: Int) {
        for fault in faultPlan.stepTaken(name, index, stations[index].name) {
            agenda.add(.startFault(fault.kind, machine: fault.machine), at: now)
        }
    }

    /// Starts a fault now.
    ///
    /// Has no effect if there is no machine with this name.
    mutating func startFault(_ kind: World.Fault.Kind, _ machine: String) {
        guard let index = directory.index(of: machine) else { return }
        story.add(.remark("\(kind)", machine: index), at: now)
        switch kind {
        case .linkLoss(let duration): begin(.isolated, of: index, for: duration)
        case .bluetoothOff(let duration): begin(.switchedOff, of: index, for: duration)
        case .unplugged(let duration): begin(.unplugged, of: index, for: duration)
        case .controllerReset: reset(index)
        }
    }

    /// Starts the effect of a fault, unless a test has already caused the same effect itself.
    private mutating func begin(_ effect: RunningFaults.Effect, of index: Int, for duration: Duration) {
        let station = stations[index]
        guard station.runningFaults.contains(effect) || !station.isAffected(by: effect) else { return }
        let number = station.runningFaults.begin(effect)
        agenda.add(.endFault(machine: index, number), at: now + duration)
        switch effect {
        case .isolated: isolate(index)
        case .switchedOff: switchOff(index)
        case .unplugged: unplug(index)
        }
    }

    /// Ends a fault, and also its effect unless another fault has the same effect.
    mutating func endFault(_ number: Int, of index: Int) {
        switch stations[index].runningFaults.end(number) {
        case .lift(.isolated): isolate(index)
        case .lift(.switchedOff): switchOn(index)
        case .lift(.unplugged): plugIn(index)
        case .nothing: break
        }
    }

    /// Isolates a machine from all others, or ends its isolation, depending on its running faults.
    private mutating func isolate(_ index: Int) {
        hasIsolated = true
        for other in stations.indices where other != index { set(index, other, separated: areSeparated(index, other)) }
    }

    /// Starts a movement of a machine in a straight line.
    mutating func walk(_ index: Int, to end: World.Position, taking duration: Duration) {
        let position = stations[index].identity.position
        let start = World.Position(x: position.x, y: position.y, z: position.z)
        stations[index].movements += 1
        let walk = Walk(number: stations[index].movements, from: start, to: end, taking: duration, at: now)
        scheduleStep(of: walk, index)
    }

    /// Carries out the due step of a walk, unless another movement of the machine has begun since.
    mutating func takeStep(of walk: Walk, _ index: Int) {
        guard walk.number == stations[index].movements else { return }
        var walk = walk
        move(index, to: Position(walk.takeStep()))
        scheduleStep(of: walk, index)
    }

    private mutating func scheduleStep(of walk: Walk, _ index: Int) {
        if let deadline = walk.deadline { agenda.add(.step(machine: index, walk), at: deadline) }
    }

    /// Returns the failure that an app receives in place of a new connection, and cancels the connection on behalf of
    /// the app.
    ///
    /// Returns `nil` if `event` does not report a new connection, or if no connection is to fail. `client` is the
    /// client of the app's current launch.
    mutating func takeInjectedFailure(
        replacing event: ClientEvent,
        for session: WorldSession,
        _ client: ClientID
    ) -> ClientEvent? {
        let index = session.machine
        guard case .connected(let peer, _) = event, stations[index].faults.failedConnections > 0 else { return nil }
        stations[index].faults.failedConnections -= 1
        // The app has not called `cancelPeripheralConnection`, so the story and the count of steps must not contain a
        // call.
        let cancellation = ClientRequest.cancelConnection(peer)
        recordRequestedAlerts(cancellation, for: client, on: index)
        preserve(cancellation, for: session.client)
        stations[index].host.perform(cancellation, for: session.client, at: now)
        markDirty(index)
        return .connectFailed(peer, .hci(.connectionFailedToBeEstablished))
    }
}

extension MachineState {
    /// Returns whether a test has caused the effect of a fault, if no fault with this effect is running.
    fileprivate func isAffected(by effect: RunningFaults.Effect) -> Bool {
        switch effect {
        case .isolated: false
        case .switchedOff: isSwitchedOff
        case .unplugged: if case .unplugged = radio { true } else { false }
        }
    }
}
