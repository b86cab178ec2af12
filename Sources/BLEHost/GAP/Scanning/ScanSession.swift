package import BLEWire

/// The scan of one client, and the devices that were reported to it.
struct ScanSession {
    /// The parts of an advertiser's data that were reported to the client.
    private enum ReportedData { case nothing, advertisement, everything }

    /// The result of comparing an advertiser's data with the scan; `open` if it was not compared yet.
    private enum MatchResult { case open, wanted, unwanted }

    private struct AdvertiserState {
        var reported = ReportedData.nothing
        /// The results for the advertisement by itself, and together with its scan response.
        var alone = MatchResult.open, answered = MatchResult.open
    }

    let client: ClientID
    private let request: ScanRequest
    private(set) var phase: AppPhase
    /// True if the client receives every advertisement.
    private(set) var receivesAll = false
    /// The states of the advertisers, indexed by the advertiser's position in ``KnownAdvertisers``.
    private var advertisers: [AdvertiserState]

    /// Creates a scan.
    ///
    /// No device has been reported to the client yet. `places` is the number of known advertisers.
    init(_ client: ClientID, _ request: ScanRequest, _ phase: AppPhase, places: Int) {
        self.client = client
        self.request = request
        self.phase = phase
        advertisers = Array(repeating: AdvertiserState(), count: places)
        changePhase(to: phase)
    }

    /// True if repeated advertisements are reported to the client.
    var allowsDuplicates: Bool { request.allowsDuplicates && phase == .foreground }

    /// True if the scan accepts devices regardless of their services.
    private var isOpen: Bool { request.services.isEmpty }

    /// Records that the app has changed its phase.
    mutating func changePhase(to phase: AppPhase) {
        self.phase = phase
        receivesAll = allowsDuplicates && isOpen && request.minimumRSSI == nil && request.namePrefix == nil
    }

    /// Records that the position `place` now belongs to another advertiser.
    mutating func forget(_ place: Int) {
        if place < advertisers.count {
            advertisers[place] = AdvertiserState()
        } else {
            advertisers.append(AdvertiserState())
        }
    }

    /// Records that the data of an advertiser has changed; `onlyResponse` is true if only the scan response data has
    /// changed.
    mutating func changed(_ place: Int, onlyResponse: Bool = false) {
        if !onlyResponse { advertisers[place].alone = .open }
        advertisers[place].answered = .open
    }

    /// Returns whether the client gets no more reports about an advertiser.
    func isDone(with place: Int) -> Bool { !allowsDuplicates && advertisers[place].reported == .everything }

    /// Returns whether to report the advertiser to the client now; if so, records the report.
    mutating func recordReport(of advertiser: KnownAdvertiser, at place: Int) -> Bool {
        switch phase {
        case .suspended: return false
        case .background: if isOpen { return false }
        case .foreground: break
        }
        if !allowsDuplicates {
            switch advertisers[place].reported {
            case .everything: return false
            case .advertisement: guard advertiser.isAnswered, !advertiser.response.isEmpty else { return false }
            case .nothing: break
            }
        }
        if let minimum = request.minimumRSSI, advertiser.rssi.dBm.map({ $0 < minimum }) ?? true { return false }
        guard admits(advertiser, at: place) else { return false }
        if !allowsDuplicates { advertisers[place].reported = advertiser.isComplete ? .everything : .advertisement }
        return true
    }

    /// Returns whether the advertiser's name and services match the scan.
    ///
    /// The result is stored until the data changes.
    private mutating func admits(_ advertiser: KnownAdvertiser, at place: Int) -> Bool {
        if isOpen, request.namePrefix == nil { return true }
        switch advertiser.isAnswered ? advertisers[place].answered : advertisers[place].alone {
        case .wanted: return true
        case .unwanted: return false
        case .open: break
        }
        let isWanted = request.matches(MergedAdvertisement(advertiser.octets))
        let result: MatchResult = isWanted ? .wanted : .unwanted
        if advertiser.isAnswered { advertisers[place].answered = result } else { advertisers[place].alone = result }
        return isWanted
    }
}

extension ScanRequest {
    /// Returns whether an advertisement matches the requested name prefix and services.
    ///
    /// The advertisement must contain one of ``services``, or solicit one of ``solicitedServices``. If ``services`` is
    /// empty, the services of the advertisement do not matter.
    package func matches(_ data: MergedAdvertisement) -> Bool {
        if let namePrefix, data.localName?.hasPrefix(namePrefix) != true { return false }
        guard !services.isEmpty else { return true }
        let offered = data.serviceUUIDs, solicited = data.solicitedServiceUUIDs,
            overflow = OverflowArea(in: data.structures)
        return services.contains { offered.contains($0) || overflow?.contains($0) == true }
            || solicitedServices.contains { solicited.contains($0) }
    }
}

/// The controller's scan parameters.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.64.
package struct ScanParameters: Equatable, Sendable {
    /// True to request scan responses.
    package var isActive = true
    /// The scan interval on each PHY, 2.5 ms to 10.24 s.
    ///
    /// With the default window on the 1M PHY, a quarter of the default interval is free for links, unless the host also
    /// scans on the Coded PHY.
    package var interval = Duration.milliseconds(40)
    /// The scan window on the 1M PHY.
    ///
    /// With extended commands, `nil` turns off scanning on this PHY; with legacy commands, `nil` makes the controller
    /// scan all the time.
    package var window: Duration? = .milliseconds(30)
    /// The scan window on the Coded PHY; `nil` to turn off scanning on this PHY.
    ///
    /// The value is ignored if the controller does not support the PHY.
    ///
    /// The default is the part of the interval that the window of the 1M PHY leaves free.
    package var codedWindow: Duration? = .milliseconds(10)
    /// The kind of address in scan requests; `nil` for the host's default.
    package var ownAddress: OwnAddressKind?

    package init() {}

    /// The parameters for background apps: the host scans a tenth of the time on the 1M PHY, and a third of that on the
    /// Coded PHY.
    static let background: Self = {
        var parameters = Self()
        parameters.interval = .milliseconds(300)
        return parameters
    }()
}
