import ArgumentParser
import BLERuntime
import CoreBluetooth

struct ChatJoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "List chat rooms and join one.",
        discussion: """
            At the end of standard input, the remaining messages are sent and the room is left, unless --stay is \
            given. If no room was named or joined, the command ends. If the named room is not found, or accepts no \
            more guests, within --timeout after the end of standard input, the exit status is 75.

            Fails if there is no radio within 10 s of the start. If the radio is lost during the search for rooms, the \
            search resumes when it is back; if it is lost in a room, the exit status is 69.

            Example:
              ble chat join Lobby --name Alice
            """
    )

    @Argument(help: "The room's name (default: list rooms; /join NUMBER joins one).")
    var room: String?
    @Option(help: "Your name in the room.")
    var name = "Guest"
    @Flag(help: "Stay in the room after the end of standard input.")
    var stay = false
    @Option(
        help: ArgumentHelp(
            "Time limit for joining and sending, from the end of the input (default: 10).",
            valueName: "seconds"
        ),
        transform: Bounds.seconds(from: 0.001).duration
    )
    var timeout = Duration.seconds(10)
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let console = Console<ChatGuest.Event>()
            let guest = ChatGuest(name: name) { console.add(.happened($0)) }
            console.open()
            let start = RadioWatch.timer { guest.giveUpOnRadio() }
            defer { start.cancel() }
            var session = ChatSession(guest: guest, wanted: room, stays: stay, timeout: timeout, printer: printer)
            while true {
                let event = await console.next()
                switch event {
                case .ended where !stay: console.expectEnd(within: timeout)
                case .interrupted: console.expectEnd(within: .seconds(2))
                default: break
                }
                if try session.receive(event) { break }
            }
        }
    }
}

/// A chat guest's session: it responds to the user's input and to the guest's events.
@MainActor
struct ChatSession {
    private enum Stage {
        case outside
        case entering
        case inside
        case leaving
    }

    private let guest: ChatGuest
    private let wanted: String?
    private let stays: Bool
    private let timeout: Duration
    private let printer: Printer
    private var stage = Stage.outside
    /// True if the session ends as soon as the room has received all of the guest's messages.
    private var isEnding = false

    init(guest: ChatGuest, wanted: String?, stays: Bool, timeout: Duration, printer: Printer) {
        self.guest = guest
        self.wanted = wanted
        self.stays = stays
        self.timeout = timeout
        self.printer = printer
    }

    /// Processes an event or a line of input; returns true if the session has ended.
    mutating func receive(_ event: ConsoleEvent<ChatGuest.Event>) throws -> Bool {
        switch event {
        case .happened(.radioChanged(let change)):
            printer.announce(change)
            return try radioChanged(change)
        case .happened(let event):
            printer.print(event.fact(of: guest.name, in: guest.joined))
            if try happened(event) { return true }
        case .line("/leave"), .line("/quit"):
            guard stage == .inside else { return leave() }
            isEnding = true
        case .line(let line): execute(line)
        case .interrupted: return leave()
        case .ended: isEnding = !stays
        case .overdue: return try giveUp()
        }
        guard isEnding else { return false }
        switch stage {
        case .outside: return wanted == nil
        case .inside where guest.isIdle: return leave()
        case .inside, .entering, .leaving: return false
        }
    }

    /// Leaves the room; returns true if the guest is in no room, or is already leaving.
    private mutating func leave() -> Bool {
        guard stage == .entering || stage == .inside else { return true }
        stage = .leaving
        guest.leave()
        return false
    }

    /// Ends a session whose time is up.
    ///
    /// Throws an error if the guest was still looking for a room, joining it or sending messages; otherwise returns
    /// true.
    private func giveUp() throws -> Bool {
        switch stage {
        case .outside:
            if let wanted { throw CommandError.noRoom(wanted, within: timeout, seen: guest.rooms.map(\.name)) }
        case .entering: throw CommandError.noAnswer(to: "Joining the room", within: timeout)
        case .inside: throw CommandError.noAnswer(to: "Sending all messages", within: timeout)
        case .leaving: break
        }
        return true
    }

    private func radioChanged(_ change: RadioChange) throws -> Bool {
        switch (change, stage) {
        case (.returned, _), (.lost, .outside): false
        case (.lost, .leaving): true
        case (.lost, .entering), (.lost, .inside): throw CommandError.radioLost
        }
    }

    private mutating func happened(_ event: ChatGuest.Event) throws -> Bool {
        switch event {
        case .ready:
            guest.setScanning(true)
            printer.remark(wanted.map { "Looking for \($0) …" } ?? "Looking for rooms; /help lists commands.")
        case .discovered(let room):
            if stage == .outside, room.name == wanted { join(room) }
        case .subscribed: if stage == .entering { stage = .inside }
        case .left(let room, let error):
            guard error == nil else { throw CommandError.disconnected(room.name, error) }
            return true
        case .failed(let trouble): throw trouble
        case .connected, .wrote, .received, .radioChanged: break
        }
        return false
    }

    private mutating func join(_ room: ChatGuest.Room) {
        stage = .entering
        guest.join(room)
    }

    private mutating func execute(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "/help":
            printer.remark(
                """
                /scan on, /scan off: start or stop the search; /rooms: list rooms; /join NUMBER: join; /leave, \
                /quit: leave the room and exit
                """
            )
        case "/scan": guest.setScanning(words.last != "off")
        case "/rooms":
            for (number, room) in guest.rooms.enumerated() {
                printer.remark("\(number + 1)  \(room.name.printable)  \(room.rssi) dBm")
            }
        case "/join":
            guard let number = words.last.flatMap(Int.init), 1..<(guest.rooms.count + 1) ~= number else {
                return printer.remark("/join needs the number of a room; /rooms lists them.")
            }
            join(guest.rooms[number - 1])
        case let word? where word.hasPrefix("/"): printer.remark(Chat.unknown(line))
        default:
            guard stage != .outside || wanted != nil else {
                return printer.remark("Nothing was sent. Join a room first, with /join NUMBER.")
            }
            guest.say(line)
        }
    }
}
