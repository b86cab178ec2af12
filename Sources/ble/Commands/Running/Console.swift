/// An event that an interactive command waits for.
enum ConsoleEvent<Event> {
    case happened(Event)
    /// A line from standard input.
    case line(String)
    /// Standard input has ended.
    case ended
    /// The user asked the process to end.
    case interrupted
    /// The time limit that ``Console/expectEnd(within:)`` set has passed.
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

/// A queue of the events, lines of input and interruptions of an interactive command, in order of arrival.
@MainActor
final class Console<Event> {
    private let events = EventQueue<ConsoleEvent<Event>>()

    /// Starts to add lines of standard input and interruptions to the queue.
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

    /// Adds the event ``ConsoleEvent/overdue`` after `time`.
    func expectEnd(within time: Duration) {
        Task {
            try await Task.sleep(for: time)
            add(.overdue)
        }
    }

    /// Waits for the next event.
    func next() async -> ConsoleEvent<Event> { await events.next() }
}
