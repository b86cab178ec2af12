package import BLEWire

/// The scan of one client, and the devices that were reported to it.
struct ScanSession {
    /// What was reported to a client about an advertiser.
    private enum ReportedData { case nothing, advertisement, everything }

    /// Whether an advertiser's data match the scan.
    private enum Verdict { case open, wanted, unwanted }

    private struct Mark {
        var heard = ReportedData.nothing
        /// For the advertisement alone, and together with its response.
        var alone = Verdict.open, answered = Verdict.open
    }

    let client: ClientID
    private let request: ScanRequest
    private(set) var phase: AppPhase
    /// True if the client receives every advertisement.
    private(set) var hearsAll = false
    /// By the position of the advertiser.
    private var marks: [Mark]

    /// Creates a scan with no reported devices.
    init(_ client: ClientID, _ request: ScanRequest, _ phase: AppPhase, places: Int) {
        self.client = client
        self.request = request
        self.phase = phase
        marks = Array(repeating: Mark(), count: places)
        move(to: phase)
    }

    /// True if every advertisement is reported.
    var allowsDuplicates: Bool { request.allowsDuplicates && phase == .foreground }

    /// True if the scan does not filter by services.
    private var isOpen: Bool { request.services.isEmpty }

    /// Records that the app has changed its phase.
    mutating func move(to phase: AppPhase) {
        self.phase = phase
        hearsAll = allowsDuplicates && isOpen && request.minimumRSSI == nil && request.namePrefix == nil
    }

    /// Records that a position belongs to another advertiser.
    mutating func forget(_ place: Int) {
        if place < marks.count { marks[place] = Mark() } else { marks.append(Mark()) }
    }

    /// Records that the data of an advertiser, or only its response, changed.
    mutating func changed(_ place: Int, onlyResponse: Bool = false) {
        if !onlyResponse { marks[place].alone = .open }
        marks[place].answered = .open
    }

    /// Returns true if nothing more of this advertiser will be reported.
    func isDone(with place: Int) -> Bool { !allowsDuplicates && marks[place].heard == .everything }

    /// Decides whether the client gets a report now, and records it.
    mutating func hears(_ advertiser: KnownAdvertiser, at place: Int) -> Bool {
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

    /// Returns whether name and services match; cached for the same data.
    private mutating func admits(_ advertiser: KnownAdvertiser, at place: Int) -> Bool {
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
    /// Returns whether the name matches and one of the services is contained, as far as the scan filters by them.
    ///
    /// Devices that solicit one of the requested services match, too. Without a list of services, all match.
    package func matches(_ data: MergedAdvertisement) -> Bool {
        if let namePrefix, data.localName?.hasPrefix(namePrefix) != true { return false }
        guard !services.isEmpty else { return true }
        let offered = data.serviceUUIDs, solicited = data.solicitedServiceUUIDs,
            overflow = OverflowArea(in: data.structures)
        return services.contains { offered.contains($0) || overflow?.contains($0) == true }
            || solicitedServices.contains { solicited.contains($0) }
    }
}
