/// What a conversation in a terminal waits for.
enum ConsoleEvent<Happening> {
    case happened(Happening)
    /// A line was typed or piped in.
    case line(String)
    /// Standard input has ended.
    case ended
    /// A person asked the process to end.
    case interrupted
    /// What had to be done before the end has taken too long.
    case overdue
}

/// What happens, in the order in which it does, for one who waits for it.
@MainActor
final class EventQueue<Event> {
    private var events: [Event] = []
    private var waiting: CheckedContinuation<Void, Never>?

    func add(_ event: Event) {
        events.append(event)
        waiting?.resume()
        waiting = nil
    }

    /// The next event, however long it takes.
    func next() async -> Event {
        while events.isEmpty { await withCheckedContinuation { waiting = $0 } }
        return events.removeFirst()
    }
}

/// One queue for what happens, what is typed and Ctrl-C, in the order in which they come.
@MainActor
final class Console<Happening> {
    private let events = EventQueue<ConsoleEvent<Happening>>()

    /// Starts listening to standard input and to Ctrl-C.
    func open() {
        Task {
            while let line = await StandardInput.line() { add(.line(line)) }
            add(.ended)
        }
        Task {
            try await Interruption.wait()
            add(.interrupted)
        }
    }

    func add(_ event: ConsoleEvent<Happening>) { events.add(event) }

    /// Says when the end that is near is overdue.
    func expectEnd(within time: Duration) {
        Task {
            try await Task.sleep(for: time)
            add(.overdue)
        }
    }

    /// The next event, however long it takes.
    func next() async -> ConsoleEvent<Happening> { await events.next() }
}
