import BLEHost
import BLEWire

/// The requests of one app to one peripheral, whose answers the app hears in the order in which it asked.
///
///     ┌─────────┐ its turn ┌──────┐ answer ┌──────────┐ nothing before it
///     │ waiting │ ───────▶ │ sent │ ─────▶ │ answered │ ─────────────────▶ told
///     └─────────┘          └──────┘        └──────────┘
///          │ gone              │ gone            │ gone
///          ▼                   ▼                 ▼
///         told                told              told
///
/// What is with the host has a number, which its answer has, too. An answer with another number comes too late.
///
/// What nobody has to be asked is answered from the start. What is asked about is gone when services change; of that
/// the app hears before all else, while it can still be told what it asked about.
///
/// Apps ask for as much as they like at once, but a host keeps only so many requests of all its clients for one link.
struct PeripheralRequests {
    /// How many requests may be with the host.
    static let limit = 16

    /// What came of a request, as the app is to be told.
    enum Answer {
        /// What the host says.
        case event(PeerEvent)
        /// What nobody had to be asked.
        case call(PeripheralDelegateCall)
    }

    private enum Entry {
        case waiting(PeerRequest)
        /// With the host, under this number.
        case sent(PeerRequest, RequestNumber)
        /// `nil` for what is about no attribute that the peripheral has.
        case answered(PeerRequest?, Answer)
    }

    /// What does not wait any more.
    private var begun: [Entry] = []
    private var waiting: [Entry] = []
    /// Where in `waiting` the next one is; what lies before it has begun.
    private var next = 0
    /// What is with the host, although the app has had its answer.
    private var told: [RequestNumber] = []
    private var latest = RequestNumber.none

    /// How many there are, of which as many answers may be due at most.
    var count: Int { begun.count + waiting.count - next }

    /// Whether there is an answer whose turn has come.
    var isAnswered: Bool { if case .answered? = begun.first { true } else { false } }

    /// Adds a request; returns the number to send it with, if that is to be now.
    mutating func submit(_ request: PeerRequest) -> RequestNumber? {
        guard next == waiting.count, mayBegin(request) else {
            waiting.append(.waiting(request))
            return nil
        }
        return send(request)
    }

    /// Adds a request that needs nobody to be answered.
    mutating func submit(_ request: PeerRequest?, answer: Answer) {
        let entry = Entry.answered(request, answer)
        if next == waiting.count, begun.count < Self.limit { begun.append(entry) } else { waiting.append(entry) }
    }

    /// What an event means for the requests.
    enum OnReceive {
        /// It answers the one whose turn it is, which is over with that.
        case tellInTurn
        /// It answers one, whose turn to be told comes.
        case keep
        /// It answers one of which the app has had the answer.
        case discard
        /// It answers none.
        case tell
    }

    /// Takes what the host says.
    mutating func receive(_ event: PeerEvent, answering number: RequestNumber) -> OnReceive {
        guard number != .none else { return .tell }
        if case .sent(_, number)? = begun.first {
            removeFirst()
            return .tellInTurn
        }
        for index in begun.indices {
            guard case .sent(let request, number) = begun[index] else { continue }
            begun[index] = .answered(request, .event(event))
            return .keep
        }
        told.removeAll { $0 == number }
        return .discard
    }

    /// Hands out the answer whose turn has come, if there is one, and what to send now, with its number.
    mutating func proceed() -> (answer: Answer?, requests: [(request: PeerRequest, number: RequestNumber)]) {
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        begin(&requests)
        guard case .answered(_, let answer)? = begun.first else { return (nil, requests) }
        removeFirst()
        begin(&requests)
        return (answer, requests)
    }

    /// Hands out what may be sent now, with its number.
    mutating func begin() -> [(request: PeerRequest, number: RequestNumber)] {
        var requests: [(request: PeerRequest, number: RequestNumber)] = []
        begin(&requests)
        return requests
    }

    private mutating func removeFirst() {
        if begun.count > 1 { begun.removeFirst() } else { begun.removeLast() }
    }

    /// Gives up what is about attributes in one of `ranges`, which are gone, and hands out the answers to it.
    ///
    /// Others may take the place of these attributes, and answers tell of handles alone.
    mutating func void(in ranges: [AttributeHandleRange]) -> [Answer] {
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
                told.append(number)
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

    /// Gives up all that was not told, and hands out the answers to it.
    mutating func removeAll(_ failure: Failure) -> [Answer] {
        defer { (begun, waiting, next, told) = ([], [], 0, []) }
        return (begun + waiting[next...]).map { entry in
            switch entry {
            case .waiting(let request), .sent(let request, _): .event(request.answer(failure))
            case .answered(_, let answer): answer
            }
        }
    }

    /// Whether a subscription to the value with this handle has been asked for and not been told.
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

    /// Begins what may begin of what waits.
    private mutating func begin(_ requests: inout [(request: PeerRequest, number: RequestNumber)]) {
        while next < waiting.count {
            switch waiting[next] {
            case .waiting(let request):
                guard mayBegin(request) else { return }
                requests.append((request, send(request)))
            case .answered:
                guard begun.count < Self.limit else { return }
                begun.append(waiting[next])
            case .sent: preconditionFailure("what waits is not with the host")
            }
            next += 1
            if next == waiting.count || next > 64 && next > waiting.count / 2 {
                waiting.removeFirst(next)
                next = 0
            }
        }
    }

    private func mayBegin(_ request: PeerRequest) -> Bool {
        begun.count + told.count < Self.limit
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
    /// Whether a host may have this while it has `earlier`.
    ///
    /// It keeps the order of what is about attributes, and write commands are not answered. But it carries out at once
    /// what is about the link; of that, only what a channel brings cannot wait until what was asked before is told.
    fileprivate func mayFollow(_ earlier: PeerRequest) -> Bool {
        switch self {
        case .attribute(.writeCommand): true
        case .openChannel: false
        case .attribute, .link: if case .attribute = earlier { true } else { false }
        }
    }
}
