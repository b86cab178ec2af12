import BLEHost
import BLEWire

/// The requests of one app to one peripheral.
///
/// The app receives their results in the order of the requests.
///
///     ┌─────────┐ its turn ┌──────┐ answer ┌──────────┐ nothing before it
///     │ waiting │ ───────▶ │ sent │ ─────▶ │ answered │ ─────────────────▶ delivered
///     └─────────┘          └──────┘        └──────────┘
///          │ gone              │ gone            │ gone
///          ▼                   ▼                 ▼
///      delivered           delivered         delivered
///
/// Each request that gets a result has a number, and the result has the same number, even if it does not come from the
/// host. A host event with an unknown number has arrived too late.
///
/// A request that need not be sent to the host has a result from the start. When services change, the requests about
/// removed attributes fail before anything else is delivered, while the objects of these attributes still exist.
///
/// Apps can make any number of requests, but the host accepts a limited number for each link from all its clients
/// together. So at most ``limit`` requests are with the host at a time, and the others wait here.
struct PeripheralRequests {
    /// The maximum number of requests in `begun` and `cancelled` together.
    static let limit = 16

    /// The result of a request.
    enum Answer {
        /// A host event.
        case event(PeerEvent)
        /// A result that does not come from the host.
        case call(PeripheralDelegateCall)
    }

    /// A result, and the number of its request.
    struct NumberedAnswer {
        let answer: Answer
        let number: RequestNumber
    }

    private struct Entry {
        enum State {
            case waiting(PeerRequest)
            /// Sent to the host.
            case sent(PeerRequest)
            /// Has this result, which has not been delivered.
            ///
            /// The request is `nil` if the app's call was refused before it became a request to the host.
            case answered(PeerRequest?, Answer)
        }

        /// The number of the request; ``RequestNumber/none`` for a write command, which has no result.
        let number: RequestNumber
        var state: State

        /// Returns the result of the request, which is `failure` if it has none yet.
        func answer(orFailure failure: Failure) -> NumberedAnswer {
            switch state {
            case .waiting(let request), .sent(let request):
                NumberedAnswer(answer: .event(request.answer(failure)), number: number)
            case .answered(_, let answer): NumberedAnswer(answer: answer, number: number)
            }
        }
    }

    /// The requests that are no longer waiting: sent to the host, or answered.
    private var begun: [Entry] = []
    private var waiting: [Entry] = []
    /// The index of the next waiting request in `waiting`.
    private var next = 0
    /// The requests that the host still has, although their failure has already been delivered to the app.
    private var cancelled: [RequestNumber] = []
    /// The number of the latest request, also of an earlier connection.
    private var latest = RequestNumber.none

    /// The number of requests whose results have not been delivered.
    var count: Int { begun.count + waiting.count - next }

    /// True if the result of the first request is known.
    var isAnswered: Bool { if case .answered? = begun.first?.state { true } else { false } }

    /// Returns a number for a request that is added later.
    mutating func reserveNumber() -> RequestNumber {
        latest = latest.next
        return latest
    }

    /// Adds a request; returns its number if it must be sent now, otherwise `nil`.
    ///
    /// `reserved` is a number from ``reserveNumber()``; `nil` to use the next one. Write commands have no number.
    mutating func submit(_ request: PeerRequest, as reserved: RequestNumber? = nil) -> RequestNumber? {
        let number =
            switch request {
            case .attribute(.writeCommand): RequestNumber.none
            case .attribute, .link, .openChannel: reserved ?? reserveNumber()
            }
        guard next == waiting.count, mayBegin(request) else {
            waiting.append(Entry(number: number, state: .waiting(request)))
            return nil
        }
        send(request, number)
        return number
    }

    /// Adds a request whose result is already known, so that the result is delivered after those of earlier requests.
    ///
    /// `reserved` is a number from ``reserveNumber()``; `nil` to use the next one.
    mutating func submit(_ request: PeerRequest?, as reserved: RequestNumber? = nil, answer: Answer) {
        let entry = Entry(number: reserved ?? reserveNumber(), state: .answered(request, answer))
        if next == waiting.count, begun.count < Self.limit { begun.append(entry) } else { waiting.append(entry) }
    }

    /// The kind of a host event: the result of a pending request, a result that comes too late, or no result.
    enum OnReceive {
        /// The result of the first request: deliver it now.
        case deliver
        /// The result of a later request, which is stored and delivered in its turn.
        case deferred
        /// The result of a request whose failure was already delivered.
        case stale
        /// Not the result of a request.
        case unsolicited
    }

    /// Processes a host event, which may be the result of the request with this number.
    mutating func receive(_ event: PeerEvent, answering number: RequestNumber) -> OnReceive {
        guard number != .none else { return .unsolicited }
        if let first = begun.first, first.number == number, case .sent = first.state {
            removeFirst()
            return .deliver
        }
        for index in begun.indices where begun[index].number == number {
            guard case .sent(let request) = begun[index].state else { continue }
            begun[index].state = .answered(request, .event(event))
            return .deferred
        }
        cancelled.removeAll { $0 == number }
        return .stale
    }

