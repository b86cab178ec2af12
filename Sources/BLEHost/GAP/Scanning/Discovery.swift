import BLEWire

/// The delivery of advertisements to scanning clients.
///
/// Every scanning client has its own filter, and its own record of the devices that were reported to it. A scannable
/// advertisement is held back for a moment, so that clients get it together with its scan response. If the response
/// arrives later, clients that have already got the advertisement get both together. Once a device has failed to
/// respond three times in a row, its advertisements are no longer held back, until it responds again.
///
/// Core 6.0, Vol 3, Part C, 9.2.6.
struct Discovery {
    private var sessions: [ScanSession] = []
    /// The scanning clients if all of them receive every advertisement; otherwise empty.
    private var receiversOfAll: [ClientID] = []
    private var advertisers: KnownAdvertisers
    private let waitingLimit: Int

    /// Creates the state without scans.
    ///
    /// `secret` determines the position of each advertiser in a hash table, so that attackers cannot cause collisions.
    init(limits: Limits, secret: UInt128 = 0) {
        waitingLimit = limits.waitingReports
        // This is half the capacity of the peer table, so that the peer table does not drop entries that are still used
        // here.
        let capacity = max(limits.advertisers / 2, limits.waitingReports + 2)
        advertisers = KnownAdvertisers(capacity: capacity, secret: UInt64(truncatingIfNeeded: secret))
    }

    /// True if any client is scanning.
    var isWanted: Bool { !sessions.isEmpty }

    /// True if only background apps are scanning.
    var isInBackground: Bool { isWanted && sessions.allSatisfy { $0.phase != .foreground } }

    /// True if a client receives repeated advertisements.
    var wantsDuplicates: Bool { sessions.contains(where: \.allowsDuplicates) }

    /// The time to call ``expire(at:with:into:)`` next; `nil` if nothing is due.
    var deadline: Instant? { advertisers.waits.deadline }

    /// Starts or restarts a client's scan.
    ///
    /// All devices are reported to the client again.
    mutating func start(_ request: ScanRequest, for client: ClientID, in phase: AppPhase = .foreground) {
        sessions.removeAll { $0.client == client }
        let index = sessions.firstIndex { $0.client > client } ?? sessions.endIndex
        sessions.insert(ScanSession(client, request, phase, places: advertisers.count), at: index)
        updateReceiversOfAll()
    }

    /// Records that a client's app has changed its phase.
    mutating func changePhase(of client: ClientID, to phase: AppPhase) {
        for index in sessions.indices where sessions[index].client == client { sessions[index].changePhase(to: phase) }
        updateReceiversOfAll()
    }

    mutating func stop(_ client: ClientID) {
        sessions.removeAll { $0.client == client }
        updateReceiversOfAll()
        if sessions.isEmpty { advertisers.removeAll() }
    }

    /// Stops all scans.
    mutating func stopAll() {
        sessions.removeAll()
        updateReceiversOfAll()
        advertisers.removeAll()
    }

    /// Processes a received advertisement or scan response.
    ///
    /// An advertisement is reported to clients immediately, unless it is held back for its scan response.
    mutating func receive(
        _ advertisement: ReceivedAdvertisement,
        _ data: Span<UInt8>,
        at now: Instant,
        with peers: inout PeerTable,
        into outbox: inout HostOutbox
    ) {
        guard isWanted else { return }
        let known = advertisers.index(of: advertisement.address), place: Int
        if advertisement.isScanResponse {
            if let known { respond(advertisement.rssi, data, at: known, with: &peers, into: &outbox) }
            return
        }
        if let known {
            if sessions.allSatisfy({ $0.isDone(with: known) }) { return advertisers.noteReceived(known) }
            if advertisers.endWait(known) { reportAdvertiser(at: known, with: &peers, into: &outbox) }
            if advertisers.advertised(known, advertisement, data) {
                for index in sessions.indices { sessions[index].changed(known) }
            }
            place = known
        } else {
            place = advertisers.insert(KnownAdvertiser(advertisement, data))
            for index in sessions.indices { sessions[index].forget(place) }
        }
        guard advertisers.expectsResponse(place) else {
            return reportAdvertiser(at: place, with: &peers, into: &outbox)
        }
        advertisers.wait(place, since: now)
        guard advertisers.waits.count > waitingLimit, let oldest = advertisers.waits.oldest?.place else { return }
        _ = advertisers.endWait(oldest)
        reportAdvertiser(at: oldest, with: &peers, into: &outbox)
    }

    /// Processes and reports an advertisement that repeats the data of the device's previous advertisement, if no scan
    /// response is expected.
    ///
    /// `revision` is the current ``PeerTable/revision``. Returns `false`, without side effects, if
    /// ``receive(_:_:at:with:into:)`` has to process the advertisement instead.
    @inline(__always)
    mutating func receiveFast(
        _ advertisement: LoneAdvertisement,
        _ data: Span<UInt8>,
        revision: Int,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard !receiversOfAll.isEmpty, let place = advertisers.index(of: advertisement.address),
            let report = advertisers.repeated(place, advertisement, data, revision: revision)
        else { return false }
        reportToAll(report, into: &outbox)
        return true
    }

