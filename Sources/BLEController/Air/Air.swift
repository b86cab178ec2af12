package import BLEWire

/// The simulated radio channel and the virtual controllers that share it, with HCI packets in and out and one clock.
///
/// Everything is a function of the calls and the seed. A packet reaches only devices that listen where and when it is
/// sent: active scanners and initiators, or the peer of a connection.
///
/// Modelled: packets with their times, channels, strengths and losses, scan windows, anchor points, acknowledgement,
/// encryption. Not modelled: bits, interference between overlapping packets, drifting clocks, and conflicts between
/// activities of one radio; each activity of a controller runs as if it had its own radio.
package struct Air: ~Copyable {
    /// The conditions that affect all packets.
    package struct Conditions: Hashable, Sendable {
        /// The probability that a packet is lost, from 0 to 1, in addition to losses by distance.
        package var loss: Double

        package init(loss: Double = 0) { self.loss = loss }
    }

    /// An output of the air.
    package enum Output: Equatable, Sendable {
        /// An H4 packet, with its indicator, for a controller's host.
        case hci([UInt8], to: ControllerID)
        case note(ControllerNote, ControllerID)
        case air(AirRecord)
    }

    /// The conditions that affect packets from now on.
    package var conditions: Conditions {
        didSet { path.loss = conditions.loss }
    }

    /// True to output every packet on the air as ``Output/air(_:)``.
    package var recordsAir: Bool {
        get { path.records != nil }
        set { path.records = newValue ? path.records ?? [] : nil }
    }

    /// Pairs of controllers that do not receive each other, regardless of distance.
    package var partition: Set<ControllerPair> = [] {
        didSet { for index in links.indices { refreshReach(ofLink: index) } }
    }

    var path: AirPath
    /// The source of each controller's own seed, so that random choices of one controller do not affect others.
    private var seeds: SeededGenerator
    var controllers: [VirtualController] = []
    var schedule = Schedule()
    var outbox = Outbox()
    /// The encoded reports of legacy advertisements.
    var forms = ReportForms()
    /// Connections.
    ///
    /// The index of one that has ended is reused.
    var links: [Link] = []
    var freeLinks: [Int] = []
    /// The controllers that scan or initiate, in order.
    var listeners = Listeners()
    /// The results of the current exchange so far.
    var deliveries: [LinkDelivery] = []
    /// The latest time that was passed in.
    var now = Instant()

    /// Creates an empty air.
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

    /// Removes a controller.
    ///
    /// Its peers receive no more packets.
    package mutating func remove(_ id: ControllerID, at now: Instant) {
        guard isPresent(id) else { return }
        catchUp(to: now)
        silence(id.rawValue)
        controllers[id.rawValue].isPresent = false
    }

    /// Powers a controller off and on: its state is reset, and its connections fall silent.
    package mutating func powerCycle(_ id: ControllerID, at now: Instant) {
        guard isPresent(id) else { return }
        catchUp(to: now)
        silence(id.rawValue)
    }

    /// Moves a controller to another position.
    package mutating func move(_ id: ControllerID, to position: Position) {
        guard isPresent(id) else { return }
        controllers[id.rawValue].identity.position = position
        listeners.move(id.rawValue, to: position)
        for connection in controllers[id.rawValue].connections { refreshReach(ofLink: connection.link) }
    }

    /// The faults of a controller, set by a test.
    package subscript(faults id: ControllerID) -> ControllerFaults {
        get { controllers[id.rawValue].faults }
        set { controllers[id.rawValue].faults = newValue }
    }

    /// The time at which ``wake(at:)`` has something to do.
    @inline(__always)
    package var deadline: Instant? {
        switch (schedule.first, outbox.deadline) {
        case (let a?, let b?): min(a, b)
        case (let a, let b): a ?? b
        }
    }

    /// Runs all activities that are due by `now`.
    package mutating func wake(at now: Instant) { catchUp(to: now) }

    /// Returns the next output.
    package mutating func next() -> Output? { outbox.next() }

    /// Returns whether a controller exists.
    func isPresent(_ id: ControllerID) -> Bool {
        controllers.indices.contains(id.rawValue) && controllers[id.rawValue].isPresent
    }

    /// Resets a controller to its initial state without reporting it.
    mutating func silence(_ controller: Int) {
        for connection in controllers[controller].connections { leave(connection.link, connection.role) }
        controllers[controller].reset()
        outbox.drop(for: ControllerID(rawValue: controller))
        refreshListening(controller)
    }
}
