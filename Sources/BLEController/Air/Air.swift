package import BLEWire

/// A simulated radio channel and the virtual controllers that share it.
///
/// Hosts pass HCI packets in with ``receive(_:from:at:)`` and get HCI packets from ``next()``. The caller advances the
/// air's clock with ``wake(at:)``. The same calls with the same seed always give the same outputs.
///
/// A packet reaches only devices that listen on its channel at that time: scanners and initiators, or the peer of a
/// connection.
///
/// The air models packets with their times, channels, strengths and losses, scan windows, anchor points,
/// acknowledgement and encryption. It does not model single bits, interference between overlapping packets, drifting
/// clocks, or conflicts between the activities of one radio: each activity of a controller runs as if it had a radio of
/// its own.
package struct Air: ~Copyable {
    /// The conditions that affect all packets.
    package struct Conditions: Hashable, Sendable {
        /// The probability that a packet is lost, from 0 to 1, in addition to losses due to distance.
        package var loss: Double

        package init(loss: Double = 0) { self.loss = loss }
    }

    /// An output of the air.
    package enum Output: Equatable, Sendable {
        /// An HCI packet for a controller's host, in H4 format: the packet indicator, then the packet.
        case hci([UInt8], to: ControllerID)
        case note(ControllerNote, ControllerID)
        case air(AirRecord)
    }

    /// The conditions that affect packets from now on.
    package var conditions: Conditions {
        didSet { path.loss = conditions.loss }
    }

    /// True if the air also outputs every packet as ``Output/air(_:)``.
    ///
    /// If it becomes true, each paused advertising set resumes at a random time within its interval.
    package var recordsAir: Bool {
        get { path.records != nil }
        set {
            path.records = newValue ? path.records ?? [] : nil
            if newValue { resumeAdvertising() }
        }
    }

    /// True if advertising pauses while no controller scans or initiates and packets are not recorded.
    ///
    /// Hosts cannot observe the pause, and in real time the computer need not wake up for the advertising. When a
    /// controller starts to listen, each set resumes at a random time within its interval. Sets that end after a time
    /// or a number of events do not pause. A pause changes all later random choices, so pausing is off by default, and
    /// simulations in virtual time leave it off.
    package private(set) var pausesUnheardAdvertising = false

    /// Sets ``pausesUnheardAdvertising`` to true.
    package mutating func pauseUnheardAdvertising() { pausesUnheardAdvertising = true }

    /// Pairs of controllers that do not receive each other, regardless of distance.
    package var partition: Set<ControllerPair> = [] {
        didSet { for index in links.indices { updateStrengths(ofLink: index) } }
    }

    var path: AirPath
    /// The source of each controller's own seed, so that random choices of one controller do not affect others.
    private var seeds: SeededGenerator
    var controllers: [VirtualController] = []
    var schedule = Schedule()
    var outbox = Outbox()
    /// The encoded reports of legacy advertisements, kept for reuse.
    var reportCache = AdvertisingReportCache()
    /// The connections, including ended ones.
    ///
    /// ``freeLinks`` contains the indices of the connections that have ended at both ends; new connections reuse these
    /// indices.
    var links: [Link] = []
    var freeLinks: [Int] = []
    /// The controllers that scan or initiate, in ascending order.
    var listeners = Listeners()
    /// The results of the current exchange so far.
    var deliveries: [LinkDelivery] = []
    /// The time that the air has reached; while an activity runs, no earlier than its due time.
    var now = Instant()

    /// Creates an air without controllers.
    package init(seed: UInt64, conditions: Conditions = .init()) {
        self.conditions = conditions
        path = AirPath(random: SeededGenerator(seed: seed), loss: conditions.loss)
        seeds = SeededGenerator(seed: ~seed)
    }

    /// Adds a controller in its state after power-on.
    package mutating func add(_ identity: ControllerIdentity) -> ControllerID {
        let id = ControllerID(rawValue: controllers.count)
        controllers.append(VirtualController(identity, random: SeededGenerator(seed: seeds.next())))
        return id
    }

    /// Removes a controller without disconnecting it first.
    ///
    /// The peers receive no more packets, so their supervision timeouts expire.
    package mutating func remove(_ id: ControllerID, at now: Instant) {
        guard isPresent(id) else { return }
        turnOff(id, at: now)
        controllers[id.rawValue].isPresent = false
    }

    /// Powers a controller off and on.
    ///
    /// Its state is reset, and its host gets no earlier output. It sends nothing more on its connections, so the
    /// peers' supervision timeouts expire.
    package mutating func powerCycle(_ id: ControllerID, at now: Instant) {
        guard isPresent(id) else { return }
        turnOff(id, at: now)
    }

    private mutating func turnOff(_ id: ControllerID, at now: Instant) {
        catchUp(to: now)
        resetController(id.rawValue)
        outbox.dropAll(for: id)
    }

    /// Moves a controller to another position.
    package mutating func move(_ id: ControllerID, to position: Position) {
        guard isPresent(id) else { return }
        controllers[id.rawValue].identity.position = position
        listeners.move(id.rawValue, to: position)
        for connection in controllers[id.rawValue].connections { updateStrengths(ofLink: connection.link) }
    }

    /// Returns whether there is a connection between two controllers.
    package func areConnected(_ one: ControllerID, _ other: ControllerID) -> Bool {
        controllers[one.rawValue].connections.contains { connection in
            Role.both.contains { links.span[connection.link].owner(of: $0).controller == other.rawValue }
        }
    }

    /// The faults that a test has set for a controller.
    package subscript(faults id: ControllerID) -> ControllerFaults {
        get { controllers[id.rawValue].faults }
        set { controllers[id.rawValue].faults = newValue }
    }

    /// The time at which the caller must call ``wake(at:)`` next; `nil` if nothing is scheduled.
    @inline(__always)
    package var deadline: Instant? {
        switch (schedule.first, outbox.deadline) {
        case (let a?, let b?): min(a, b)
        case (let a, let b): a ?? b
        }
    }

    /// Runs all activities that are due by `now`.
    package mutating func wake(at now: Instant) { catchUp(to: now) }

    /// Removes and returns the next output; `nil` if there is none.
    package mutating func next() -> Output? { outbox.next() }

    /// Returns whether a controller with this identifier exists and has not been removed.
    func isPresent(_ id: ControllerID) -> Bool {
        controllers.indices.contains(id.rawValue) && controllers[id.rawValue].isPresent
    }

    /// Resets a controller to its state after power-on, without reports to its host or its peers.
    mutating func resetController(_ controller: Int) {
        for connection in controllers[controller].connections { endSilently(connection.link, connection.role) }
        controllers[controller].reset()
        outbox.drop(for: ControllerID(rawValue: controller))
        refreshListening(controller)
    }
}
