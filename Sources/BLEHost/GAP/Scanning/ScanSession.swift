package import BLEWire

/// What one client scans for, and whom it has heard of.
struct ScanSession {
    /// What a client has heard of an advertiser.
    private enum Heard { case nothing, advertisement, everything }

    /// Whether what an advertiser says is what the client looks for.
    private enum Verdict { case open, wanted, unwanted }

    private struct Mark {
        var heard = Heard.nothing
        /// About the advertisement alone, and with its response.
        var alone = Verdict.open, answered = Verdict.open
    }

    let client: ClientID
    private let request: ScanRequest
    private(set) var phase: AppPhase
    /// Whether the client is told of all that is heard.
    private(set) var hearsAll = false
    /// By the places of advertisers.
    private var marks: [Mark]

    /// Begins a scan that has heard of nobody.
    init(_ client: ClientID, _ request: ScanRequest, _ phase: AppPhase, places: Int) {
        self.client = client
        self.request = request
        self.phase = phase
        marks = Array(repeating: Mark(), count: places)
        move(to: phase)
    }

    /// Whether every advertisement is told of.
    var allowsDuplicates: Bool { request.allowsDuplicates && phase == .foreground }

    /// Whether whoever advertises is told of, whatever it offers.
    private var isOpen: Bool { request.services.isEmpty }

    /// The app is used in another way.
    mutating func move(to phase: AppPhase) {
        self.phase = phase
        hearsAll = allowsDuplicates && isOpen && request.minimumRSSI == nil && request.namePrefix == nil
    }

    /// A place is another advertiser's now.
    mutating func forget(_ place: Int) {
        if place < marks.count { marks[place] = Mark() } else { marks.append(Mark()) }
    }

    /// An advertiser says something else; or only its response does.
    mutating func changed(_ place: Int, onlyResponse: Bool = false) {
        if !onlyResponse { marks[place].alone = .open }
        marks[place].answered = .open
    }

    /// Whether nothing that this advertiser says is told of any more.
    func isDone(with place: Int) -> Bool { !allowsDuplicates && marks[place].heard == .everything }

    /// Whether the client hears of this now, which it then has.
    mutating func hears(_ advertiser: HeardAdvertiser, at place: Int) -> Bool {
        switch phase {
        case .suspended: return false
        case .background: if isOpen { return false }
        case .foreground: break
        }
        if !allowsDuplicates {
            switch marks[place].heard {
            case .everything: return false
            case .advertisement: guard advertiser.isAnswered, !advertiser.response.isEmpty else { return false }
            case .nothing: break
            }
        }
        if let minimum = request.minimumRSSI, advertiser.rssi.dBm.map({ $0 < minimum }) ?? true { return false }
        guard admits(advertiser, at: place) else { return false }
        if !allowsDuplicates { marks[place].heard = advertiser.isComplete ? .everything : .advertisement }
        return true
    }

    /// Whether the name and the services are the right ones; looked into once for the same data.
    private mutating func admits(_ advertiser: HeardAdvertiser, at place: Int) -> Bool {
        if isOpen, request.namePrefix == nil { return true }
        switch advertiser.isAnswered ? marks[place].answered : marks[place].alone {
        case .wanted: return true
        case .unwanted: return false
        case .open: break
        }
        let isWanted = request.matches(MergedAdvertisement(advertiser.octets))
        let verdict: Verdict = isWanted ? .wanted : .unwanted
        if advertiser.isAnswered { marks[place].answered = verdict } else { marks[place].alone = verdict }
        return isWanted
    }
}

extension ScanRequest {
    /// Whether the name is the right one and one of the services is there, if either matters.
    ///
    /// Whoever solicits one of the services is let through besides those who offer one; without a list, all are.
    package func matches(_ data: MergedAdvertisement) -> Bool {
        if let namePrefix, data.localName?.hasPrefix(namePrefix) != true { return false }
        guard !services.isEmpty else { return true }
        let offered = data.serviceUUIDs, solicited = data.solicitedServiceUUIDs,
            overflow = OverflowArea(in: data.structures)
        return services.contains { offered.contains($0) || overflow?.contains($0) == true }
            || solicitedServices.contains { solicited.contains($0) }
    }
}
