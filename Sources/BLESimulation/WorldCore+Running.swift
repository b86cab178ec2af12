import BLEController
import BLEHost
import BLERuntime
import BLEWire

extension WorldCore {
    /// Runs until there is something to pass to apps, or until `end`.
    ///
    /// - Returns: True if ``takeDeliveries()`` has deliveries, apps must be launched, or tasks or calls can continue.
    mutating func run(until end: Instant) -> Bool {
        processInbox()
        while deliveries.isEmpty && launches.isEmpty && !timers.hasReady {
            guard step(until: end) else {
                now = max(now, end)
                return false
            }
        }
        return true
    }

    /// The number of deliveries after which the world no longer waits for tasks outside of the apps' queues.
    ///
    /// Such tasks might make requests. If they have made none for this many deliveries, they probably make none at all.
    private static let deliveriesBeforeDirect = 16

    /// True if events can be delivered without waiting: no request has come from outside of the apps' queues for a
    /// while, all apps with events use the main queue, and no launches, tasks or calls are due.
    var mayDeliverDirectly: Bool {
        guard deliveriesSinceRequest >= Self.deliveriesBeforeDirect, launches.isEmpty, !timers.hasReady else {
            return false
        }
        return deliveries.allSatisfy { client, _ in
            if case .app(let session) = clients[client] { session.appQueue.isMain } else { true }
        }
    }

    /// Runs until there are events for apps, and returns the events if they can be delivered without waiting; otherwise
    /// `nil`.
    mutating func takeDirectDeliveries(until end: Instant) -> [WorldDelivery]? {
        run(until: end) && mayDeliverDirectly ? takeDeliveries() : nil
    }

    /// Removes and returns the events for apps at this instant: one entry for each manager, in the order in which the
    /// managers were created.
    mutating func takeDeliveries() -> [WorldDelivery] {
        deliveriesSinceRequest += 1
        var taken: [Int: Int] = [:]
        var result: [(client: Int, delivery: WorldDelivery)] = []
        let waiting = deliveries
        deliveries.removeAll(keepingCapacity: true)
        for (client, event) in waiting {
            for event in preserve(event, for: client) {
                note(event, for: client)
                if let index = taken[client] {
                    result[index].delivery.events.append(event)
                } else if case .app(let session) = clients[client] {
                    taken[client] = result.count
                    result.append((client, WorldDelivery(session: session, events: [event])))
                }
            }
        }
        return result.sorted { $0.client < $1.client }.map(\.delivery)
    }

    /// Records that an app is about to receive an event.
    private mutating func note(_ event: ClientEvent, for client: Int) {
        guard case .app(let session) = clients[client], event.callsDelegate else { return }
        story.add(.delivered(event, machine: session.machine, app: session.app, client: client), at: now)
        recorder?.add(event, to: client, on: stations[session.machine].name, at: now)
        if event.isDiscovery {
            if logsCalls { transcript.learn(event, of: client) }
        } else if logsCalls {
            logLine("app \(client) receives: \(transcript.line(event, to: client))", on: session.machine)
        }
        countStep(event.methodName, on: session.machine)
        countConnections(event, session)
        wakeApp(of: session)
    }

    /// Writes a line about an app's request or event to the capture and the log.
    func logLine(_ line: String, on machine: Int) {
        capture?.comment(line)
        log?.comment("\(logTime)\(stations[machine].name): \(line)")
    }

    /// Carries out the queued actions of apps and tests, and everything that follows from them at this instant.
    mutating func processInbox() {
        while !inbox.isEmpty {
            let actions = inbox
            inbox.removeAll(keepingCapacity: true)
            for action in actions {
                perform(action)
                settle()
            }
        }
        settle()
    }

    /// The next time at which something happens; `nil` if nothing is scheduled.
    var deadline: Instant? {
        var due = air.deadline
        due.bringForward(to: timers.deadline)
        due.bringForward(to: agenda.deadline)
        due.bringForward(to: stationDeadlines.first)
        due.bringForward(to: deviceDeadlines.first)
        return due
    }

