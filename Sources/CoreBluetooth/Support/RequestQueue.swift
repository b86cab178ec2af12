import BLEHost
import BLEWire

/// The requests of one app to one peripheral, whose answers the app hears in the order in which it asked.
///
///     ┌─────────┐ its turn ┌──────┐ answer ┌──────────┐ nothing before it
///     │ waiting │ ───────▶ │ sent │ ─────▶ │ answered │ ─────────────────▶ told
///     └─────────┘          └──────┘        └──────────┘
///          │ gone              │ gone            │ gone
///          ▼                   ▼                 ▼
///         told             ┌──────┐ answer      told
///                          │ void │ ─────▶ forgotten
///                          └──────┘
///
/// What nobody has to be asked is answered from the start. What is asked about is gone when services change; of that
/// the app hears before all else, while it can still be told what it asked about.
///
/// Apps ask for as much as they like at once, but a host keeps only so many requests of all its clients for one link.
struct RequestQueue {
    /// How many requests may be with the host.
    static let limit = 16

    /// What came of a request, as the app is to be told.
    enum Answer {
        /// What the host says.
        case event(PeerEvent)
        /// What nobody had to be asked.
        case call((CBPeripheral) -> Void)

        /// Tells the app; on the manager's queue.
        func tell(_ peripheral: CBPeripheral) {
            switch self {
            case .event(let event): peripheral.apply(event)
            case .call(let body): body(peripheral)
            }
        }
    }

    private enum Entry {
        case waiting(PeerRequest)
        /// With the host.
        case sent(PeerRequest)
        /// With the host, but the app has had its answer.
        case void(PeerRequest)
        /// `nil` for what is about no attribute that the peripheral has.
        case answered(PeerRequest?, Answer)
    }

    /// What does not wait any more.
    private var begun: [Entry] = []
    private var waiting: [Entry] = []
    /// Where in `waiting` the next one is; what lies before it has begun.
    private var next = 0

    /// How many there are, of which as many answers may be due at most.
    var count: Int { begun.count + waiting.count - next }

    /// Adds a request; returns whether to send it now.
    mutating func submit(_ request: PeerRequest) -> Bool {
        guard next == waiting.count, mayBegin(request) else {
            waiting.append(.waiting(request))
            return false
        }
        send(request)
        return true
    }

    /// Adds a request that needs nobody to be answered.
    mutating func submit(_ request: PeerRequest?, answer: @escaping (CBPeripheral) -> Void) {
        let entry = Entry.answered(request, .call(answer))
        if next == waiting.count, begun.count < Self.limit { begun.append(entry) } else { waiting.append(entry) }
    }

    /// What an event means for the requests.
    enum OnReceive {
        /// It answers one, whose turn to be told comes.
        case keep
        /// It answers one of which the app has had the answer.
        case discard
        /// It answers none.
        case tell
    }

    /// Takes what the host says.
    mutating func receive(_ event: PeerEvent) -> OnReceive {
        for index in begun.indices {
            switch begun[index] {
            case .sent(let request) where request.isAnswered(by: event):
                begun[index] = .answered(request, .event(event))
                return .keep
            case .void(let request) where request.isAnswered(by: event):
                begun.remove(at: index)
                return .discard
            case .waiting, .sent, .void, .answered: continue
            }
        }
        return .tell
    }