    enum OnAdvertisement {
        /// Nothing was done; ``Discovery/receive(_:_:at:with:into:)`` has to process the advertisement.
        case incomplete
        /// The advertisement waits for its scan response for at most ``ScanResponseWaits/maximumWait``.
        case waits
        /// The advertisement waits for its scan response. Too many advertisements were waiting, so the oldest of them
        /// has been reported without its response.
        case displaces
    }

    /// Processes an advertisement that repeats the data of the device's previous advertisement, if a scan response is
    /// expected.
    mutating func receiveRepeated(
        _ advertisement: LoneAdvertisement,
        _ data: Span<UInt8>,
        at now: Instant,
        revision: Int,
        into outbox: inout HostOutbox
    ) -> OnAdvertisement {
        guard !receiversOfAll.isEmpty, let place = advertisers.index(of: advertisement.address),
            advertisers.receiveRepeated(place, advertisement, data)
        else { return .incomplete }
        guard advertisers.waits.count >= waitingLimit else {
            advertisers.wait(place, since: now)
            return .waits
        }
        // If there is no current report about the oldest advertiser, the general path processes this advertisement
        // instead.
        guard let oldest = advertisers.waits.oldest?.place, let report = advertisers.report(oldest, revision: revision)
        else {
            return .incomplete
        }
        _ = advertisers.endWait(oldest)
        advertisers.wait(place, since: now)
        reportToAll(report, into: &outbox)
        return .displaces
    }

    @inline(__always)
    private func reportToAll(_ report: consuming AdvertisementReport, into outbox: inout HostOutbox) {
        // The last client gets the report itself, which saves a copy.
        let last = receiversOfAll.count - 1
        for index in 0..<last { outbox.append(.event(.discovered(copy report), for: receiversOfAll[index])) }
        outbox.append(.event(.discovered(report), for: receiversOfAll[last]))
    }

    private mutating func updateReceiversOfAll() {
        receiversOfAll = sessions.allSatisfy(\.receivesAll) ? sessions.map(\.client) : []
    }

    /// Reports advertisements whose scan response did not arrive in time.
    mutating func expire(
        at now: Instant,
        with peers: inout PeerTable,
        into outbox: inout HostOutbox
    ) {
        while let (place, since) = advertisers.waits.oldest, since + ScanResponseWaits.maximumWait <= now {
            _ = advertisers.endWait(place)
            reportAdvertiser(at: place, with: &peers, into: &outbox)
        }
    }

    private mutating func respond(
        _ rssi: RSSI,
        _ data: Span<UInt8>,
        at place: Int,
        with peers: inout PeerTable,
        into outbox: inout HostOutbox
    ) {
        switch advertisers.responded(place, rssi, data) {
        case .late: return
        case .new: for index in sessions.indices { sessions[index].changed(place, onlyResponse: true) }
        case .same: break
        }
        _ = advertisers.endWait(place)
        reportAdvertiser(at: place, with: &peers, into: &outbox)
    }

    /// Reports an advertiser to the clients whose scan it matches.
    private mutating func reportAdvertiser(
        at place: Int,
        with peers: inout PeerTable,
        into outbox: inout HostOutbox
    ) {
        var report: AdvertisementReport?
        for index in sessions.indices
        where sessions[index].receivesAll || sessions[index].recordReport(of: advertisers[place], at: place) {
            let told = report ?? self.report(of: place, with: &peers, into: &outbox)
            report = told
            outbox.append(.event(.discovered(told), for: sessions[index].client))
        }
    }

    /// Returns the report about an advertiser.
    ///
    /// The previous report is used again if it is still correct.
    private mutating func report(
        of place: Int,
        with peers: inout PeerTable,
        into outbox: inout HostOutbox
    ) -> AdvertisementReport {
        if let report = advertisers.report(place, revision: peers.revision) { return report }
        let advertiser = advertisers[place], octets = advertiser.octets
        let (peer, name): (PeerIdentifier, String?)
        if let earlier = advertiser.lastReport(revision: peers.revision), earlier.hasName(in: octets) {
            (peer, name) = (earlier.peer, earlier.name)
        } else {
            let change: PeerTable.OnChange
            (peer, name, change) = peers.noteAdvertisement(from: advertiser.address, octets)
            outbox.remember(change)
        }
        let report = AdvertisementReport(
            peer: peer,
            address: peers.reportedAddress(for: advertiser.address, of: peer),
            isConnectable: advertiser.isConnectable,
            rssi: advertiser.rssi,
            octets: octets,
            name: name,
            packet: advertiser.packet
        )
        advertisers.noteReported(place, report, revision: peers.revision)
        return report
    }
}

extension HostOutbox {
    /// Appends the events that store a changed peer record, or the note that it cannot be stored.
    mutating func remember(_ change: PeerTable.OnChange) {
        switch change {
        case .remember(let record): append(.remember(record))
        case .replace(let other, let record):
            append(.note(.bondEvicted(other.address)))
            append(.remember(other))
            append(.remember(record))
        case .full: append(.note(.limitReached(.knownPeers)))
        case .nothing: break
        }
    }
}

extension AdvertisementReport {
    /// Returns whether `other` contains the same name as this report, or neither contains one.
    fileprivate func hasName(in other: AdvertisementOctets) -> Bool {
        switch (octets.nameRange, other.nameRange) {
        case (let own?, let name?):
            octets.all.span.extracting(own).hasSameOctets(as: other.all.span.extracting(name))
        case (nil, nil): true
        default: false
        }
    }
}
