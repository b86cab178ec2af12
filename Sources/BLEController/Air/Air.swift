package import BLEWire

/// The space between controllers, and the controllers in it: HCI packets in and out, and one clock.
///
/// Everything is a function of the calls and the seed. A packet reaches only those who listen where and when it is
/// sent: the scanners and initiators that are on, or the other end of a connection.
///
/// What is modelled: packets with their times, channels, strengths and losses, scan windows, anchor points,
/// acknowledgement, encryption. What is not: bits, interference between packets that overlap, drifting clocks, and a
/// radio that cannot be in two places at once; each activity of a controller runs as if it had a radio of its own.
package struct Air: ~Copyable {
    /// What the air does to packets.
    package struct Conditions: Hashable, Sendable {
        /// The probability that a packet is lost, from 0 to 1, beyond what distance does.
        package var loss: Double

        package init(loss: Double = 0) { self.loss = loss }
    }

    /// What comes out of the air.
    package enum Output: Equatable, Sendable {
        /// An H4 packet, with its indicator, for the host of a controller.
        case hci([UInt8], to: ControllerID)
        case note(ControllerNote, ControllerID)
        case air(AirRecord)
    }

    /// What the air does to packets from now on.
    package var conditions: Conditions {
        didSet { path.loss = conditions.loss }
    }

    /// Whether every packet on the air is an ``Output/air(_:)`` too.
    package var recordsAir: Bool {
        get { path.records != nil }
        set { path.records = newValue ? path.records ?? [] : nil }
    }

    /// Pairs of controllers that do not hear each other, however near they are.
    package var partition: Set<ControllerPair> = [] {
        didSet { for index in links.indices { refreshReach(ofLink: index) } }
    }

    var path: AirPath
    /// Gives each controller numbers of its own, so that what one draws is felt by nobody else.
    private var seeds: SeededGenerator
    var controllers: [VirtualController] = []
    var schedule = Schedule()
    var outbox = Outbox()
    /// What scanners say of legacy advertisements.
    var forms = ReportForms()
    /// Connections; a place whose connection is over is used again.
    var links: [Link] = []
    var freeLinks: [Int] = []
    /// The controllers that scan or initiate, in order.
    var listeners: [Int] = []
    /// What the exchange under way has brought so far.
    var deliveries: [LinkDelivery] = []
    /// The latest instant that anyone has named.
    var now = Instant()

    /// Creates an empty air.
    package init(seed: UInt64, conditions: Conditions = .init()) {
        self.conditions = conditions
        path = AirPath(random: SeededGenerator(seed: seed), loss: conditions.loss)
        seeds = SeededGenerator(seed: ~seed)
    }

    /// Adds a controller, as if it had just been switched on.
    package mutating func add(_ identity: ControllerIdentity) -> ControllerID {
        let id = ControllerID(rawValue: controllers.count)
        controllers.append(VirtualController(identity, random: SeededGenerator(seed: seeds.next())))
        return id
    }

    /// Takes a controller away: it vanishes, and whoever was connected to it hears nothing more.
    package mutating func remove(_ id: ControllerID, at now: Instant) {
        guard isPresent(id) else { return }
        catchUp(to: now)
        silence(id.rawValue)
        controllers[id.rawValue].isPresent = false
    }

    /// Switches a controller off and on: it is as new, and its connections just go silent.
    package mutating func powerCycle(_ id: ControllerID, at now: Instant) {
        guard isPresent(id) else { return }
        catchUp(to: now)
        silence(id.rawValue)
    }

    /// Puts a controller somewhere else.
    package mutating func move(_ id: ControllerID, to position: Position) {
        guard isPresent(id) else { return }
        controllers[id.rawValue].identity.position = position
        for connection in controllers[id.rawValue].connections { refreshReach(ofLink: connection.link) }
    }

    /// The faults that a test has set on a controller.
    package subscript(faults id: ControllerID) -> ControllerFaults {
        get { controllers[id.rawValue].faults }
        set { controllers[id.rawValue].faults = newValue }
    }

    /// When ``wake(at:)`` has something to do.
    @inline(__always)
    package var deadline: Instant? {
        switch (schedule.first, outbox.deadline) {
        case (let a?, let b?): min(a, b)
        case (let a, let b): a ?? b
        }
    }

    /// Does what is due by `now`.
    package mutating func wake(at now: Instant) { catchUp(to: now) }

    /// Takes the next thing that is to be done.
    package mutating func next() -> Output? { outbox.next() }

    /// Whether `id` names a controller that is there.
    func isPresent(_ id: ControllerID) -> Bool {
        controllers.indices.contains(id.rawValue) && controllers[id.rawValue].isPresent
    }

    /// Brings a controller back to what it was when it was made, and says nothing to anyone about it.
    mutating func silence(_ controller: Int) {
        for connection in controllers[controller].connections { leave(connection.link, connection.role) }
        controllers[controller].reset()
        outbox.drop(for: ControllerID(rawValue: controller))
        refreshListening(controller)
    }
}