    /// Moves on to the next deadline and carries out what is due; returns `false` if there is no deadline up to `end`.
    mutating func step(until end: Instant) -> Bool {
        guard let deadline, deadline <= end else { return false }
        now = max(now, deadline)
        air.wake(at: now)
        timers.wake(at: now)
        for action in agenda.takeDue(at: now) {
            perform(action)
            settle()
        }
        var due = stationDeadlines.next(from: 0, by: now)
        while let index = due {
            wake(index)
            due = stationDeadlines.next(from: index + 1, by: now)
        }
        due = deviceDeadlines.next(from: 0, by: now)
        while let index = due {
            for request in devices[index].wake(at: now) { perform(request, for: devices[index].client) }
            deviceDeadlines[index] = devices[index].deadline
            due = deviceDeadlines.next(from: index + 1, by: now)
        }
        settle()
        return true
    }

    /// Exchanges packets between hosts and controllers until none are left at this instant.
    mutating func settle() {
        while true {
            while let output = air.next() {
                switch output {
                case .hci(let bytes, let controller): deliver(bytes, from: controller)
                case .air(let record):
                    recorder?.add(record) { [owners, stations] in
                        (stations[owners[$0.rawValue]].name, stations[owners[$0.rawValue]].identity.position)
                    }
                case .note: break
                }
            }
            guard !dirty.isEmpty else { return }
            let stations = dirty
            dirty.removeAll(keepingCapacity: true)
            for index in stations { takeHostOutput(index) }
        }
    }

    private mutating func deliver(_ bytes: [UInt8], from controller: ControllerID) {
        let index = owners[controller.rawValue]
        guard stations[index].controller == controller else { return }
        record(bytes, index, .toHost)
        stations[index].host.receive(bytes.span, at: now)
        markDirty(index)
    }

    mutating func takeHostOutput(_ index: Int) {
        let station = stations[index]
        station.isDirty = false
        while let output = station.host.next() {
            switch output {
            case .packet(var bytes):
                guard let controller = station.controller else { continue }
                station.packetModifier?(&bytes)
                record(bytes, index, .toController)
                air.receive(bytes.span, from: controller, at: now)
            case .event(let event, let client): deliver(event, to: client)
            case .resetTransport: reset(index)
            case .remember(let record): _ = station.peers.remember(record)
            case .loadPeers, .note: break
            }
        }
        station.hostDeadline = station.host.deadline
        stationDeadlines[index] = station.deadline
    }

    private mutating func deliver(_ event: ClientEvent, to client: ClientID) {
        if case .security(let event) = event { noteDisplayedPasskey(event, to: client) }
        defer { if case .security = event { enterDisplayedPasskeys() } }
        switch clients[client.rawValue] {
        case .app(let session):
            deliver(takeInjectedFailure(replacing: event, for: session, client) ?? event, to: session, client)
        case .relaunched(let latest):
            guard case .app(let session) = clients[latest.rawValue] else { return }
            deliver(takeInjectedFailure(replacing: event, for: session, latest) ?? event, to: session, latest)
        case .ended: hold(event, for: client)
        case .device(let index):
            for request in devices[index].receive(event, at: now) { perform(request, for: client) }
            deviceDeadlines[index] = devices[index].deadline
        case .deviceAgent(let index):
            guard case .security = event else { return }
            for request in devices[index].receive(event, at: now) { perform(request, for: devices[index].client) }
        case .gone: break
        }
    }

    private mutating func record(_ bytes: [UInt8], _ index: Int, _ direction: PacketRecord.Direction) {
        trace.add(bytes.span, machine: index, direction, at: now)
        countPacket(bytes, index)
        let record = PacketRecord(machine: stations[index].name, direction: direction, time: now, bytes: bytes)
        story.add(record)
        recorder?.add(record)
        tap?(record)
        capture?.write(record)
        if log != nil {
            let time = logTime
            log?.record(record, time: time)
        }
    }

    /// The age of the world, for lines of the log.
    var logTime: String { "\((now - Instant()).inMilliseconds) " }
}

extension ClientEvent {
    /// True if the event reports a discovered device.
    ///
    /// Such events have no line in the capture and the log, because there are many, and the packets show them well
    /// enough.
    fileprivate var isDiscovery: Bool { if case .discovered = self { true } else { false } }
}
