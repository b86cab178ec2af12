import BLEWire

/// The queue of HCI commands, which obeys the controller's flow control and matches answers to the owners of commands.
///
/// Each answer says how many more commands the controller accepts. The controller answers every command once, with a
/// Command Complete or Command Status event that contains the opcode.
///
/// Core 6.0, Vol 4, Part E, 4.4.
struct CommandQueue {
    /// The maximum time that the controller may take to answer a command.
    static let timeout = Duration.seconds(2)

    /// The owner of a command, which receives the answer.
    enum Owner: Equatable {
        case setup
        case scanner
        case initiator
        /// An advertising set.
        case advertiser(AdvertisingHandle)
        /// The part of the host that maintains the private addresses and the resolving list.
        case privacy
        /// A link; if the command fails, the host only reports a note.
        case link(ConnectionHandle)
        /// A link on which the controller waits for this reply, and sends no further request of the kind before it.
        case reply(ConnectionHandle)
        /// A request about a link, with the request's number on that link.
        case linkRequest(ConnectionHandle, UInt32)
        /// The procedure that encrypts a link.
        case encryption(ConnectionHandle)
        /// The procedure that ends a link.
        case disconnection(ConnectionHandle)

        /// The link of the command, if it concerns one.
        var link: ConnectionHandle? {
            switch self {
            case .setup, .scanner, .initiator, .advertiser, .privacy: nil
            case .link(let link), .reply(let link), .linkRequest(let link, _), .encryption(let link),
                .disconnection(let link):
                link
            }
        }

        /// True for an owner that queues at most one command of a kind, and that would wait indefinitely if the command
        /// were dropped, or whose link would end.
        var isExemptFromLimit: Bool {
            switch self {
            case .setup, .scanner, .initiator, .advertiser, .privacy, .reply, .encryption, .disconnection: true
            case .link, .linkRequest: false
            }
        }
    }

    /// A command, encoded as an H4 packet.
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
    /// The time from which ``timeout`` counts for the queued commands.
    ///
    /// It is the time of the controller's last answer or, if later, the time at which a command was queued while none
    /// was queued or unanswered.
    private var waitStart = Instant()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Drops all commands and allows one new command, as after power-up.
    mutating func reset(at now: Instant) {
        waiting.removeAll()
        sent.removeAll()
        credits = 1
        waitStart = now
    }

    /// The time at which to call ``expired(at:)`` unless something happens first.
    var deadline: Instant? { sent.first?.due ?? (waiting.isEmpty ? nil : waitStart + Self.timeout) }

    /// Queues a command; returns `false` if too many are queued, unless the owner is exempt from the limit.
    mutating func submit(_ command: Command, for owner: Owner, at now: Instant) -> Bool {
        guard waiting.count < limit || owner.isExemptFromLimit else { return false }
        if waiting.isEmpty, sent.isEmpty { waitStart = now }
        waiting.append((command, owner))
        return true
    }

    /// Returns the next command to send; `nil` if there is none, or if the controller accepts no command now.
    mutating func next(at now: Instant) -> [UInt8]? {
        guard credits > 0, let (command, owner) = waiting.popFirst() else { return nil }
        credits -= 1
        sent.append(Sent(opcode: command.opcode, owner: owner, due: now + Self.timeout))
        return command.packet
    }

    /// Drops the queued commands of a link that is gone, because its handle may be reused.
    mutating func removeCommands(of link: ConnectionHandle) { waiting.removeAll { $0.owner.link == link } }

    enum OnAnswer: Equatable {
        case answered(Owner)
        /// The answer belongs to no command; it only changes the number of commands that the controller accepts.
        case credits
        case unexpected
    }

    /// Processes the controller's answer to the command with `opcode`.
    ///
    /// `allowed` is the number of further commands that the controller accepts.
    mutating func answered(_ opcode: HCI.Opcode, allowed: UInt8, at now: Instant) -> OnAnswer {
        credits = Int(allowed)
        waitStart = now
        guard opcode != .none else { return .credits }
        guard let index = sent.firstIndex(where: { $0.opcode == opcode }) else { return .unexpected }
        return .answered(sent.remove(at: index).owner)
    }

    /// Returns the opcode of a command that the controller has not answered or accepted in time; `nil` if there is
    /// none.
    func expired(at now: Instant) -> HCI.Opcode? {
        guard let deadline, deadline <= now else { return nil }
        return sent.first?.opcode ?? waiting.first?.command.opcode
    }
}
