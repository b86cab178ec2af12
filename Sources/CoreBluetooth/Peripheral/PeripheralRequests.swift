import BLEHost
import BLEWire

/// The requests of one app to one peripheral.
///
/// Their results are delivered in the order of the requests.
///
///     ┌─────────┐ its turn ┌──────┐ answer ┌──────────┐ nothing before it
///     │ waiting │ ───────▶ │ sent │ ─────▶ │ answered │ ─────────────────▶ told
///     └─────────┘          └──────┘        └──────────┘
///          │ gone              │ gone            │ gone
///          ▼                   ▼                 ▼
///         told                told              told
///
/// A request at the host has a number, and so does its result. A result with an unknown number arrived too late.
///
/// Requests that the host need not see are answered from the start. When services change, requests about removed
/// attributes fail before everything else, while their objects still exist.
///
/// Apps can make any number of requests, but a host accepts only some from all its clients per link.
struct PeripheralRequests {
    /// The maximum number of requests at the host.
    static let limit = 16

    /// The result of a request.
    enum Answer {
        /// An event of the host.
        case event(PeerEvent)
        /// A result without the host.
        case call(PeripheralDelegateCall)
    }

    private enum Entry {
        case waiting(PeerRequest)
        /// Sent to the host with this number.
        case sent(PeerRequest, RequestNumber)
        /// `nil` for requests that concern no attribute.
        case answered(PeerRequest?, Answer)
    }

    /// Requests that are not queued any more.
    private var begun: [Entry] = []
    private var waiting: [Entry] = []
    /// The index of the next queued request in `waiting`.
    private var next = 0
    /// Requests that are still at the host although their result was delivered.
    private var cancelled: [RequestNumber] = []
    private var latest = RequestNumber.none

    /// The number of requests, which is the maximum number of results.
    var count: Int { begun.count + waiting.count - next }

    /// True if the next result in order is available.
    var isAnswered: Bool { if case .answered? = begun.first { true } else { false } }

    /// Adds a request; returns its number if it must be sent now.
    mutating func submit(_ request: PeerRequest) -> RequestNumber? {
        guard next == waiting.count, mayBegin(request) else {
            waiting.append(.waiting(request))
            return nil
        }
        return send(request)
    }

    /// Adds a request with a known result.
    mutating func submit(_ request: PeerRequest?, answer: Answer) {
        let entry = Entry.answered(request, answer)
        if next == waiting.count, begun.count < Self.limit { begun.append(entry) } else { waiting.append(entry) }
    }

    /// The meaning of an event for the requests.
    enum OnReceive {
        /// The result of the first request, which is complete.
        case deliver
        /// The result of a later request, which is delivered in its turn.
        case deferred
        /// The result of a request whose result was already delivered.
        case stale
        /// Not a result.
        case unsolicited
    }

    /// Processes a host event.
    mutating func receive(_ event: PeerEvent, answering number: RequestNumber) -> OnReceive {
        guard number != .none else { return .unsolicited }
        if case .sent(_, number)? = begun.first {
            removeFirst()
            return .deliver
        }
        for index in begun.indices {
            guard case .sent(let request, number) = begun[index] else { continue }
            begun[index] = .answered(request, .event(event))
            return .deferred
        }
        cancelled.removeAll { $0 == number }
        return .stale
    }

    /// Removes and returns the next result in order, if available, and the requests to send now.
    mutating func proceed() -> (answer: Answer?, requests: [(request: PeerRequest, number: RequestNumber)]) {
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        begin(&requests)
        guard case .answered(_, let answer)? = begun.first else { return (nil, requests) }
        removeFirst()
        begin(&requests)
        return (answer, requests)
    }

    /// Returns the requests to send now, with their numbers.
    mutating func begin() -> [(request: PeerRequest, number: RequestNumber)] {
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        begin(&requests)
        return requests
    }

    private mutating func removeFirst() {
        if begun.count > 1 { begun.removeFirst() } else { begun.removeLast() }
    }

    /// Removes the requests about attributes in `ranges`, which no longer exist, and returns their results.
    ///
    /// Other attributes may get the same handles, and results contain only handles.
    mutating func cancelRequests(in ranges: [AttributeHandleRange]) -> [Answer] {
        guard !ranges.isEmpty else { return [] }
        let isGone = { (request: PeerRequest) in ranges.contains { request.isAbout($0) } }
        var answers: [Answer] = []
        func remains(_ entry: Entry) -> Entry? {
            switch entry {
            case .waiting(let request) where isGone(request):
                answers.append(.event(request.answer(.notFound)))
                return nil
            case .sent(let request, let number) where isGone(request):
                answers.append(.event(request.answer(.notFound)))
                cancelled.append(number)
                return nil
            case .answered(let request?, let answer) where isGone(request):
                answers.append(answer)
                return nil
            case .waiting, .sent, .answered: return entry
            }
        }
        begun = begun.compactMap(remains)
        waiting = waiting[next...].compactMap(remains)
        next = 0
        return answers
    }

    /// Removes all undelivered requests and returns their results.
    mutating func removeAll(_ failure: Failure) -> [Answer] {
        defer { (begun, waiting, next, cancelled) = ([], [], 0, []) }
        return (begun + waiting[next...]).map { entry in
            switch entry {
            case .waiting(let request), .sent(let request, _): .event(request.answer(failure))
            case .answered(_, let answer): answer
            }
        }
    }

    /// Returns whether a change of the subscription with this handle is pending.
    func isChanging(_ handle: AttributeHandle) -> Bool {
        (begun + waiting[next...]).contains { entry in
            switch entry {
            case .waiting(.attribute(.subscribe(_, handle, _))), .sent(.attribute(.subscribe(_, handle, _)), _),
                .answered(.attribute(.subscribe(_, handle, _))?, _):
                true
            case .waiting, .sent, .answered: false
            }
        }
    }

    /// Starts the queued requests that can be sent.
    private mutating func begin(_ requests: inout [(request: PeerRequest, number: RequestNumber)]) {
        while next < waiting.count {
            switch waiting[next] {
            case .waiting(let request):
                guard mayBegin(request) else { return }
                requests.append((request, send(request)))
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
                if case .sent(let earlier, _) = entry { request.mayFollow(earlier) } else { true }
            }
    }

    private mutating func send(_ request: PeerRequest) -> RequestNumber {
        if case .attribute(.writeCommand) = request { return .none }
        latest = latest.next
        begun.append(.sent(request, latest))
        return latest
    }
}

extension PeerRequest {
    /// Returns whether the host may receive this request while it has `earlier`.
    ///
    /// The host keeps the order of requests about attributes, and write commands have no result. But it carries out
    /// requests about the link immediately, so these must wait until earlier results are delivered; only the results of
    /// opened channels cannot be deferred.
    fileprivate func mayFollow(_ earlier: PeerRequest) -> Bool {
        switch self {
        case .attribute(.writeCommand): true
        case .openChannel: false
        case .attribute, .link: if case .attribute = earlier { true } else { false }
        }
    }
}
