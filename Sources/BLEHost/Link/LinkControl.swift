import BLEWire

/// What has been asked of the controller about one link, and what it has told of the link.
///
///                        taken, if nothing else will tell
///        ┌───────┐ ───────────────────────────────────────────▶ finished
///        │ asked │ refused, or there was no room in the queue ─▶ finished, in vain
///        └───────┘
///            │ taken, if the other end must agree
///            ▼
///        ┌──────────┐ the event that tells what they agreed on
///        │ agreeing │ ────────────────────────────────────────▶ finished
///        └──────────┘
///
/// An event names no command: it ends the oldest change of its kind. Of the length of packets an event tells only if it
/// is another now.
///
/// Core 6.0, Vol 4, Part E, 7.8.18, 7.8.33 and 7.8.49.
struct LinkControl {
    /// What can be asked.
    enum Request: Equatable {
        /// How strong the signal is.
        case readRSSI
        /// On which PHYs the link is.
        case readPHY
        case tune(LinkTuning)
        /// Other connection parameters, for which a peripheral asks its central by a signal if the controllers cannot
        /// agree on them by themselves.
        case propose(HCI.ConnectionParameters)
    }

    /// Something that was asked.
    struct Errand: Equatable {
        let number: UInt32
        /// Who hears of the outcome; `nil` if the host itself asked.
        let requester: Requester?
        let request: Request

        fileprivate func isAnswered(with kind: Kind) -> Bool {
            switch (request, kind) {
            case (.propose, .parameters), (.tune(.parameters), .parameters), (.tune(.physicalLayers), .phy): true
            case (.propose, .phy), (.tune(.parameters), .phy), (.tune(.physicalLayers), .parameters),
                (.tune(.dataLength), _), (.readRSSI, _), (.readPHY, _):
                false
            }
        }
    }

    /// The changes of which an event tells, since both ends must agree.
    fileprivate enum Kind { case parameters, phy }

    /// How many changes may wait on one link.
    static let limit = 64

    /// What the link is like.
    private(set) var details: LinkDetails
    /// In the order in which they were asked.
    private var errands: [Errand] = []
    private var lastNumber: UInt32 = 0

    init(_ details: LinkDetails) { self.details = details }

    enum OnAsk: Equatable {
        /// Submit the command, with this number.
        case submit(UInt32)
        /// Too many changes wait already for this one.
        case tooMany(Errand)
    }

    /// Takes note that something is asked.
    ///
    /// Of what a peripheral proposes the last counts.
    mutating func ask(_ request: Request, for requester: Requester?) -> OnAsk {
        lastNumber &+= 1
        let errand = Errand(number: lastNumber, requester: requester, request: request)
        switch request {
        case .readRSSI, .readPHY: break
        case .tune: guard errands.count(where: \.isChange) < Self.limit else { return .tooMany(errand) }
        case .propose: errands.removeAll(where: \.isProposal)
        }
        errands.append(errand)
        return .submit(lastNumber)
    }

    enum OnAnswer: Equatable {
        /// An event will tell what became of it, or nobody waits for it any more.
        case wait
        case finished(Errand)
    }

    /// The controller has taken the command.
    mutating func taken(_ number: UInt32) -> OnAnswer {
        guard let index = place(of: number) else { return .wait }
        switch errands[index].request {
        case .readRSSI, .readPHY, .tune(.dataLength): return .finished(errands.remove(at: index))
        case .tune(.parameters), .tune(.physicalLayers), .propose: return .wait
        }
    }

    /// The controller has refused the command, or there was no room for it.
    mutating func refused(_ number: UInt32) -> OnAnswer {
        place(of: number).map { .finished(errands.remove(at: $0)) } ?? .wait
    }

    /// The ends have other connection parameters, or could not agree on them.
    mutating func updated(_ event: HCI.LEConnectionUpdateComplete) -> OnAnswer {
        if event.status == .success { details.set(event.interval, event.latency, event.timeout) }
        return finish(.parameters)
    }

    /// The ends use other PHYs, or could not agree on them.
    mutating func updated(_ event: HCI.LEPHYUpdateComplete) -> OnAnswer {
        if event.status == .success { (details.transmitPHY, details.receivePHY) = (event.transmit, event.receive) }
        return finish(.phy)
    }

    enum OnNews: Equatable {
        /// Tell whoever uses the link what it is like now.
        case announce
        /// It was so before.
        case ignore
    }

    /// The controller has said on which PHYs the link is.
    mutating func read(_ layers: HCI.LEReadPHY.Return) -> OnNews {
        let known = (details.transmitPHY, details.receivePHY)
        (details.transmitPHY, details.receivePHY) = (layers.transmit, layers.receive)
        return known == (layers.transmit, layers.receive) ? .ignore : .announce
    }

    mutating func updated(_ event: HCI.LEDataLengthChange) {
        details.transmitOctets = Int(event.transmitOctets)
        details.receiveOctets = Int(event.receiveOctets)
    }

    /// The link can be trusted as far as this from now on.
    mutating func trust(_ security: LinkSecurity) -> OnNews {
        let known = details.security
        details.security = security
        return known == security ? .ignore : .announce
    }

    /// Hands out what nobody waits for any more, since the client is gone.
    mutating func leave(_ client: ClientID) -> [Errand] {
        let gone = errands.filter { $0.requester?.client == client }
        if !gone.isEmpty { errands.removeAll { $0.requester?.client == client } }
        return gone
    }

    /// Hands out all that nobody will answer, since the link is gone.
    mutating func end() -> [Errand] {
        defer { errands = [] }
        return errands
    }

    private mutating func finish(_ kind: Kind) -> OnAnswer {
        errands.firstIndex { $0.isAnswered(with: kind) }.map { .finished(errands.remove(at: $0)) } ?? .wait
    }

    private func place(of number: UInt32) -> Int? { errands.firstIndex { $0.number == number } }
}

extension LinkControl.Errand {
    fileprivate var isChange: Bool {
        if case .tune = request { true } else { false }
    }

    fileprivate var isProposal: Bool {
        if case .propose = request { true } else { false }
    }
}

extension LinkDetails {
    /// Takes new connection parameters.
    mutating func set(
        _ interval: Reported<ConnectionInterval>,
        _ latency: Reported<PeripheralLatency>,
        _ timeout: Reported<SupervisionTimeout>
    ) {
        self.interval = interval.value
        self.latency = latency.value
        self.timeout = timeout.value
    }
}
