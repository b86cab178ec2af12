import BLEWire

/// Sends commands to the controller no faster than it takes them, and says whose command an answer belongs to.
///
/// The controller says in each answer how many more commands it takes. Every command is answered once, by Command
/// Complete or by Command Status; answers are told apart by the opcode alone.
///
/// Core 6.0, Vol 4, Part E, 4.4.
struct CommandQueue {
    /// How long a controller may take to answer.
    static let timeout = Duration.seconds(2)

    /// Who waits for an answer.
    enum Owner: Equatable {
        case setup
        case scanner
        case initiator
        /// One of the advertising sets.
        case advertiser(AdvertisingHandle)
        /// The private addresses of this host, and of its friends.
        case privacy
        /// The link itself; its failure is only noted.
        case link(ConnectionHandle)
        /// What was asked about the link, by its number there.
        case errand(ConnectionHandle, UInt32)
        /// The link is to be encrypted.
        case encryption(ConnectionHandle)
        /// The end of the link was asked for.
        case disconnection(ConnectionHandle)

        /// The link that the command is about, if it is about one.
        var link: ConnectionHandle? {
            switch self {
            case .setup, .scanner, .initiator, .advertiser, .privacy: nil
            case .link(let link), .errand(let link, _), .encryption(let link), .disconnection(let link): link
            }
        }

        /// Whether it has one command in the queue at most, without which a machine or a link would wait for ever.
        var isPatient: Bool {
            switch self {
            case .setup, .scanner, .initiator, .advertiser, .privacy, .encryption, .disconnection: true
            case .link, .errand: false
            }
        }
    }

    /// A command, encoded as a whole H4 packet.
    struct Command: Equatable {
        let opcode: HCI.Opcode
        let packet: [UInt8]
    }

    private struct Sent {
        let opcode: HCI.Opcode
        let owner: Owner
        let due: Instant
    }

    private var waiting = Fifo<(command: Command, owner: Owner)>()
    private var sent: [Sent] = []
    private var credits = 1
    /// When the controller last took or answered anything.
    private var lastTurn = Instant()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Starts anew, with nothing under way and one command allowed, as after power-up.
    mutating func reset(at now: Instant) {
        waiting.removeAll()
        sent.removeAll()
        credits = 1
        lastTurn = now
    }

    /// When to call ``expired(at:)``, if nothing happens before.
    var deadline: Instant? { sent.first?.due ?? (waiting.isEmpty ? nil : lastTurn + Self.timeout) }

    /// Takes a command; `false` if too many wait already, and the owner can do without it.
    mutating func submit(_ command: Command, for owner: Owner, at now: Instant) -> Bool {
        guard waiting.count < limit || owner.isPatient else { return false }
        if waiting.isEmpty, sent.isEmpty { lastTurn = now }
        waiting.append((command, owner))
        return true
    }

    /// Returns the command that may be sent now.
    mutating func next(at now: Instant) -> [UInt8]? {
        guard credits > 0, let (command, owner) = waiting.popFirst() else { return nil }
        credits -= 1
        sent.append(Sent(opcode: command.opcode, owner: owner, due: now + Self.timeout))
        return command.packet
    }

    /// Forgets what waits to be sent about a link that is gone: its handle may be that of another soon.
    mutating func forget(_ link: ConnectionHandle) { waiting.removeAll { $0.owner.link == link } }

    enum OnAnswer: Equatable {
        case answered(Owner)
        /// It only says how many commands are allowed.
        case credits
        case unexpected
    }

    /// The controller has answered the command with `opcode`, and takes as many commands from now on.
    mutating func answered(_ opcode: HCI.Opcode, allowed: UInt8, at now: Instant) -> OnAnswer {
        credits = Int(allowed)
        lastTurn = now
        guard opcode != .none else { return .credits }
        guard let index = sent.firstIndex(where: { $0.opcode == opcode }) else { return .unexpected }
        return .answered(sent.remove(at: index).owner)
    }

    /// The command whose answer is overdue, or that the controller does not even take; `nil` if there is none.
    func expired(at now: Instant) -> HCI.Opcode? {
        guard let deadline, deadline <= now else { return nil }
        return sent.first?.opcode ?? waiting.first?.command.opcode
    }
}
