/// An event that a conversation in a terminal waits for.
enum ConsoleEvent<Event> {
    case happened(Event)
    /// A line from standard input.
    case line(String)
    /// Standard input has ended.
    case ended
    /// The user asked the process to end.
    case interrupted
    /// The time for the work before the end is over.
    case overdue
}

/// A queue of events for one reader.
@MainActor
final class EventQueue<Event> {
    private var events: [Event] = []
    private var waiting: CheckedContinuation<Void, Never>?

    func add(_ event: Event) {
        events.append(event)
        waiting?.resume()
        waiting = nil
    }

    /// Waits for the next event.
    func next() async -> Event {
        while events.isEmpty { await withCheckedContinuation { waiting = $0 } }
        return events.removeFirst()
    }
}

/// One queue for events, lines of input and Ctrl-C, in the order of arrival.
@MainActor
final class Console<Event> {
    private let events = EventQueue<ConsoleEvent<Event>>()

    /// Starts listening to standard input and Ctrl-C.
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

    func add(_ event: ConsoleEvent<Event>) { events.add(event) }

    /// Starts the time limit for the end.
    func expectEnd(within time: Duration) {
        Task {
            try await Task.sleep(for: time)
            add(.overdue)
        }
    }

    /// Waits for the next event.
    func next() async -> ConsoleEvent<Event> { await events.next() }
}