    /// Removes the first request if its result is known.
    ///
    /// Returns the result, or `nil` if it is not known, and the requests to send now.
    mutating func proceed() -> (answer: NumberedAnswer?, requests: [(request: PeerRequest, number: RequestNumber)]) {
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        begin(&requests)
        guard let first = begun.first, case .answered(_, let answer) = first.state else { return (nil, requests) }
        removeFirst()
        begin(&requests)
        return (NumberedAnswer(answer: answer, number: first.number), requests)
    }

    /// Begins the waiting requests whose turn has come, and returns those that must be sent now, with their numbers.
    mutating func begin() -> [(request: PeerRequest, number: RequestNumber)] {
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        begin(&requests)
        return requests
    }

    private mutating func removeFirst() {
        if begun.count > 1 { begun.removeFirst() } else { begun.removeLast() }
    }

    /// Removes the requests about attributes in `ranges`, because these attributes no longer exist.
    ///
    /// Returns the results of the requests; a request without a result fails because its attribute was not found.
    ///
    /// If the requests stayed, their results could be taken for those of other attributes that now have the same
    /// handles.
    mutating func cancelRequests(in ranges: [AttributeHandleRange]) -> [NumberedAnswer] {
        guard !ranges.isEmpty else { return [] }
        let isGone = { (request: PeerRequest) in ranges.contains { request.isAbout($0) } }
        var answers: [NumberedAnswer] = []
        func remains(_ entry: Entry) -> Entry? {
            switch entry.state {
            case .waiting(let request) where isGone(request), .sent(let request) where isGone(request),
                .answered(let request?, _) where isGone(request):
                answers.append(entry.answer(orFailure: .notFound))
                if case .sent = entry.state { cancelled.append(entry.number) }
                return nil
            case .waiting, .sent, .answered: return entry
            }
        }
        begun = begun.compactMap(remains)
        waiting = waiting[next...].compactMap(remains)
        next = 0
        return answers
    }

    /// Removes all requests, and returns their results; a request without a result gets `failure`.
    mutating func removeAll(_ failure: Failure) -> [NumberedAnswer] {
        defer { reset() }
        return (begun + waiting[next...]).map { $0.answer(orFailure: failure) }
    }

    /// Drops all requests, without results.
    ///
    /// The numbers continue, so that a late result from an earlier connection is not taken for that of a new request.
    mutating func reset() { (begun, waiting, next, cancelled) = ([], [], 0, []) }

    /// Returns whether a change of the subscription to the characteristic with this handle is pending.
    func isChanging(_ handle: AttributeHandle) -> Bool {
        (begun + waiting[next...]).contains { entry in
            switch entry.state {
            case .waiting(.attribute(.subscribe(_, handle, _))), .sent(.attribute(.subscribe(_, handle, _))),
                .answered(.attribute(.subscribe(_, handle, _))?, _):
                true
            case .waiting, .sent, .answered: false
            }
        }
    }

    /// Moves the waiting requests whose turn has come to `begun`, and adds to `requests` those that must be sent.
    private mutating func begin(_ requests: inout [(request: PeerRequest, number: RequestNumber)]) {
        while next < waiting.count {
            switch waiting[next].state {
            case .waiting(let request):
                guard mayBegin(request) else { return }
                requests.append((request, waiting[next].number))
                send(request, waiting[next].number)
            case .answered:
                guard begun.count < Self.limit else { return }
                begun.append(waiting[next])
            case .sent: preconditionFailure("a waiting request has not been sent to the host")
            }
            next += 1
            if next == waiting.count || next > 64 && next > waiting.count / 2 {
                waiting.removeFirst(next)
                next = 0
            }
        }
    }

    private func mayBegin(_ request: PeerRequest) -> Bool {
        begun.count + cancelled.count < Self.limit
            && begun.allSatisfy { entry in
                if case .sent(let earlier) = entry.state { request.mayFollow(earlier) } else { true }
            }
    }

    /// Adds the request to `begun`, unless it is a write command, which has no result.
    private mutating func send(_ request: PeerRequest, _ number: RequestNumber) {
        if number != .none { begun.append(Entry(number: number, state: .sent(request))) }
    }
}

extension PeerRequest {
    /// Returns whether this request may be sent while the host has not answered `earlier`.
    ///
    /// The host carries out requests about attributes in order, but requests about the link immediately. So any request
    /// may be sent after a request about an attribute, and a result that arrives early is kept until its turn. An
    /// exception is the request to open a channel: its result cannot be kept, so it waits until the host has answered
    /// everything else. After a request about the link or a channel, only write commands may be sent, because they have
    /// no result.
    fileprivate func mayFollow(_ earlier: PeerRequest) -> Bool {
        switch self {
        case .attribute(.writeCommand): true
        case .openChannel: false
        case .attribute, .link: if case .attribute = earlier { true } else { false }
        }
    }
}
