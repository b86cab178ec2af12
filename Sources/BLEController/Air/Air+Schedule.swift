package import BLEWire

extension Air {
    /// True if data is on its way between hosts, or an output for a host is pending.
    ///
    /// Outputs about advertisements do not count, because one of them can be pending all the time.
    @inline(__always)
    package var hasDataInFlight: Bool {
        if outbox.hasDelayedData { return true }
        // The links are read in place, because copying a link would cost more than the packet.
        let links = links.span
        for index in links.indices where links[index].canExchange {
            if links[index][.central].canSendSomething || links[index][.peripheral].canSendSomething { return true }
        }
        return false
    }

    /// Runs the next activity without waiting until it is due, if ``hasDataInFlight`` is true.
    ///
    /// - Returns: The time at which the activity was due; `nil` if no activity was run.
    package mutating func runNext() -> Instant? {
        guard hasDataInFlight, let due = deadline else { return nil }
        catchUp(to: due)
        return due
    }

    /// Runs all activities that are due by `instant`, each at its own time.
    mutating func catchUp(to instant: Instant) {
        let target = max(instant, now)
        while let due = deadline, due <= target {
            now = max(now, due)
            outbox.release(by: now)
            while let entry = schedule.next(by: now) { run(entry) }
            flushRecords()
        }
        now = target
        flushRecords()
    }

    private mutating func run(_ entry: Schedule.Entry) {
        switch entry.activity {
        case .link(let index):
            guard links[index].token == entry.token else { return }
            runLink(index, at: entry.instant)
        case .advertise(let controller, let handle):
            let set = controllers.span[controller].setIndex(handle, scheduledAs: entry.token)
            guard let set else { return }
            runAdvertising(controller, set, at: entry.instant)
        case .scan(let controller):
            guard controllers[controller].scanEntry?.token == entry.token else { return }
            controllers[controller].scanEntry = nil
            runScan(controller, at: entry.instant)
        case .rotation(let controller):
            guard controllers[controller].rotation?.token == entry.token else { return }
            runRotation(controller, at: entry.instant)
        }
    }

    /// Moves the recorded packets to the outbox.
    mutating func flushRecords() {
        guard path.records != nil, let records = path.records, !records.isEmpty else { return }
        path.records = []
        for record in records { outbox.add(.air(record), at: now, now: now) }
    }

    /// Updates the set of listeners after a controller has started or stopped scanning or initiating.
    ///
    /// Also schedules the time at which the controller's scan ends, pauses or resumes.
    mutating func refreshListening(_ controller: Int) {
        if controllers[controller].isListening {
            if listeners.all.isEmpty { resumeAdvertising() }
            listeners.insert(controller, at: controllers[controller].identity.position)
        } else {
            listeners.remove(controller)
        }
        scheduleScan(controller)
    }

    /// Makes the schedule contain one entry for the deadline of a controller's scan, or none if it has no deadline.
    private mutating func scheduleScan(_ controller: Int) {
        let deadline = controllers[controller].scanner.deadline, entry = controllers[controller].scanEntry
        guard entry?.instant != deadline else { return }
        if let entry { schedule.remove(entry.token) }
        controllers[controller].scanEntry = deadline.map { instant in
            (instant, schedule.add(.scan(controller: controller), at: instant))
        }
    }

    /// Schedules the next advertising event of an enabled set.
    mutating func scheduleAdvertising(_ controller: Int, _ set: Int, at instant: Instant) {
        let handle = controllers[controller].sets[set].handle
        controllers[controller].sets[set].token = schedule.add(
            .advertise(controller: controller, set: handle),
            at: instant
        )
    }

    /// Returns the mean strength, in dBm, of the sender's packets at the receiver; `nil` if the receiver cannot receive
    /// them.
    ///
    /// `power` is the sender's transmit power, in dBm.
    func strength(from sender: Int, power: Int, to receiver: Int) -> Int? {
        if !partition.isEmpty,
            partition.contains(ControllerPair(ControllerID(rawValue: sender), ControllerID(rawValue: receiver)))
        {
            return nil
        }
        let distance = controllers[sender].identity.position.distance(to: controllers[receiver].identity.position)
        let strength = PathLoss.strength(power: power, distance: distance)
        return strength + PathLoss.noise < PathLoss.sensitivity ? nil : strength
    }

    /// Recalculates the signal strengths between the ends of a connection.
    mutating func updateStrengths(ofLink index: Int) {
        guard !links[index].isAbandoned else { return }
        let central = links[index][.central].controller, peripheral = links[index][.peripheral].controller
        let pair = ControllerPair(ControllerID(rawValue: central), ControllerID(rawValue: peripheral))
        let (a, b) = (controllers[central].identity, controllers[peripheral].identity)
        let distance = a.position.distance(to: b.position)
        links[index].isPartitioned = partition.contains(pair)
        links[index].strengths.down = PathLoss.strength(power: a.transmitPower, distance: distance)
        links[index].strengths.up = PathLoss.strength(power: b.transmitPower, distance: distance)
    }
}
