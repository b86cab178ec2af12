import ArgumentParser
import CoreBluetooth

struct ChatJoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "See which chat rooms there are, and join one."
    )

    @Argument(help: "The room's name; without it rooms are listed, and /join NUMBER joins one.")
    var room: String?
    @Option(help: "What the others call you.")
    var name = "Guest"
    @Flag(help: "Stay in the room when standard input has ended.")
    var stay = false
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await reportingTrouble {
            let console = Console<ChatGuest.Event>()
            let guest = ChatGuest(name: name) { console.add(.happened($0)) }
            console.open()
            var session = ChatSession(guest: guest, wanted: room, stays: stay, printer: printer)
            while try !session.receive(await console.next()) {}
        }
    }
}

/// One guest's evening: what to do about what is typed and what happens.
@MainActor
private struct ChatSession {
    let guest: ChatGuest
    let wanted: String?
    let stays: Bool
    let printer: Printer
    private var isJoining = false
    private var isListening = false
    private var isEnding = false

    init(guest: ChatGuest, wanted: String?, stays: Bool, printer: Printer) {
        self.guest = guest
        self.wanted = wanted
        self.stays = stays
        self.printer = printer
    }

    /// Takes an event; `true` if the evening is over.
    mutating func receive(_ event: ConsoleEvent<ChatGuest.Event>) throws -> Bool {
        switch event {
        case .happened(let event):
            printer.print(event.fact(of: guest.name))
            if try happened(event) { return true }
        case .line("/leave"), .line("/quit"):
            guard isListening else { return leave() }
            isEnding = true
        case .line(let line): obey(line)
        case .interrupted: return leave()
        case .ended: isEnding = !stays
        }
        guard isEnding, isListening, guest.isIdle else { return false }
        isEnding = false
        return leave()
    }

    /// Leaves the room; `true` if there is none to leave.
    private func leave() -> Bool {
        guest.leave()
        return !isJoining
    }

    private mutating func happened(_ event: ChatGuest.Event) throws -> Bool {
        switch event {
        case .ready:
            guest.setScanning(true)
            printer.remark(wanted.map { "Looking for \($0) …" } ?? "Looking for rooms; /help says what can be done.")
        case .discovered(let room):
            if !isJoining, room.name == wanted { join(room) }
        case .subscribed: isListening = true
        case .left(let room, let error):
            guard error == nil else { throw Trouble.disconnected(room.name, error) }
            return true
        case .failed(let trouble): throw trouble
        case .connected, .wrote, .received: break
        }
        return false
    }

    private mutating func join(_ room: ChatGuest.Room) {
        isJoining = true
        guest.join(room)
    }

    private mutating func obey(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "/help": printer.remark("/scan on|off, /rooms, /join NUMBER, /leave")
        case "/scan": guest.setScanning(words.last != "off")
        case "/rooms":
            for (number, room) in guest.rooms.enumerated() {
                printer.remark("\(number + 1)  \(room.name.printable)  \(room.rssi) dBm")
            }
        case "/join":
            guard words.count == 2, let number = Int(words[1]), guest.rooms.indices ~= number - 1 else {
                return printer.remark("/join takes the number of a room; /rooms lists them.")
            }
            join(guest.rooms[number - 1])
        default: guest.say(line)
        }
    }
}