    /// Hands out the answer whose turn has come, if there is one, and what to send now.
    mutating func proceed() -> (answer: Answer?, requests: [PeerRequest]) {
        var requests: [PeerRequest] = []
        begin(&requests)
        guard case .answered(_, let answer)? = begun.first else { return (nil, requests) }
        if begun.count > 1 { begun.removeFirst() } else { begun.removeLast() }
        begin(&requests)
        return (answer, requests)
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
            case .waiting(let request) where isGone(request), .sent(let request) where isGone(request):
                answers.append(.event(request.answer(.notFound)))
                if case .sent = entry { return .void(request) }
                return nil
            case .answered(let request?, let answer) where isGone(request):
                answers.append(answer)
                return nil
            case .waiting, .sent, .void, .answered: return entry
            }
        }
        begun = begun.compactMap(remains)
        waiting = waiting[next...].compactMap(remains)
        next = 0
        return answers
    }

    /// Gives up all that was not told, and hands out the answers to it.
    mutating func removeAll(_ failure: Failure) -> [Answer] {
        defer { self = RequestQueue() }
        return (begun + waiting[next...]).compactMap { entry in
            switch entry {
            case .waiting(let request), .sent(let request): .event(request.answer(failure))
            case .answered(_, let answer): answer
            case .void: nil
            }
        }
    }

    /// Whether a subscription to the value with this handle has been asked for and not been told.
    func isChanging(_ handle: AttributeHandle) -> Bool {
        (begun + waiting[next...]).contains { entry in
            switch entry {
            case .waiting(.attribute(.subscribe(_, handle, _))), .sent(.attribute(.subscribe(_, handle, _))),
                .void(.attribute(.subscribe(_, handle, _))), .answered(.attribute(.subscribe(_, handle, _))?, _):
                true
            case .waiting, .sent, .void, .answered: false
            }
        }
    }

    /// Begins what may begin of what waits.
    private mutating func begin(_ requests: inout [PeerRequest]) {
        while next < waiting.count {
            switch waiting[next] {
            case .waiting(let request):
                guard mayBegin(request) else { return }
                send(request)
                requests.append(request)
            case .answered:
                guard begun.count < Self.limit else { return }
                begun.append(waiting[next])
            case .sent, .void: preconditionFailure("what waits is not with the host")
            }
            next += 1
            if next == waiting.count || next > 64 && next > waiting.count / 2 {
                waiting.removeFirst(next)
                next = 0
            }
        }
    }

    private func mayBegin(_ request: PeerRequest) -> Bool {
        begun.count < Self.limit
            && begun.allSatisfy { entry in
                switch entry {
                case .sent(let earlier), .void(let earlier): request.mayFollow(earlier)
                case .waiting, .answered: true
                }
            }
    }

    private mutating func send(_ request: PeerRequest) {
        if case .attribute(.writeCommand) = request { return }
        begun.append(.sent(request))
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

    /// Whether `event` is what this asked for.
    fileprivate func isAnswered(by event: PeerEvent) -> Bool {
        switch (self, event) {
        case (.link(.readRSSI), .rssiRead): true
        case (.link(.tune(let tuning)), .tuned(let done, _)): tuning == done
        case (.attribute(let request), _): request.isAnswered(by: event)
        case (.openChannel(let psm), .channelOpened(let found, _)): psm == found
        case (.link, _), (.openChannel, _): false
        }
    }
}

extension AttributeRequest {
    /// Whether `event` is what this asked for.
    fileprivate func isAnswered(by event: PeerEvent) -> Bool {
        switch (self, event) {
        case (.discoverServices, .servicesDiscovered): true
        case (.discoverIncludedServices(let range, _), .includedServicesDiscovered(let found, _)): range == found
        case (.discoverCharacteristics(let range, _), .characteristicsDiscovered(let found, _)): range == found
        case (.discoverDescriptors(let handle, _), .descriptorsDiscovered(let found, _)): handle == found
        case (.read(let handle), .valueRead(let found, _)): handle == found
        case (.write(let handle, _), .valueWritten(let found, _)): handle == found
        case (.subscribe(_, let handle, _), .subscriptionChanged(let found, _, _)): handle == found
        case (.forgetDatabase, .databaseForgotten): true
        case (.discoverServices, _), (.discoverIncludedServices, _), (.discoverCharacteristics, _),
            (.discoverDescriptors, _), (.read, _), (.write, _), (.writeCommand, _), (.subscribe, _),
            (.forgetDatabase, _):
            false
        }
    }
}
